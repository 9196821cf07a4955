# Shared by the source checks: finding C files and reading them without comments and strings.
# Only perl-base is needed, which every Debian machine has.
use strict;
use warnings;

our $failures = 0;

# Every file beneath the folders whose name matches, sorted.
sub files_in {
    my ($match, @folders) = @_;
    my @found;
    while (@folders) {
        my $folder = shift @folders;
        opendir my $dir, $folder or next;
        for my $name (sort grep { !/^\.\.?$/ } readdir $dir) {
            my $path = "$folder/$name";
            if (-d $path) { push @folders, $path }
            elsif ($name =~ $match) { push @found, $path }
        }
    }
    return sort @found;
}

sub slurp {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    my $text = <$file>;
    return defined $text ? $text : '';
}

# The lines of a C file with comments and the contents of strings blanked out. A line whose comment
# says `allow: NAME why` keeps that as its second value: the checks for NAME leave it alone.
sub code_lines {
    my ($path) = @_;
    my $text = slurp($path);
    my @raw = split /\n/, $text, -1;
    my $blank = sub { my ($s) = @_; $s =~ s/[^\n]//g; return $s };
    $text =~ s{(/\*.*?\*/)|(//[^\n]*)|("(?:\\.|[^"\\\n])*")|('(?:\\.|[^'\\\n])*')}
              {defined $1 ? ' ' . $blank->($1) : defined $2 ? '' : defined $3 ? '""' : "'x'"}gse;
    my @lines = split /\n/, $text, -1;
    return map {
        my ($allowed) = ($raw[$_] // '') =~ /\ballow: (\w+) \S/;
        [$lines[$_], $allowed // '']
    } 0 .. $#lines;
}

# Calls to any of the named functions: [line number, name]. Members (x->read(), x.read()) and
# declarations of our own do not count.
sub calls_of {
    my ($path, @names) = @_;
    my $any = join '|', @names;
    my @calls;
    my $number = 0;
    for my $line (code_lines($path)) {
        $number++;
        my ($code, $allowed) = @$line;
        while ($code =~ /(?<![\w.>])($any)\s*\(/g) {
            push @calls, [$number, $1] unless $allowed eq $1;
        }
    }
    return @calls;
}

sub fail {
    my ($where, $what) = @_;
    print "$where: $what\n";
    $failures++;
}

sub finish {
    my ($name) = @_;
    print $failures ? "$name: $failures broken\n" : "$name: ok\n";
    exit($failures ? 1 : 0);
}

1;
