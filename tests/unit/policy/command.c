/* Command rules: what allows must be understood, what denies must only look like it. */
#include "support/policies.h"

#include <stdio.h>
#include <stdlib.h>

static hob_decision with(const char *allow, const char *deny, hob_str command) {
    hob_policy *p = policy_make(
        &(policy_spec){.mode = deny ? HOB_MODE_YOLO : HOB_MODE_ASK, .allow = allow, .deny = deny});
    hob_decision d = policy_value(p, "bash", "command", command);
    hob_policy_destroy(p);
    return d;
}

#define assert_allows(rule, command)                                                               \
    assert_int_equal(with(rule, NULL, hob_str_z(command)), HOB_ALLOW)
#define assert_asks(rule, command) assert_int_equal(with(rule, NULL, hob_str_z(command)), HOB_ASK)
#define assert_denies(rule, command)                                                               \
    assert_int_equal(with(NULL, rule, hob_str_z(command)), HOB_DENY)
#define assert_passes(rule, command)                                                               \
    assert_int_equal(with(NULL, rule, hob_str_z(command)), HOB_ALLOW)

static void test_policy_command__a_prefix_ends_with_a_word(void **state) {
    (void)state;
    assert_allows("bash(git status:*)", "git status");
    assert_allows("bash(git status:*)", "git status --short src/a.c");
    assert_allows("bash(git status:*)", "  git   status  ");
    assert_allows("Bash( git  status :*)", "git status");
    assert_asks("bash(git status:*)", "git statusx");
    assert_asks("bash(git status:*)", "git stat");
    assert_asks("bash(git status:*)", "git");
    assert_asks("bash(git status:*)", "xgit status");
    assert_asks("bash(git status:*)", "Git status");
    assert_asks("bash(git status:*)", "");
    assert_asks("bash(git status:*)", " ");
}

static void test_policy_command__without_a_star_it_is_exact(void **state) {
    (void)state;
    assert_allows("bash(make test)", "make test");
    assert_asks("bash(make test)", "make test install");
    assert_asks("bash(make test)", "make");
}

static void test_policy_command__a_star_crosses_slashes(void **state) {
    (void)state;
    assert_allows("bash(cat *.md)", "cat docs/a/b.md");
    assert_asks("bash(cat *.md)", "cat a.md.c");
    assert_allows("bash(git * --stat:*)", "git log --stat -3");
}

static void test_policy_command__a_bare_name_allows_everything(void **state) {
    (void)state;
    assert_allows("bash", "a; b | c > d");
}

/* Any byte that a shell could see otherwise keeps a pattern from allowing. */
static void test_policy_command__only_plain_characters_can_be_allowed(void **state) {
    (void)state;
    for (int c = 0; c < 256; c++) {
        char command[] = "git status a_b";
        command[12] = (char)c;
        bool plain = c < 128 && c != 0 &&
                     (strchr("_./:@%+,- ", c) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                      (c >= 'A' && c <= 'Z'));
        hob_decision d = with("bash(git status:*)", NULL, hob_str_n(command, sizeof(command) - 1));
        assert_int_equal(d, plain ? HOB_ALLOW : HOB_ASK);
    }
}

static void test_policy_command__known_tricks_are_never_allowed(void **state) {
    (void)state;
    static const char *const tricks[] = {"git status; rm x",
                                         "git status && rm x",
                                         "git status || rm x",
                                         "git status | sh",
                                         "git status & rm x",
                                         "git status\nrm x",
                                         "git status\rrm x",
                                         "git status \\\nrm x",
                                         "git status $(rm x)",
                                         "git status `rm x`",
                                         "git status <(rm x)",
                                         "git status > x",
                                         "git status >> ~/.bashrc",
                                         "git status < x",
                                         "PAGER=rm git status",
                                         "git status --x=$(rm)",
                                         "git -c core.pager='rm x' status",
                                         "git status --output=x",
                                         "git status ${v@P}",
                                         "git status ${v:=x}",
                                         "git status ${!v}",
                                         "git status $((a[$(x)]))",
                                         "git status {a,b}",
                                         "git status *",
                                         "git status ?",
                                         "git status [a]",
                                         "git status ~/x",
                                         "git status !x",
                                         "git status #x",
                                         "git status \"x\"",
                                         "git status 'x'",
                                         "git status \\x",
                                         "git status\tx",
                                         "git status \xc2\xa0x",
                                         "git status \xe2\x80\x8bx",
                                         "git status (x)",
                                         "\\git status",
                                         "g''it status",
                                         "\"git\" status",
                                         "git status <<EOF\nrm\nEOF",
                                         "=git status",
                                         "git status ^x",
                                         "git status $'x'",
                                         "git status\v",
                                         "git status \x1b[2K"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(tricks); i++) assert_asks("bash(git status:*)", tricks[i]);
}

