/*
 * A policy that was narrowed: what agents, skills and children may do of what their caller may.
 */
#include "support/policies.h"

typedef struct layer {
    const char *tools[4], *disallowed[4], *mode; /* tools[0] NULL = no limit, "" = none at all */
} layer;

static size_t count(const char *const *words, hob_str *out) {
    size_t n = 0;
    for (; n < 4 && words[n] && *words[n]; n++) out[n] = hob_str_z(words[n]);
    return n;
}

static int try_narrow(hob_policy *base, const layer *l, hob_policy **out, hob_error *err) {
    hob_str tools[4], disallowed[4];
    hob_narrow n = {.who = HOB_STR("agent reviewer"),
                    .only = l->tools[0] != NULL,
                    .tools = tools,
                    .disallowed = disallowed,
                    .mode = hob_str_z(l->mode)};
    n.ntools = count(l->tools, tools);
    n.ndisallowed = count(l->disallowed, disallowed);
    return hob_policy_narrow(base, &n, out, err);
}

/* Takes the reference to base. */
static hob_policy *narrow(hob_policy *base, const layer *l) {
    hob_policy *p = NULL;
    hob_error err = {0};
    assert_ok(try_narrow(base, l, &p, &err), err);
    hob_policy_destroy(base);
    return p;
}

static hob_decision command(const hob_policy *p, const char *text) {
    return policy_value(p, "bash", "command", hob_str_z(text));
}

static hob_policy *free_policy(void) {
    return policy_make(&(policy_spec){.mode = HOB_MODE_YOLO, .cwd = "/ws"});
}

static void test_policy_layers__a_list_of_tools_is_all_there_is(void **state) {
    (void)state;
    hob_policy *p = narrow(free_policy(), &(layer){.tools = {"Read", "mcp__files__*"}});
    assert_int_equal(policy_value(p, "read", "path", HOB_STR("a.c")), HOB_ALLOW);
    assert_int_equal(policy_value(p, "mcp__files__get", "path", HOB_STR("a")), HOB_ALLOW);
    assert_int_equal(command(p, "ls"), HOB_DENY);
    hob_policy_answer a = policy_ask(p, "write", HOB_STR("{\"path\":\"a.c\"}"));
    assert_int_equal(a.decision, HOB_DENY);
    assert_string_equal(a.by, "agent reviewer");
    assert_string_equal(a.reason, "agent reviewer may use Read, mcp__files__* only");
    hob_policy_destroy(p);
}

static void test_policy_layers__an_empty_list_is_no_tools(void **state) {
    (void)state;
    hob_policy *p = narrow(free_policy(), &(layer){.tools = {""}});
    hob_policy_answer a = policy_ask(p, "read", HOB_STR("{\"path\":\"a.c\"}"));
    assert_int_equal(a.decision, HOB_DENY);
    assert_string_equal(a.reason, "agent reviewer may use no tools");
    assert_false(hob_policy_offers(p, HOB_STR("read")));
    hob_policy_destroy(p);
}

static void test_policy_layers__a_pattern_lets_through_what_fits_exactly(void **state) {
    (void)state;
    hob_policy *p = narrow(free_policy(), &(layer){.tools = {"Bash(git diff:*)"}});
    assert_int_equal(command(p, "git diff HEAD"), HOB_ALLOW);
    assert_int_equal(command(p, "git push"), HOB_DENY);
    assert_int_equal(command(p, "git diff | sh"), HOB_DENY);
    assert_true(hob_policy_offers(p, HOB_STR("bash")));
    assert_false(hob_policy_offers(p, HOB_STR("read")));
    hob_policy_destroy(p);
}

static void test_policy_layers__a_pattern_grants_nothing(void **state) {
    (void)state;
    hob_policy *asks = policy_make(&(policy_spec){.mode = HOB_MODE_ASK, .cwd = "/ws"});
    hob_policy *p = narrow(asks, &(layer){.tools = {"Bash(git diff:*)", "Write"}});
    assert_int_equal(command(p, "git diff"), HOB_ASK);
    assert_int_equal(policy_value(p, "write", "path", HOB_STR("a")), HOB_ASK);
    hob_policy_destroy(p);
}

static void test_policy_layers__disallowed_wins_over_tools(void **state) {
    (void)state;
    hob_policy *p = narrow(free_policy(), &(layer){.tools = {"bash", "web_fetch", "read"},
                                                   .disallowed = {"Bash(rm:*)", "WebFetch"}});
    assert_int_equal(command(p, "ls"), HOB_ALLOW);
    assert_int_equal(command(p, "rm x"), HOB_DENY);
    assert_int_equal(policy_value(p, "web_fetch", "url", HOB_STR("http://x")), HOB_DENY);
    assert_false(hob_policy_offers(p, HOB_STR("web_fetch")));
    assert_true(hob_policy_offers(p, HOB_STR("bash")));
    hob_policy_destroy(p);
}

