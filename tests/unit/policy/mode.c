/* Modes: the table of permissions, and how rules and modes meet. */
#include "support/policies.h"

static const char letters[] = {[HOB_ALLOW] = 'a', [HOB_ASK] = '?', [HOB_DENY] = 'd'};

/* One letter a tool: read ls glob grep | write edit patch | bash job | host: unsafe, idempotent,
 * read-only | an MCP tool that calls itself read-only. */
static void assert_row(hob_mode mode, const char *row) {
    static const struct {
        const char *tool;
        hob_tool_class class_;
    } tools[] = {{"read", HOB_TOOL_READ_ONLY},
                 {"LS", HOB_TOOL_READ_ONLY},
                 {"glob", HOB_TOOL_READ_ONLY},
                 {"grep", HOB_TOOL_READ_ONLY},
                 {"write", HOB_TOOL_IDEMPOTENT},
                 {"Edit", HOB_TOOL_UNSAFE},
                 {"patch", HOB_TOOL_READ_ONLY},
                 {"bash", HOB_TOOL_READ_ONLY},
                 {"job", HOB_TOOL_UNSAFE},
                 {"deploy", HOB_TOOL_UNSAFE},
                 {"deploy", HOB_TOOL_IDEMPOTENT},
                 {"look", HOB_TOOL_READ_ONLY},
                 {"mcp__x__look", HOB_TOOL_READ_ONLY}};
    char got[HOB_ARRAY_LEN(tools) + 1] = "";
    hob_policy *p = policy_make(&(policy_spec){.mode = mode});
    for (size_t i = 0; i < HOB_ARRAY_LEN(tools); i++) {
        hob_policy_answer a;
        hob_policy_check(p, hob_str_z(tools[i].tool), tools[i].class_, HOB_STR("{\"path\":\"a\"}"),
                         &a);
        got[i] = letters[a.decision];
    }
    assert_string_equal(got, row);
    hob_policy_destroy(p);
}

static void test_policy_mode__decides_as_the_table_says(void **state) {
    (void)state;
    assert_row(HOB_MODE_ASK, "aaaa"
                             "???"
                             "??"
                             "??a"
                             "?");
    assert_row(HOB_MODE_ACCEPT_EDITS, "aaaa"
                                      "aaa"
                                      "??"
                                      "??a"
                                      "?");
    assert_row(HOB_MODE_PLAN, "aaaa"
                              "ddd"
                              "dd"
                              "dda"
                              "d");
    assert_row(HOB_MODE_YOLO, "aaaa"
                              "aaa"
                              "aa"
                              "aaa"
                              "a");
}

static void test_policy_mode__has_names(void **state) {
    (void)state;
    for (int m = HOB_MODE_ASK; m <= HOB_MODE_YOLO; m++) {
        hob_mode back;
        assert_int_equal(hob_mode_from(hob_str_z(hob_mode_name((hob_mode)m)), &back), HOB_OK);
        assert_int_equal(back, m);
    }
    hob_mode none;
    assert_int_equal(hob_mode_from(HOB_STR("Ask"), &none), HOB_EINVAL);
    assert_int_equal(hob_mode_from(HOB_STR(""), &none), HOB_EINVAL);
}

static void test_policy_mode__says_who_decided_and_why(void **state) {
    (void)state;
    hob_policy *p = policy_make(&(policy_spec){.deny = "bash(rm:*)", .ask = "read", .allow = "ls"});
    hob_policy_answer a = policy_ask(p, "bash", HOB_STR("{\"command\":\"rm x\"}"));
    assert_string_equal(a.by, "deny: bash(rm:*)");
    assert_string_equal(a.reason, "the rule bash(rm:*) forbids it");
    a = policy_ask(p, "bash", HOB_STR("{\"command\":\"$X x\"}"));
    assert_int_equal(a.decision, HOB_DENY);
    assert_string_equal(a.reason, "it cannot be told whether the rule bash(rm:*) applies; name the "
                                  "command itself instead of a variable or pattern");
    a = policy_ask(p, "read", HOB_STR("{}"));
    assert_string_equal(a.by, "ask: read");
    assert_string_equal(a.reason, "the rule read asks for it");
    a = policy_ask(p, "ls", HOB_STR("{}"));
    assert_string_equal(a.by, "allow: ls");
    a = policy_ask(p, "write", HOB_STR("{}"));
    assert_string_equal(a.by, "mode:ask");
    assert_string_equal(a.reason, "");
    hob_policy_destroy(p);
    p = policy_make(&(policy_spec){.mode = HOB_MODE_PLAN});
    assert_string_equal(policy_ask(p, "bash", HOB_STR("{}")).reason,
                        "in plan mode no command is run, not even one that only reads");
    assert_string_equal(policy_ask(p, "edit", HOB_STR("{}")).reason,
                        "in plan mode nothing is changed");
    hob_policy_destroy(p);
}