static void test_policy_command__a_long_command_is_not_allowed_by_a_pattern(void **state) {
    (void)state;
    static char command[8300];
    memset(command, 'a', sizeof(command) - 1);
    memcpy(command, "git status ", 11);
    assert_asks("bash(git status:*)", command);
    command[8192] = '\0';
    assert_allows("bash(git status:*)", command);
}

static void test_policy_command__denying_sees_the_word_wherever_it_stands(void **state) {
    (void)state;
    static const char *const commands[] = {"rm",
                                           "rm -rf x",
                                           " rm x",
                                           "/bin/rm x",
                                           "../../bin/rm x",
                                           "\\rm x",
                                           "r''m x",
                                           "\"rm\" x",
                                           "'rm' x",
                                           "r\\m x",
                                           "rm\tx",
                                           "r\\\nm x",
                                           "a; rm x",
                                           "a;rm x",
                                           "a && rm x",
                                           "a||rm x",
                                           "a | rm",
                                           "a & rm x",
                                           "(rm x)",
                                           "{ rm x; }",
                                           "`rm x`",
                                           "$(rm x)",
                                           "a $(rm x)",
                                           "<(rm x)",
                                           "sudo rm x",
                                           "env A=1 rm x",
                                           "A=1 rm x",
                                           "A=rm; $A x",
                                           "xargs rm",
                                           "find . -exec rm x",
                                           "timeout 5 rm x",
                                           "nohup rm x &",
                                           "if true; then rm x; fi",
                                           "! rm x",
                                           "a\nrm x",
                                           "a\rrm x",
                                           "{rm,-rf,x}",
                                           "sh -c 'rm x'",
                                           "sh -c \"a; rm x\"",
                                           "eval 'r'm x",
                                           "$'rm' x",
                                           "$\"rm\" x",
                                           ">x rm y",
                                           "rm>x",
                                           "rm<x",
                                           "echo rm",
                                           "/usr/bin/env rm"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(commands); i++) assert_denies("bash(rm:*)", commands[i]);
}

static void test_policy_command__denying_knows_words(void **state) {
    (void)state;
    static const char *const commands[] = {"ls",
                                           "format x",
                                           "term",
                                           "cat rm.txt",
                                           "ls rms",
                                           "grep -rn x src",
                                           "make -j2 && ./run.sh",
                                           "RM x",
                                           "echo $HOME",
                                           "for f in *.c; do cc $f; done",
                                           "[ -f x ] && echo y",
                                           "[[ -f $x ]] && echo y",
                                           "A=$B make",
                                           "cc > $OUT",
                                           "echo \"$(date)\"",
                                           "ls *.c",
                                           "echo ${A}*"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(commands); i++) assert_passes("bash(rm:*)", commands[i]);
}

static void test_policy_command__denying_takes_several_words(void **state) {
    (void)state;
    assert_denies("bash(git push:*)", "git push");
    assert_denies("bash(git push:*)", "git push --force origin");
    assert_denies("bash(git push)", "git push --force origin");
    assert_denies("bash(git push:*)", "cd x && git  -C /y --no-pager push");
    assert_denies("bash(git push:*)", "git -c a=b push");
    assert_denies("bash(git push:*)", "/usr/bin/git push");
    assert_passes("bash(git push:*)", "git pull");
    assert_passes("bash(git push:*)", "git; push");
    assert_passes("bash(git push:*)", "git commit -m push");
    assert_passes("bash(git push:*)", "git log pushes");
}