static void test_policy_layers__the_narrower_mode_counts(void **state) {
    (void)state;
    hob_policy *edits = policy_make(
        &(policy_spec){.mode = HOB_MODE_ACCEPT_EDITS, .allow = "bash(make:*)", .cwd = "/ws"});
    hob_policy *wider = narrow(hob_policy_ref(edits), &(layer){.mode = "yolo"});
    assert_int_equal(hob_policy_mode(wider), HOB_MODE_ACCEPT_EDITS);
    assert_int_equal(command(wider, "ls"), HOB_ASK);
    hob_policy *asks = narrow(hob_policy_ref(edits), &(layer){.mode = "ask"});
    assert_int_equal(policy_value(asks, "write", "path", HOB_STR("a")), HOB_ASK);
    assert_int_equal(command(asks, "make"), HOB_ALLOW); /* the user's own rule still counts */
    hob_policy *plan = narrow(edits, &(layer){.mode = "plan"});
    assert_int_equal(command(plan, "make"), HOB_DENY);
    hob_policy_destroy(wider);
    hob_policy_destroy(asks);
    hob_policy_destroy(plan);
}

static void test_policy_layers__a_limit_that_cannot_be_read_is_an_error(void **state) {
    (void)state;
    hob_policy *base = free_policy(), *p = NULL;
    hob_error err = {0};
    assert_int_equal(try_narrow(base, &(layer){.disallowed = {"Bash(rm"}}, &p, &err), HOB_ECONFIG);
    assert_int_equal(try_narrow(base, &(layer){.mode = "free"}, &p, &err), HOB_ECONFIG);
    assert_null(p);
    hob_policy_destroy(base);
}

/* The rest of the list counts. */
static void test_policy_layers__a_grant_that_cannot_be_read_grants_nothing(void **state) {
    (void)state;
    hob_policy *p =
        narrow(free_policy(), &(layer){.tools = {"WebFetch(domain:a.b)", "Bash(", "Read"}});
    assert_int_equal(policy_value(p, "web_fetch", "url", HOB_STR("http://a.b")), HOB_DENY);
    assert_int_equal(command(p, "ls"), HOB_DENY);
    assert_int_equal(policy_value(p, "read", "path", HOB_STR("a")), HOB_ALLOW);
    hob_policy_destroy(p);
}

static const char *const words[] = {"read",   "Bash",       "Bash(git diff:*)", "write", "edit",
                                    "mcp__*", "Bash(rm:*)", "WebFetch",         "glob"};
static const char *const modes[] = {NULL, "plan", "ask", "accept-edits", "yolo"};

static layer draw(uint32_t *x) {
    layer l = {.mode = modes[(*x >> 4) % 5]};
    for (size_t i = 0; i < 3; i++) {
        *x = *x * 1664525u + 1013904223u;
        if ((*x >> 9) % 3) l.tools[i] = words[(*x >> 12) % HOB_ARRAY_LEN(words)];
        if (!((*x >> 20) % 4)) l.disallowed[i] = words[(*x >> 23) % HOB_ARRAY_LEN(words)];
    }
    return l;
}

static const struct {
    const char *tool, *key, *value;
} calls[] = {{"bash", "command", "git diff"}, {"bash", "command", "rm x"},
             {"read", "path", "a.c"},         {"write", "path", "a.c"},
             {"mcp__a__b", "path", "x"},      {"web_fetch", "url", "http://x"}};

/* Each layer refuses what the one below refuses, and offers nothing that it does not. */
static void test_policy_layers__sec_08_no_layer_ever_frees_anything(void **state) {
    (void)state;
    size_t narrowed = 0;
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t x = round * 7919 + 3;
        hob_policy *p = policy_make(&(policy_spec){.mode = (hob_mode)(round % 4),
                                                   .allow = round % 3 ? "bash(git:*)" : NULL,
                                                   .ask = round % 5 ? NULL : "read",
                                                   .cwd = "/ws"});
        for (int depth = 0; depth < 3; depth++) {
            layer l = draw(&x);
            hob_policy *below = hob_policy_ref(p);
            p = narrow(p, &l);
            for (size_t i = 0; i < HOB_ARRAY_LEN(calls); i++) {
                hob_str tool = hob_str_z(calls[i].tool), value = hob_str_z(calls[i].value);
                hob_decision a = policy_value(p, calls[i].tool, calls[i].key, value);
                hob_decision b = policy_value(below, calls[i].tool, calls[i].key, value);
                if (a < b) fail_msg("round %u: %s freed %s", round, calls[i].tool, calls[i].value);
                narrowed += a > b;
                if (!hob_policy_offers(p, tool)) assert_int_equal(a, HOB_DENY);
                if (!hob_policy_offers(below, tool)) assert_false(hob_policy_offers(p, tool));
            }
            hob_policy_destroy(below);
        }
        hob_policy_destroy(p);
    }
    assert_true(narrowed > 3000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_layers__a_list_of_tools_is_all_there_is),
        cmocka_unit_test(test_policy_layers__an_empty_list_is_no_tools),
        cmocka_unit_test(test_policy_layers__a_pattern_lets_through_what_fits_exactly),
        cmocka_unit_test(test_policy_layers__a_pattern_grants_nothing),
        cmocka_unit_test(test_policy_layers__disallowed_wins_over_tools),
        cmocka_unit_test(test_policy_layers__the_narrower_mode_counts),
        cmocka_unit_test(test_policy_layers__a_limit_that_cannot_be_read_is_an_error),
        cmocka_unit_test(test_policy_layers__a_grant_that_cannot_be_read_grants_nothing),
        cmocka_unit_test(test_policy_layers__sec_08_no_layer_ever_frees_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
