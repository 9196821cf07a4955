#include "support/check.h"
#include "tool/tool.h"

/* The result as one text, a variable a line. */
static void check(const char *const *envp, const hob_str *more, size_t nmore,
                  const char *expected) {
    hob_buf out;
    hob_buf_init(&out, 1 << 20);
    char **got = hob_tool_environment(envp, more, nmore);
    for (char **v = got; *v; v++) hob_buf_addf(&out, "%s\n", *v);
    assert_str(hob_buf_str(&out), expected);
    hob_free(got);
    hob_buf_finish(&out);
}

static void test_tool_environment__passes_what_programs_need(void **state) {
    const char *envp[] = {"PATH=/bin",  "HOME=/home/u",   "LANG=C.UTF-8",       "LC_ALL=C",
                          "TERM=xterm", "VIRTUAL_ENV=/v", "EMPTY_AND_UNKNOWN=", NULL};
    (void)state;
    check(envp, NULL, 0,
          "PATH=/bin\nHOME=/home/u\nLANG=C.UTF-8\nLC_ALL=C\nTERM=xterm\nVIRTUAL_ENV=/v\n");
}

static void test_tool_environment__keeps_secrets_back(void **state) {
    const char *envp[] = {"PATH=/bin",
                          "ANTHROPIC_API_KEY=x",
                          "OPENAI_API_KEY=x",
                          "GITHUB_TOKEN=x",
                          "AWS_SECRET_ACCESS_KEY=x",
                          "SSH_AUTH_SOCK=x",
                          "DATABASE_URL=x",
                          "HOB_SERVER_TOKEN=x",
                          "HOB_MODEL=x",
                          "LC_SECRET=x",
                          "LD_PRELOAD=x",
                          "BASH_ENV=x",
                          "BASH_FUNC_ls%%=() { :; }",
                          "PATHX=x",
                          NULL};
    (void)state;
    check(envp, NULL, 0, "PATH=/bin\n");
}

static void test_tool_environment__configuration_adds_names(void **state) {
    const char *envp[] = {"PATH=/bin", "GITHUB_TOKEN=x", "MY_A=1", "MY_B=2", "MY_TOKEN=x", NULL};
    hob_str more[] = {HOB_STR("GITHUB_TOKEN"), HOB_STR("MY_*")};
    (void)state;
    check(envp, more, 2, "PATH=/bin\nGITHUB_TOKEN=x\nMY_A=1\nMY_B=2\n");
}

static void test_tool_environment__configuration_cannot_add_keys(void **state) {
    const char *envp[] = {"PATH=/bin", "ANTHROPIC_API_KEY=x", "HOB_HOME=x", "LAB_API_KEY=x", NULL};
    hob_str more[] = {HOB_STR("ANTHROPIC_API_KEY"), HOB_STR("HOB_HOME"), HOB_STR("*")};
    (void)state;
    check(envp, more, 3, "PATH=/bin\n");
}

static void test_tool_environment__there_is_always_a_path(void **state) {
    const char *envp[] = {"HOME=/h", NULL};
    (void)state;
    check(envp, NULL, 0, "HOME=/h\nPATH=/usr/local/bin:/usr/bin:/bin\n");
    check(NULL, NULL, 0, "PATH=/usr/local/bin:/usr/bin:/bin\n");
}

static void test_tool_environment__malformed_variables_are_left_out(void **state) {
    const char *envp[] = {"PATH=/bin", "HOME", "=x", "", "TERM=a=b", NULL};
    (void)state;
    check(envp, NULL, 0, "PATH=/bin\nTERM=a=b\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tool_environment__passes_what_programs_need),
        cmocka_unit_test(test_tool_environment__keeps_secrets_back),
        cmocka_unit_test(test_tool_environment__configuration_adds_names),
        cmocka_unit_test(test_tool_environment__configuration_cannot_add_keys),
        cmocka_unit_test(test_tool_environment__there_is_always_a_path),
        cmocka_unit_test(test_tool_environment__malformed_variables_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
