/*
 * command.c - command rules, as far as they can be decided without reading shell.
 *
 * Allowing: the command consists of plain words only, so that every shell sees the words we see; each
 * other character (quotes, expansions, operators, assignments, anything outside ASCII) means "ask".
 *
 * Denying and asking: quotes and backslashes are taken away and every operator is a space; then the
 * words of the rule are looked for anywhere, the first of them also as the last part of a path, with
 * options in between. So bash(rm:*) sees `sudo /bin/rm x`, `a; r''m x` and `find . -exec rm {} +`, and
 * also `echo rm`, which is the price. A command whose name is only known once it runs (`$X -rf`, `/bin/r?`)
 * is in doubt. What text cannot show, such as a script that removes things, is for the sandbox.
 */
#include "policy/rule.h"

/* ---- allowing ------------------------------------------------------------------------------- */

#define PLAIN_MAX 8192 /* bytes of a command that a pattern may allow */

static bool plain_char(char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || (c && strchr("_./:@%+,- ", c));
}

/* The words one space apart, or false if there is more to it than words. */
static bool plain_words(hob_str command, hob_buf *out) {
    if (command.n > PLAIN_MAX) return false;
    for (size_t i = 0; i < command.n; i++) {
        char c = command.p[i];
        if (!plain_char(c)) return false;
        bool doubled = c == ' ' && (out->n == 0 || out->p[out->n - 1] == ' ');
        if (!doubled) hob_buf_addc(out, c);
    }
    if (out->n > 0 && out->p[out->n - 1] == ' ') out->n--;
    return out->n > 0;
}

static bool allows(const hob_rule *r, hob_str command) {
    hob_buf words;
    hob_buf_init(&words, PLAIN_MAX + 1);
    bool plain = plain_words(command, &words);
    hob_str text = hob_buf_str(&words), pattern = hob_str_z(r->pattern);
    bool same = plain && hob_glob_match(pattern, text, 0);
    if (plain && !same && r->more) {
        char longer[HOB_GLOB_MAX];
        memcpy(longer, pattern.p, pattern.n);
        memcpy(longer + pattern.n, " *", 2);
        same = hob_glob_match(hob_str_n(longer, pattern.n + 2), text, 0);
    }
    hob_buf_finish(&words);
    return same;
}

/* ---- denying and asking: the command as bare words ------------------------------------------- */

/* What ends a word, kept in the flattened text as one byte. */
enum { SPACE = ' ', SEGMENT = '\x01', ASSIGN = '\x02', REDIRECT = '\x03' };

static char separator(char c) {
    switch (c) {
    case ';':
    case '|':
    case '&':
    case '(':
    case ')':
    case '`':
    case '\n':
    case '\r': return SEGMENT;
    case '<':
    case '>': return REDIRECT;
    case '=': return ASSIGN;
    case '{':
    case '}':
    case ',': return SPACE;
    default: return (unsigned char)c <= ' ' || c == 0x7f ? SPACE : '\0';
    }
}

static void flatten(hob_str command, hob_buf *out) {
    for (size_t i = 0; i < command.n; i++) {
        char c = command.p[i], next = i + 1 < command.n ? command.p[i + 1] : '\0';
        bool joined = c == '\\' && next == '\n';
        bool ansi = c == '$' && (next == '\'' || next == '"');
        if (joined) i++;
        if (joined || ansi || c == '\'' || c == '"' || c == '\\') continue;
        char end = separator(c);
        if (c == '`') hob_buf_addz(out, " $"); /* as if it were "$(" */
        hob_buf_addc(out, end ? end : c);
    }
}

static bool is_end(char c) {
    return c == SPACE || (c >= SEGMENT && c <= REDIRECT);
}

/* The next word of *rest and the byte that ended the text before it (a blank counts least). */
static bool take_word(hob_str *rest, hob_str *word, char *before) {
    *before = SPACE;
    size_t i = 0;
    for (; i < rest->n && is_end(rest->p[i]); i++) {
        if (rest->p[i] != SPACE && *before != SEGMENT) *before = rest->p[i];
    }
    *rest = hob_str_skip(*rest, i);
    size_t n = 0;
    while (n < rest->n && !is_end(rest->p[n])) n++;
    *word = hob_str_first(*rest, n);
    *rest = hob_str_skip(*rest, n);
    return n > 0;
}

static hob_str last_part(hob_str word) {
    const char *slash = word.n ? memrchr(word.p, '/', word.n) : NULL;
    return slash ? hob_str_skip(word, (size_t)(slash - word.p) + 1) : word;
}

