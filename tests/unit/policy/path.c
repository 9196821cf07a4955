/* Path rules and the patterns in them. */
#include "policy/rule.h"
#include "support/policies.h"

static hob_decision with(const char *allow, const char *deny, hob_str path) {
    hob_policy *p = policy_make(&(policy_spec){.mode = deny ? HOB_MODE_YOLO : HOB_MODE_ASK,
                                               .allow = allow,
                                               .deny = deny,
                                               .cwd = "/ws/proj",
                                               .home = "/ho/me"});
    hob_decision d = policy_value(p, "write", "path", path);
    hob_policy_destroy(p);
    return d;
}

#define assert_allows(rule, path) assert_int_equal(with(rule, NULL, hob_str_z(path)), HOB_ALLOW)
#define assert_asks(rule, path) assert_int_equal(with(rule, NULL, hob_str_z(path)), HOB_ASK)
#define assert_denies(rule, path) assert_int_equal(with(NULL, rule, hob_str_z(path)), HOB_DENY)
#define assert_passes(rule, path) assert_int_equal(with(NULL, rule, hob_str_z(path)), HOB_ALLOW)

static void test_policy_path__a_star_stops_at_a_slash(void **state) {
    (void)state;
    assert_allows("write(src/*.c)", "src/a.c");
    assert_asks("write(src/*.c)", "src/b/a.c");
    assert_allows("write(src/**)", "src/b/a.c");
    assert_allows("write(src/**/*.c)", "src/a.c");
    assert_allows("write(src/**/*.c)", "src/b/d/a.c");
    assert_asks("write(src/**/*.c)", "src/b/d/a.h");
    assert_allows("write(**/*.md)", "a.md");
    assert_allows("write(**/*.md)", "x/y/a.md");
    assert_allows("write(a?c)", "abc");
    assert_asks("write(a?c)", "a/c");
}

static void test_policy_path__allowing_compares_the_whole_path_from_the_workspace(void **state) {
    (void)state;
    assert_allows("write(notes.md)", "notes.md");
    assert_allows("write(notes.md)", "./notes.md");
    assert_allows("write(./notes.md)", "notes.md");
    assert_allows("write(notes.md)", "/ws/proj/notes.md");
    assert_allows("write(notes.md)", "src/../notes.md");
    assert_allows("write(notes.md)", ".//notes.md/");
    assert_allows("write(src/)", "src/a/b");
    assert_asks("write(notes.md)", "sub/notes.md");
    assert_asks("write(notes.md)", "../notes.md");
    assert_asks("write(notes.md)", "../proj-evil/notes.md");
    assert_asks("write(**)", "../proj-evil/x");
    assert_asks("write(**)", "/ws/proj-evil/x");
    assert_asks("write(src/**)", "src/../../x");
    assert_asks("write(src/)", "src-evil/x");
    assert_asks("write(Notes.md)", "notes.md");
    assert_allows("write(/tmp/**)", "/tmp/x");
    assert_asks("write(/tmp/**)", "/tmp/../etc/x");
    assert_allows("write(~/n/*)", "/ho/me/n/x");
    assert_asks("write(~/n/*)", "~/n/x"); /* who knows what a tool makes of it */
    assert_asks("write(**)", "~root/x");
}

static void test_policy_path__other_tools_are_not_meant(void **state) {
    (void)state;
    hob_policy *p =
        policy_make(&(policy_spec){.allow = "write(a)", .deny = "read(b)", .cwd = "/w"});
    assert_int_equal(policy_value(p, "edit", "path", HOB_STR("a")), HOB_ASK);
    assert_int_equal(policy_value(p, "Write", "path", HOB_STR("a")), HOB_ALLOW);
    assert_int_equal(policy_value(p, "read", "path", HOB_STR("b")), HOB_DENY);
    assert_int_equal(policy_value(p, "grep", "path", HOB_STR("b")), HOB_ALLOW);
    hob_policy_destroy(p);
}

static void test_policy_path__denying_reaches_below_and_everywhere(void **state) {
    (void)state;
    static const char *const git[] = {
        ".git",       ".git/",           ".git/config",     "./.git/hooks/x",
        "sub/.git/x", "/ws/proj/.git/x", "/elsewhere/.git", "a/../.git/x",
        ".GIT/x",     ".git//x",         ".git/./x",        "x/.Git"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(git); i++) assert_denies("write(.git)", git[i]);
    assert_passes("write(.git)", ".github/x");
    assert_passes("write(.git)", "x.git");
    assert_denies("write(*.pem)", "keys/deep/a.pem");
    assert_denies("write(*.pem)", "a.PEM/x");
    assert_denies("write(secrets/)", "secrets/a/b");
    assert_denies("write(secrets/)", "secrets");
    assert_denies("write(secrets/**)", "secrets/a/b");
    assert_denies("write(a/b)", "a/b/c");
    assert_passes("write(a/b)", "x/a/b");
    assert_denies("write(~/.aws/)", "/ho/me/.aws/credentials");
    assert_denies("write(~/.aws)", "~/.aws/credentials");
    assert_denies("write(~/.aws)", "../../ho/me/.aws");
    assert_passes("write(~/.aws)", "/ws/proj/.aws/x");
    assert_denies("write(/etc)", "/etc/passwd");
    assert_denies("write(/etc)", "/etc/../etc/./passwd");
    assert_denies("write(/**)", "x");
    assert_denies("write(/)", "x");
    assert_passes("write(/etc)", "/etcetera");
    assert_passes("write(./x)", "y/x");
}