/* Four rules that all match, each denying, asking, allowing or absent: 4^4 policies in 4 modes. */
static void test_policy_mode__deny_over_ask_over_allow_over_mode(void **state) {
    (void)state;
    static const char *const texts[] = {"bash", "BASH(git:*)", "bash(git status)", "b*"};
    for (unsigned n = 0; n < 4 * 4 * 4 * 4 * 4; n++) {
        hob_mode mode = (hob_mode)(n % 4);
        hob_str lists[3][4];
        size_t counts[3] = {0};
        unsigned rest = n / 4;
        for (size_t i = 0; i < 4; i++, rest /= 4) {
            if (rest % 4 < 3) lists[rest % 4][counts[rest % 4]++] = hob_str_z(texts[i]);
        }
        hob_policy_opts o = {.mode = mode,
                             .allow = lists[HOB_ALLOW],
                             .nallow = counts[HOB_ALLOW],
                             .ask = lists[HOB_ASK],
                             .nask = counts[HOB_ASK],
                             .deny = lists[HOB_DENY],
                             .ndeny = counts[HOB_DENY]};
        hob_policy *p;
        assert_int_equal(hob_policy_create(&o, &p, NULL), HOB_OK);
        static const hob_decision of_mode[] = {HOB_ASK, HOB_ASK, HOB_DENY, HOB_ALLOW};
        hob_decision want = of_mode[mode];
        if (counts[HOB_DENY] || mode == HOB_MODE_PLAN)
            want = HOB_DENY;
        else if (counts[HOB_ASK])
            want = HOB_ASK;
        else if (counts[HOB_ALLOW])
            want = HOB_ALLOW;
        assert_int_equal(policy_value(p, "bash", "command", HOB_STR("git status")), want);
        hob_policy_destroy(p);
    }
}

static void rule_refused(const char *text, bool allow, const char *why) {
    hob_str rule = hob_str_z(text);
    hob_policy_opts o = {.deny = &rule, .ndeny = !allow, .allow = &rule, .nallow = allow};
    hob_policy *p;
    hob_error err = {0};
    assert_int_equal(hob_policy_create(&o, &p, &err), HOB_ECONFIG);
    hob_buf want;
    hob_buf_init(&want, 4096);
    hob_buf_addz(&want, "the permission rule ");
    hob_json_quote(&want, hob_str_first(rule, 100));
    hob_buf_addf(&want, " cannot be used: %s", why);
    assert_string_equal(err.message, hob_buf_z(&want));
    hob_buf_finish(&want);
}

static void test_policy_mode__refuses_rules_it_cannot_read(void **state) {
    (void)state;
    static const char *const name = "it does not begin with the name of a tool";
    static const char *const command =
        "it has no command; for every command write the tool's name alone";
    rule_refused("", false, "it is empty");
    rule_refused("   ", false, "it is empty");
    rule_refused("(x)", false, name);
    rule_refused("ba sh", false, name);
    rule_refused("b*h", false, name);
    rule_refused("*", true, name);
    rule_refused("bash(", false, "its \")\" is missing at the end");
    rule_refused("bash(rm:*", false, "its \")\" is missing at the end");
    rule_refused("bash()", false, command);
    rule_refused("bash(:*)", false, command);
    rule_refused("bash( )", false, command);
    rule_refused("bash(a\nb)", false, "it has control characters in it");
    rule_refused("bash(\xff)", false, "it has control characters in it");
    rule_refused("web_fetch(x)", false,
                 "patterns are known for bash, read, write, edit, patch and ls only");
    rule_refused("bsh(rm:*)", false,
                 "patterns are known for bash, read, write, edit, patch and ls only");
    rule_refused("write(../x)", false, "write the path out, without \"..\"");
    rule_refused("read(~/x)", false, "the home folder is not known here");
    rule_refused("read()", false, "it has no path; for every path write the tool's name alone");
    char longer[300];
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    rule_refused(longer, false, "it is longer than 256 bytes");
}

static void test_policy_mode__names_may_end_in_a_star(void **state) {
    (void)state;
    hob_policy *p = policy_make(&(policy_spec){.allow = "mcp__files__*", .deny = "mcp__web*"});
    assert_int_equal(policy_ask(p, "mcp__files__get", HOB_STR("{}")).decision, HOB_ALLOW);
    assert_int_equal(policy_ask(p, "mcp__web__get", HOB_STR("{}")).decision, HOB_DENY);
    assert_int_equal(policy_ask(p, "mcp__file", HOB_STR("{}")).decision, HOB_ASK);
    hob_policy_destroy(p);
    p = policy_make(&(policy_spec){.mode = HOB_MODE_YOLO, .deny = "*"});
    assert_int_equal(policy_ask(p, "anything", HOB_STR("{}")).decision, HOB_DENY);
    hob_policy_destroy(p);
}

/* A pattern that denies and cannot be compared counts; one that allows does not. */
static void test_policy_mode__arguments_that_say_nothing_are_in_doubt(void **state) {
    (void)state;
    static const char *const args[] = {"",
                                       "{",
                                       "[]",
                                       "null",
                                       "{}",
                                       "{\"command\":5}",
                                       "{\"command\":null}",
                                       "{\"Command\":\"git status\"}"};
    hob_policy *deny = policy_make(&(policy_spec){.mode = HOB_MODE_YOLO, .deny = "bash(rm:*)"});
    hob_policy *allow = policy_make(&(policy_spec){.allow = "bash(git status:*)"});
    for (size_t i = 0; i < HOB_ARRAY_LEN(args); i++) {
        assert_int_equal(policy_ask(deny, "bash", hob_str_z(args[i])).decision, HOB_DENY);
        assert_int_equal(policy_ask(allow, "bash", hob_str_z(args[i])).decision, HOB_ASK);
    }
    hob_policy_destroy(deny);
    hob_policy_destroy(allow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_mode__decides_as_the_table_says),
        cmocka_unit_test(test_policy_mode__has_names),
        cmocka_unit_test(test_policy_mode__says_who_decided_and_why),
        cmocka_unit_test(test_policy_mode__deny_over_ask_over_allow_over_mode),
        cmocka_unit_test(test_policy_mode__refuses_rules_it_cannot_read),
        cmocka_unit_test(test_policy_mode__names_may_end_in_a_star),
        cmocka_unit_test(test_policy_mode__arguments_that_say_nothing_are_in_doubt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