/* The words of the pattern follow each other here; options, with a value each, may come between. */
static bool words_follow(hob_str text, hob_str pattern) {
    hob_str word, want, rest = pattern;
    char before;
    bool value = false;
    while (hob_str_split(&rest, ' ', &want)) {
        for (;;) {
            if (!take_word(&text, &word, &before) || before == SEGMENT) return false;
            if (hob_str_eq(word, want)) break;
            bool option = word.p[0] == '-', tail = before == ASSIGN; /* -c a=b */
            if (!option && !tail && !value) return false;
            value = option;
        }
        value = false;
    }
    return true;
}

static bool words_anywhere(hob_str text, hob_str pattern) {
    hob_str rest = pattern, first, word;
    char before;
    if (!hob_str_split(&rest, ' ', &first)) return true;
    while (take_word(&text, &word, &before)) {
        bool named = hob_str_eq(word, first) || hob_str_eq(last_part(word), first);
        if (named && words_follow(text, rest)) return true;
    }
    return false;
}

/* ---- doubt: a command that names itself only when it runs ------------------------------------- */

static bool passes_on(hob_str word) {
    static const char *const words[] = {
        "if",   "then", "elif",  "else", "while", "until", "do",    "!",       "time",    "sudo",
        "doas", "env",  "nohup", "nice", "exec",  "eval",  "xargs", "command", "builtin", "setsid"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(words); i++) {
        if (hob_str_eqz(last_part(word), words[i])) return true;
    }
    return false;
}

static bool hidden(hob_str word) {
    if (hob_str_eqz(word, "[") || hob_str_eqz(word, "[[")) return false;
    for (size_t i = 0; i < word.n; i++) {
        if (strchr("$*?[", word.p[i])) return true;
    }
    return false;
}

static bool in_doubt(hob_str text) {
    hob_str word;
    char before;
    bool name = true; /* the next word is the name of a command */
    while (take_word(&text, &word, &before)) {
        if (before == SEGMENT) name = true;
        bool assigned = text.n > 0 && text.p[0] == ASSIGN;
        bool skipped = before == ASSIGN || before == REDIRECT || assigned;
        if (!name || skipped) continue;
        if (hidden(word)) return true;
        name = passes_on(word) || word.p[0] == '-';
    }
    return false;
}

/* ---- both together ---------------------------------------------------------------------------- */

static bool has_star_or_more(hob_str pattern) {
    for (size_t i = 0; i < pattern.n; i++) {
        if (!plain_char(pattern.p[i])) return true;
    }
    return false;
}

/* Flattened text with its words one space apart. */
static void squeeze(hob_str text, hob_buf *out) {
    hob_str word;
    char before;
    while (take_word(&text, &word, &before)) {
        if (out->n > 0) hob_buf_addc(out, ' ');
        hob_buf_add(out, word);
    }
}

/* The pattern anywhere in the command, as it stands or both as bare words. */
static hob_match glob_anywhere(hob_str pattern, hob_str words, hob_str command, hob_str flat) {
    if (command.n > HOB_RULE_COMMAND_MAX || words.n > HOB_GLOB_MAX) return HOB_MATCH_DOUBT;
    if (hob_glob_match(pattern, command, HOB_GLOB_ANYWHERE)) return HOB_MATCH_YES;
    hob_buf text;
    hob_buf_init(&text, flat.n + 1);
    squeeze(flat, &text);
    bool same = words.n > 0 && hob_glob_match(words, hob_buf_str(&text), HOB_GLOB_ANYWHERE);
    hob_buf_finish(&text);
    return same ? HOB_MATCH_YES : HOB_MATCH_NO;
}

static hob_match compare(hob_str pattern, hob_str command, hob_str flat) {
    hob_buf bare, words;
    hob_buf_init(&bare, HOB_RULE_MAX * 3 + 1);
    hob_buf_init(&words, HOB_RULE_MAX * 3 + 1);
    flatten(pattern, &bare);
    squeeze(hob_buf_str(&bare), &words);
    hob_match m = HOB_MATCH_NO;
    if (has_star_or_more(pattern) || words.n == 0)
        m = glob_anywhere(pattern, hob_buf_str(&words), command, flat);
    else if (words_anywhere(flat, hob_buf_str(&words)))
        m = HOB_MATCH_YES;
    hob_buf_finish(&bare);
    hob_buf_finish(&words);
    return m;
}

static hob_match looks_like(const hob_rule *r, hob_str command) {
    hob_buf flat;
    hob_buf_init(&flat, command.n * 3 + 1); /* a ` becomes three */
    flatten(command, &flat);
    hob_str text = hob_buf_str(&flat);
    hob_match m = compare(hob_str_z(r->pattern), command, text);
    if (m == HOB_MATCH_NO && (flat.err || in_doubt(text))) m = HOB_MATCH_DOUBT;
    hob_buf_finish(&flat);
    return m;
}

hob_match hob_command_match(const hob_rule *r, hob_str command) {
    if (r->use != HOB_RULE_ALLOW) return looks_like(r, command);
    return allows(r, command) ? HOB_MATCH_YES : HOB_MATCH_NO;
}