static void test_policy_path__denying_what_cannot_be_compared(void **state) {
    (void)state;
    static char far[5000];
    memset(far, 'a', sizeof(far) - 1);
    assert_denies("write(x)", far);
    assert_denies("write(x)", "~root/y");
    assert_int_equal(with(NULL, "write(x)", hob_str_n("a\0b", 3)), HOB_DENY);
    assert_int_equal(with("write(**)", NULL, hob_str_n("a\0b", 3)), HOB_ASK);
    assert_asks("write(**)", far);
    hob_policy *p = policy_make(&(policy_spec){.mode = HOB_MODE_YOLO, .deny = "patch(x)"});
    assert_int_equal(policy_ask(p, "patch", HOB_STR("{\"diff\":\"…\"}")).decision, HOB_DENY);
    assert_int_equal(policy_value(p, "patch", "path", HOB_STR("../y")), HOB_DENY);
    hob_policy_destroy(p);
}

static void test_policy_path__works_without_a_known_folder(void **state) {
    (void)state;
    hob_policy *p = policy_make(&(policy_spec){.allow = "write(src/*)", .deny = "read(a/b)"});
    assert_int_equal(policy_value(p, "write", "path", HOB_STR("src/x")), HOB_ALLOW);
    assert_int_equal(policy_value(p, "write", "path", HOB_STR("/ws/src/x")), HOB_ASK);
    assert_int_equal(policy_value(p, "write", "path", HOB_STR("../src/x")), HOB_ASK);
    assert_int_equal(policy_value(p, "read", "path", HOB_STR("/ws/a/b/c")), HOB_DENY);
    hob_policy_destroy(p);
}

static void test_policy_path__ls_without_a_path_is_the_folder(void **state) {
    (void)state;
    hob_policy *p = policy_make(&(policy_spec){.deny = "ls(/ws)", .cwd = "/ws"});
    assert_int_equal(policy_ask(p, "ls", HOB_STR("{}")).decision, HOB_DENY);
    hob_policy_destroy(p);
}

static void assert_clean(const char *path, const char *cwd, const char *want) {
    hob_buf out;
    hob_buf_init(&out, 4096);
    int code = hob_path_clean(hob_str_z(path), hob_str_z(cwd), &out);
    assert_int_equal(code, want ? HOB_OK : HOB_EINVAL);
    if (want) assert_string_equal(hob_buf_z(&out), want);
    hob_buf_finish(&out);
}

static void test_policy_path__cleans_as_text(void **state) {
    (void)state;
    assert_clean("a/b", "/w", "/w/a/b");
    assert_clean("../x", "/w/v", "/w/x");
    assert_clean("../../../x", "/w", "/x");
    assert_clean("/..", "/w", "/");
    assert_clean("/a//b/./c/../d/", "", "/a/b/d");
    assert_clean(".", "/w", "/w");
    assert_clean("", "/w/", "/w");
    assert_clean("a/../b", "", "b");
    assert_clean("a/../../b", "", NULL);
    assert_clean("..", "", NULL);
}

/* Patterns made to try everything again and again take no longer than others. */
static void test_policy_path__no_pattern_is_slow(void **state) {
    (void)state;
    char pattern[HOB_GLOB_MAX];
    for (size_t i = 0; i < sizeof(pattern); i++) pattern[i] = i % 2 ? 'a' : '*';
    hob_buf text;
    hob_buf_init(&text, 1 << 20);
    while (text.n < 65536) hob_buf_addz(&text, "aaaaaaaaaaaaaaaa");
    hob_buf_addc(&text, 'b');
    hob_str all = hob_str_n(pattern, sizeof(pattern));
    assert_false(hob_glob_match(all, hob_buf_str(&text), 0));
    assert_true(hob_glob_match(all, hob_str_first(hob_buf_str(&text), 65536), 0));
    hob_buf_finish(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_path__a_star_stops_at_a_slash),
        cmocka_unit_test(test_policy_path__allowing_compares_the_whole_path_from_the_workspace),
        cmocka_unit_test(test_policy_path__other_tools_are_not_meant),
        cmocka_unit_test(test_policy_path__denying_reaches_below_and_everywhere),
        cmocka_unit_test(test_policy_path__denying_what_cannot_be_compared),
        cmocka_unit_test(test_policy_path__works_without_a_known_folder),
        cmocka_unit_test(test_policy_path__ls_without_a_path_is_the_folder),
        cmocka_unit_test(test_policy_path__cleans_as_text),
        cmocka_unit_test(test_policy_path__no_pattern_is_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
