/* Files that make programs run are no mere edits. */
#include "support/policies.h"

static hob_decision in_mode(hob_mode mode, const char *allow, const char *path) {
    hob_policy *p = policy_make(
        &(policy_spec){.mode = mode, .allow = allow, .cwd = "/ws/proj", .home = "/ho/me"});
    hob_decision d = policy_value(p, "write", "path", hob_str_z(path));
    hob_policy_destroy(p);
    return d;
}

#define assert_decides(path, decision)                                                             \
    do {                                                                                           \
        if (in_mode(HOB_MODE_ACCEPT_EDITS, NULL, path) != (decision))                              \
            fail_msg("%s is decided otherwise", path);                                             \
    } while (0)

static void test_policy_protect__what_makes_programs_run_is_asked_about(void **state) {
    static const char *const paths[] = {".git/hooks/post-commit",
                                        ".git/config",
                                        ".git",
                                        "sub/.git/config",
                                        "bare.git/hooks/x",
                                        ".hob/config.json",
                                        ".hob",
                                        ".mcp.json",
                                        ".vscode/tasks.json",
                                        "AGENTS.md",
                                        "src/AGENTS.md",
                                        "CLAUDE.md",
                                        ".bashrc",
                                        ".zshenv",
                                        ".profile",
                                        ".kshrc",
                                        ".envrc",
                                        ".claude/agents/x.md",
                                        ".agents/skills/a/b.md",
                                        ".husky/pre-commit",
                                        ".config/fish/config.fish",
                                        ".ssh/authorized_keys",
                                        ".gitmodules",
                                        ".devcontainer.json",
                                        ".npmrc",
                                        "packages/a/.yarnrc.yml",
                                        "proj/HEAD",
                                        "proj/hooks/pre-commit",
                                        "proj/hooks/commit-msg",
                                        "proj/Head",
                                        "proj/config",
                                        "git/Config",
                                        "proj/config.worktree",
                                        "proj/commondir",
                                        ".vim/plugin/x.vim",
                                        ".vimrc",
                                        ".config/nvim/init.lua",
                                        ".config/git/config",
                                        ".emacs",
                                        ".emacs.d/init.el",
                                        ".zed/tasks.json",
                                        ".tmux.conf",
                                        ".cargo/config.toml",
                                        ".mise.toml",
                                        ".local/bin/ls",
                                        ".gitattributes",
                                        "GEMINI.md",
                                        "a/gemini.MD",
                                        "CLAUDE.local.md",
                                        ".pre-commit-config.yml"};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(paths); i++) assert_decides(paths[i], HOB_ASK);
}

static void test_policy_protect__however_the_path_is_written(void **state) {
    static const char *const paths[] = {".GIT/config",
                                        ".Git/HOOKS/x",
                                        "agents.MD",
                                        "./.git/config",
                                        "src/../.git/config",
                                        "src//.././/.git//config",
                                        ".git/",
                                        ".hob/./x",
                                        "/ws/proj/.git/config",
                                        "/WS/proj/.HOB/x",
                                        "../other/.git/config",
                                        "../../../../.git/x",
                                        "~/.bashrc",
                                        "~root/x"};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(paths); i++) assert_decides(paths[i], HOB_ASK);
}

static void test_policy_protect__other_files_are_edited(void **state) {
    static const char *const paths[] = {"a.c",
                                        ".gitignore",
                                        ".github/workflows/ci.yml",
                                        "hob/x",
                                        "docs/agents.md.txt",
                                        "bashrc",
                                        "config/app.json",
                                        "src/config.h",
                                        "src/hooks/useX.ts",
                                        "src/objects/x.c",
                                        "src/head/x.c",
                                        "HEAD.md",
                                        ".local/share/x",
                                        "src/.env",
                                        ".git/../a.c",
                                        "x.gitter",
                                        "Makefile"};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(paths); i++) assert_decides(paths[i], HOB_ALLOW);
}