static void test_policy_command__denying_by_pattern(void **state) {
    (void)state;
    assert_denies("bash(curl * | sh)", "curl http://x | sh");
    assert_denies("bash(curl * | sh)", "curl http://x|sh");
    assert_denies("bash(curl * | sh)", "a; curl 'http://x'   |  sh -x");
    assert_denies("bash(*secret*)", "cat my-secret-file");
    assert_denies("bash(*--force*)", "git push '--force'");
    assert_denies("bash(a,b)", "x a,b");
    assert_denies("bash(;)", "a;b");
    assert_passes("bash(*secret*)", "cat file");
}

/* The name is known only once it runs. */
static void test_policy_command__a_hidden_name_is_denied(void **state) {
    (void)state;
    static const char *const commands[] = {
        "$X -rf /",  "${X} a",    "r$@m x", "\"$X\" a",    "$(echo r)m x", "`echo rn` x",
        "/bin/r? x", "/bin/r* x", "a; $X",  "sudo $X",     "A=1 $X",       "if $X; then a; fi",
        "(   $X )",  "env -i $X", "r[m] x", "a | xargs $X"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(commands); i++) assert_denies("bash(rm:*)", commands[i]);
    assert_passes("write", "$X -rf /"); /* only where a command is denied */
}

static void test_policy_command__no_length_turns_deny_into_less(void **state) {
    (void)state;
    hob_buf command;
    hob_buf_init(&command, 4 << 20);
    for (int i = 0; i < 10000; i++) hob_buf_addz(&command, "echo a; ");
    hob_buf_addz(&command, "rm x");
    assert_denies("bash(rm:*)", hob_buf_z(&command));
    assert_denies("bash(*rm*)", hob_buf_z(&command));
    assert_denies("bash(*nothing*)", hob_buf_z(&command)); /* too long to compare */
    hob_buf_reset(&command);
    while (command.n < 1 << 20) hob_buf_addz(&command, "a a a a a a a a ");
    hob_buf_addz(&command, "; rm x");
    assert_denies("bash(rm:*)", hob_buf_z(&command));
    hob_buf_finish(&command);
}

static void test_policy_command__asking_looks_as_denying_does(void **state) {
    (void)state;
    hob_policy *p = policy_make(&(policy_spec){.mode = HOB_MODE_YOLO, .ask = "bash(git push:*)"});
    assert_int_equal(policy_value(p, "bash", "command", HOB_STR("a; git push")), HOB_ASK);
    assert_int_equal(policy_value(p, "bash", "command", HOB_STR("$X push")), HOB_ASK);
    assert_int_equal(policy_value(p, "bash", "command", HOB_STR("git pull")), HOB_ALLOW);
    hob_policy_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_command__a_prefix_ends_with_a_word),
        cmocka_unit_test(test_policy_command__without_a_star_it_is_exact),
        cmocka_unit_test(test_policy_command__a_star_crosses_slashes),
        cmocka_unit_test(test_policy_command__a_bare_name_allows_everything),
        cmocka_unit_test(test_policy_command__only_plain_characters_can_be_allowed),
        cmocka_unit_test(test_policy_command__known_tricks_are_never_allowed),
        cmocka_unit_test(test_policy_command__a_long_command_is_not_allowed_by_a_pattern),
        cmocka_unit_test(test_policy_command__denying_sees_the_word_wherever_it_stands),
        cmocka_unit_test(test_policy_command__denying_knows_words),
        cmocka_unit_test(test_policy_command__denying_takes_several_words),
        cmocka_unit_test(test_policy_command__denying_by_pattern),
        cmocka_unit_test(test_policy_command__a_hidden_name_is_denied),
        cmocka_unit_test(test_policy_command__no_length_turns_deny_into_less),
        cmocka_unit_test(test_policy_command__asking_looks_as_denying_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
