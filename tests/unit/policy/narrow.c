/*
 * What a workspace adds can only narrow: over generated files of administrator, user and workspace,
 * no call is decided more freely with the workspace than without it, nor with any flag more freely
 * than the administrator's policy has it.
 */
#include "config/config.h"

#include "support/policies.h"
#include "support/scratch.h"

typedef struct source {
    uint32_t x;
} source;

static uint32_t next(source *s, uint32_t below) {
    s->x = s->x * 1664525u + 1013904223u;
    return (s->x >> 8) % below;
}

static const char *const rules[] = {"bash",
                                    "bash(git:*)",
                                    "bash(git status:*)",
                                    "bash(rm:*)",
                                    "bash(make test)",
                                    "bash(*push*)",
                                    "read",
                                    "read(*.pem)",
                                    "read(src/**)",
                                    "write",
                                    "write(src/**)",
                                    "write(/etc/**)",
                                    "edit(docs/)",
                                    "edit",
                                    "deploy",
                                    "mcp__*",
                                    "mcp__x__y",
                                    "patch",
                                    "ls(secrets)",
                                    "glob"};
static const char *const modes[] = {"plan", "ask", "accept-edits", "yolo"};

static const struct {
    const char *tool, *args;
    hob_tool_class class_;
} calls[] = {
    {"bash", "{\"command\":\"git status\"}", HOB_TOOL_UNSAFE},
    {"bash", "{\"command\":\"git push\"}", HOB_TOOL_UNSAFE},
    {"bash", "{\"command\":\"rm -rf x\"}", HOB_TOOL_UNSAFE},
    {"bash", "{\"command\":\"make test\"}", HOB_TOOL_UNSAFE},
    {"bash", "{\"command\":\"$X; git status | sh\"}", HOB_TOOL_UNSAFE},
    {"bash", "{}", HOB_TOOL_UNSAFE},
    {"read", "{\"path\":\"src/a.pem\"}", HOB_TOOL_READ_ONLY},
    {"read", "{\"path\":\"/etc/x\"}", HOB_TOOL_READ_ONLY},
    {"write", "{\"path\":\"src/a.c\"}", HOB_TOOL_IDEMPOTENT},
    {"write", "{\"path\":\"/etc/x\"}", HOB_TOOL_IDEMPOTENT},
    {"edit", "{\"path\":\"docs/a\"}", HOB_TOOL_UNSAFE},
    {"patch", "{\"diff\":\"x\"}", HOB_TOOL_UNSAFE},
    {"ls", "{}", HOB_TOOL_READ_ONLY},
    {"glob", "{}", HOB_TOOL_READ_ONLY},
    {"deploy", "{}", HOB_TOOL_UNSAFE},
    {"look", "{}", HOB_TOOL_READ_ONLY},
    {"mcp__x__y", "{}", HOB_TOOL_READ_ONLY},
};

static void add_list(source *s, hob_buf *out, const char *name) {
    hob_buf_addf(out, ",\"%s\":[", name);
    for (uint32_t n = next(s, 4), i = 0; i < n; i++)
        hob_buf_addf(out, "%s\"%s\"", i ? "," : "", rules[next(s, HOB_ARRAY_LEN(rules))]);
    hob_buf_addc(out, ']');
}

/* "permissions": {…} with a mode and rules of all kinds, as it falls out. */
static void add_permissions(source *s, hob_buf *out) {
    hob_buf_addf(out, "\"permissions\":{\"mode\":\"%s\"", modes[next(s, 4)]);
    if (next(s, 2)) add_list(s, out, "allow");
    if (next(s, 2)) add_list(s, out, "ask");
    if (next(s, 2)) add_list(s, out, "deny");
    hob_buf_addc(out, '}');
}

static hob_policy *policy_of(const scratch *s, const char *cwd, const char *flag_mode) {
    char home[PATH_MAX * 2];
    snprintf(home, sizeof(home), "HOB_HOME=%s/home", s->dir);
    const char *envp[] = {home, NULL};
    hob_config_load_opts o = HOB_CONFIG_LOAD_OPTS_INIT;
    hob_error err = {0};
    o.cwd = cwd;
    o.envp = envp;
    o.admin_file = scratch_path(s, "admin.json");
    o.trusted = 1;
    hob_config *c = hob_config_create();
    assert_ok(hob_config_load(c, &o, &err), err);
    if (flag_mode) {
        assert_ok(
            hob_config_set(c, "permissions.mode", hob_str_z(flag_mode), HOB_ORIGIN_FLAG, &err),
            err);
        assert_ok(hob_config_set(c, "permissions.allow", HOB_STR("[\"bash\",\"write\",\"deploy\"]"),
                                 HOB_ORIGIN_FLAG, &err),
                  err);
    }
    hob_policy *p;
    assert_ok(hob_policy_from_config(c, hob_str_z("/ws"), HOB_STR_NULL, &p, &err), err);
    hob_config_destroy(c);
    return p;
}