static void test_policy_protect__only_where_the_mode_frees_edits(void **state) {
    (void)state;
    assert_int_equal(in_mode(HOB_MODE_YOLO, NULL, ".git/config"), HOB_ALLOW);
    assert_int_equal(in_mode(HOB_MODE_PLAN, NULL, ".git/config"), HOB_DENY);
    assert_int_equal(in_mode(HOB_MODE_ASK, NULL, ".git/config"), HOB_ASK);
    hob_policy *p = policy_make(&(policy_spec){.mode = HOB_MODE_ACCEPT_EDITS, .cwd = "/ws"});
    assert_int_equal(policy_value(p, "read", "path", HOB_STR(".git/config")), HOB_ALLOW);
    assert_int_equal(policy_value(p, "remember", "text", HOB_STR(".git/config")), HOB_ALLOW);
    hob_policy_destroy(p);
}

/* A rule is what somebody wrote down on purpose. */
static void test_policy_protect__a_rule_may_allow_it(void **state) {
    (void)state;
    assert_int_equal(in_mode(HOB_MODE_ACCEPT_EDITS, "write(AGENTS.md)", "AGENTS.md"), HOB_ALLOW);
    assert_int_equal(in_mode(HOB_MODE_ACCEPT_EDITS, "write(AGENTS.md)", "CLAUDE.md"), HOB_ASK);
}

static void test_policy_protect__says_why(void **state) {
    (void)state;
    hob_policy *p = policy_make(&(policy_spec){.mode = HOB_MODE_ACCEPT_EDITS, .cwd = "/ws"});
    hob_policy_answer a = policy_ask(p, "Edit", HOB_STR("{\"path\":\".hob/config.json\"}"));
    assert_int_equal(a.decision, HOB_ASK);
    assert_string_equal(a.by, "mode:accept-edits");
    assert_string_equal(a.reason,
                        "writing this file can make programs run, or change what agents may do");
    a = policy_ask(p, "patch", HOB_STR("{\"files\":[]}")); /* which one cannot be told */
    assert_int_equal(a.decision, HOB_ASK);
    hob_policy_destroy(p);
}

/* yolo, narrowed to accept-edits, in a copy of the folder that lies in a state folder of ours. */
static void test_policy_protect__in_narrowed_and_moved_policies(void **state) {
    hob_policy *base = policy_make(&(policy_spec){.mode = HOB_MODE_YOLO, .cwd = "/ws/proj"});
    hob_policy *narrow, *moved;
    (void)state;
    hob_narrow n = {.who = HOB_STR("agent a"), .mode = HOB_STR("accept-edits")};
    assert_int_equal(hob_policy_narrow(base, &n, &narrow, NULL), HOB_OK);
    assert_int_equal(
        hob_policy_move(narrow, HOB_STR("/ws/proj"), HOB_STR("/ho/.hob/copy"), &moved, NULL),
        HOB_OK);
    assert_int_equal(policy_value(narrow, "write", "path", HOB_STR(".git/config")), HOB_ASK);
    assert_int_equal(policy_value(moved, "write", "path", HOB_STR("/ho/.hob/copy/.git")), HOB_ASK);
    assert_int_equal(policy_value(moved, "write", "path", HOB_STR("/ho/.hob/copy/a")), HOB_ALLOW);
    assert_int_equal(policy_value(moved, "write", "path", HOB_STR("a")), HOB_ALLOW);
    hob_policy_destroy(moved);
    hob_policy_destroy(narrow);
    hob_policy_destroy(base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_protect__what_makes_programs_run_is_asked_about),
        cmocka_unit_test(test_policy_protect__however_the_path_is_written),
        cmocka_unit_test(test_policy_protect__other_files_are_edited),
        cmocka_unit_test(test_policy_protect__only_where_the_mode_frees_edits),
        cmocka_unit_test(test_policy_protect__a_rule_may_allow_it),
        cmocka_unit_test(test_policy_protect__says_why),
        cmocka_unit_test(test_policy_protect__in_narrowed_and_moved_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