/* No call is decided more freely by `narrow` than by `wide`. */
static size_t assert_within(const hob_policy *narrow, const hob_policy *wide, uint32_t round) {
    size_t narrowed = 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(calls); i++) {
        hob_policy_answer a, b;
        hob_str tool = hob_str_z(calls[i].tool), args = hob_str_z(calls[i].args);
        hob_policy_check(narrow, tool, calls[i].class_, args, &a);
        hob_policy_check(wide, tool, calls[i].class_, args, &b);
        if (a.decision < b.decision)
            fail_msg("round %u, %s %s: %s became %s", round, calls[i].tool, calls[i].args, b.by,
                     a.by);
        narrowed += a.decision > b.decision;
    }
    return narrowed;
}

static void write_file(const scratch *s, const char *name, hob_buf *text) {
    scratch_write(s, name, hob_buf_z(text));
    hob_buf_reset(text);
}

static void test_policy_narrow__a_workspace_never_widens(void **state) {
    (void)state;
    scratch s;
    scratch_init(&s);
    hob_buf text;
    hob_buf_init(&text, 1 << 16);
    size_t narrowed = 0;
    for (uint32_t round = 0; round < 400; round++) {
        source src = {round * 7919 + 1};
        hob_buf_addc(&text, '{');
        add_permissions(&src, &text);
        if (next(&src, 3) == 0) {
            hob_buf_addz(&text, ",\"policy\":{");
            add_permissions(&src, &text);
            hob_buf_addc(&text, '}');
        }
        hob_buf_addc(&text, '}');
        write_file(&s, "admin.json", &text);
        hob_buf_addc(&text, '{');
        add_permissions(&src, &text);
        hob_buf_addc(&text, '}');
        write_file(&s, "home/config.json", &text);
        hob_buf_addc(&text, '{');
        add_permissions(&src, &text);
        hob_buf_addc(&text, '}');
        write_file(&s, "ws/.hob/config.json", &text);
        char ws[PATH_MAX * 2];
        scratch_keep(ws, scratch_path(&s, "ws"));
        hob_policy *without = policy_of(&s, NULL, NULL), *with = policy_of(&s, ws, NULL);
        narrowed += assert_within(with, without, round);
        hob_policy_destroy(without);
        hob_policy_destroy(with);
        static const char *const wishes[] = {"\"yolo\"", "\"plan\""};
        const char *wish = wishes[round % 2]; /* whatever the flags ask for */
        without = policy_of(&s, NULL, wish);
        with = policy_of(&s, ws, wish);
        narrowed += assert_within(with, without, round);
        hob_policy_destroy(without);
        hob_policy_destroy(with);
    }
    assert_true(narrowed > 400); /* the generator does produce what it is about */
    hob_buf_finish(&text);
    scratch_finish(&s);
}

static void test_policy_narrow__no_flag_widens_a_policy(void **state) {
    (void)state;
    scratch s;
    scratch_init(&s);
    scratch_write(
        &s, "admin.json",
        "{\"policy\":{\"permissions\":{\"mode\":\"ask\",\"allow\":[\"bash(git status:*)\"],"
        "\"deny\":[\"bash(rm:*)\"],\"ask\":[\"read(*.pem)\"]}}}");
    hob_policy *bound = policy_of(&s, NULL, NULL);
    for (size_t i = 0; i < HOB_ARRAY_LEN(modes); i++) {
        char json[32];
        snprintf(json, sizeof(json), "\"%s\"", modes[i]);
        hob_policy *wish = policy_of(&s, NULL, json);
        assert_within(wish, bound, (uint32_t)i);
        hob_policy_destroy(wish);
    }
    assert_int_equal(policy_value(bound, "bash", "command", HOB_STR("git status")), HOB_ALLOW);
    hob_policy_destroy(bound);
    scratch_finish(&s);
}

static void test_policy_narrow__a_bad_rule_is_found_with_its_place(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    hob_error err = {0};
    assert_ok(hob_config_set(c, "permissions.deny", HOB_STR("[\"bash(\"]"), HOB_ORIGIN_USER, &err),
              err);
    hob_policy *p;
    assert_int_equal(hob_policy_from_config(c, hob_str_z("/ws"), HOB_STR_NULL, &p, &err),
                     HOB_ECONFIG);
    assert_string_equal(err.message,
                        "the permission rule \"bash(\" cannot be used: its \")\" is missing at the "
                        "end (permissions are set in: allow built-in; ask built-in; deny user)");
    hob_config_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy_narrow__a_workspace_never_widens),
        cmocka_unit_test(test_policy_narrow__no_flag_widens_a_policy),
        cmocka_unit_test(test_policy_narrow__a_bad_rule_is_found_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
