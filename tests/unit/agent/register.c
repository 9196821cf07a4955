/* Definitions by name: folders and values registered, which one is live, what a workspace may not. */
#include <hob/definitions.h>

#include "agent/definition.h"
#include "support/scratch.h"

typedef struct fixture {
    scratch s;
    hob_definitions *d;
    hob_error err;
} fixture;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    scratch_init(&f->s);
    assert_int_equal(hob_definitions_create(NULL, &f->d, NULL), HOB_OK);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_definitions_destroy(f->d);
    scratch_finish(&f->s);
    hob_free(f);
    return 0;
}

static void write_agent(fixture *f, const char *file, const char *name, const char *more) {
    char text[1024];
    snprintf(text, sizeof(text), "---\nname: %s\ndescription: from %s\n%s---\nDo.\n", name, file,
             more);
    scratch_write(&f->s, file, text);
}

static const hob_definition *find(fixture *f, const char *name) {
    return hob_definitions_find(f->d, HOB_DEFINITION_AGENT, hob_str_z(name));
}

static int discover(fixture *f, int trusted) {
    hob_discover_opts o = HOB_DISCOVER_OPTS_INIT;
    o.cwd = f->s.dir;
    o.trusted = trusted;
    return hob_definitions_discover(f->d, &o, &f->err);
}

static int discover_with_user(fixture *f, int trusted) {
    char home[PATH_MAX * 2 + 16];
    snprintf(home, sizeof(home), "HOB_HOME=%s", scratch_path(&f->s, "home"));
    const char *envp[] = {home, NULL};
    hob_config_load_opts lo = HOB_CONFIG_LOAD_OPTS_INIT;
    hob_discover_opts o = HOB_DISCOVER_OPTS_INIT;
    hob_config *c = hob_config_create();
    lo.envp = envp;
    lo.admin_file = "/dev/null";
    assert_ok(hob_config_load(c, &lo, &f->err), f->err);
    o.cwd = f->s.dir;
    o.trusted = trusted;
    o.config = c;
    int code = hob_definitions_discover(f->d, &o, &f->err);
    hob_config_destroy(c);
    return code;
}

/* A3S case 53 */
static void test_agent_register__counts_the_good_and_reports_the_bad(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, "team/good.yaml", "name: good\ndescription: d\nprompt: p\n");
    scratch_write(&f->s, "team/bad.yml", "name: bad\nmaxTurns: 0\n");
    assert_int_equal(hob_agents_register_dir(f->d, scratch_path(&f->s, "team"), &f->err), 1);
    assert_non_null(find(f, "good"));
    assert_null(find(f, "bad"));
    const hob_definition *bad = hob_definitions_at(f->d, 0);
    assert_int_equal(bad->state, HOB_DEFINITION_REFUSED);
    assert_str(bad->path, scratch_path(&f->s, "team/bad.yml"));
    assert_int_equal(bad->line, 2);
    assert_str(bad->why, "maxTurns has to be a number from 1 to 1000000");
    scratch_mkdir(&f->s, "empty");
    assert_int_equal(hob_agents_register_dir(f->d, scratch_path(&f->s, "empty"), &f->err), 0);
    assert_int_equal(hob_agents_register_dir(f->d, scratch_path(&f->s, "none"), &f->err), 0);
    assert_int_equal(hob_definitions_count(f->d), 2);
}

/* A3S case 54: the native folder wins; tools become the allow list. */
static void test_agent_register__the_nearest_of_a_name_is_live(void **state) {
    fixture *f = *state;
    write_agent(f, "home/agents/x.md", "x", "");
    write_agent(f, ".claude/agents/x.md", "x", "");
    write_agent(f, ".hob/agents/x.md", "x", "tools: Read\n");
    write_agent(f, ".agents/agents/x.md", "x", "");
    assert_int_equal(discover_with_user(f, 1), 1);
    assert_str(find(f, "x")->description, "from .hob/agents/x.md");
    assert_true(hob_definition_allows(find(f, "x"), HOB_STR("read")));
    assert_false(hob_definition_allows(find(f, "x"), HOB_STR("bash")));
    assert_int_equal(hob_definitions_at(f->d, 0)->state, HOB_DEFINITION_SHADOWED);
    char why[PATH_MAX * 2];
    snprintf(why, sizeof(why), "the same name is in %s/.hob/agents/x.md", f->s.dir);
    assert_str(hob_definitions_at(f->d, 0)->why, why);
}

static void test_agent_register__in_one_folder_the_first_file_wins(void **state) {
    fixture *f = *state;
    write_agent(f, "team/a.md", "x", "");
    write_agent(f, "team/b.md", "x", "");
    assert_int_equal(hob_agents_register_dir(f->d, scratch_path(&f->s, "team"), &f->err), 1);
    assert_str(find(f, "x")->description, "from team/a.md");
}

static void test_agent_register__what_the_host_names_is_nearer_than_what_is_found(void **state) {
    fixture *f = *state;
    write_agent(f, "team/x.md", "x", "");
    write_agent(f, "more/x.md", "x", "");
    write_agent(f, ".hob/agents/x.md", "x", "");
    hob_agents_register_dir(f->d, scratch_path(&f->s, "team"), &f->err);
    hob_agents_register_dir(f->d, scratch_path(&f->s, "more"), &f->err);
    discover(f, 1);
    assert_str(find(f, "x")->description, "from more/x.md");
}

static void test_agent_register__a_folder_read_again_is_as_it_is_now(void **state) {
    fixture *f = *state;
    char team[PATH_MAX * 2];
    write_agent(f, "team/x.md", "x", "");
    write_agent(f, "team/y.md", "y", "");
    scratch_keep(team, scratch_path(&f->s, "team"));
    assert_int_equal(hob_agents_register_dir(f->d, team, &f->err), 2);
    assert_int_equal(unlink(scratch_path(&f->s, "team/x.md")), 0);
    assert_int_equal(hob_agents_register_dir(f->d, team, &f->err), 1);
    assert_null(find(f, "x"));
    assert_int_equal(hob_definitions_count(f->d), 1);
}

static void test_agent_register__workers_are_copied_all_or_none(void **state) {
    fixture *f = *state;
    char name[] = "worker";
    hob_str tools[] = {HOB_STR("read")};
    hob_definition w[2] = {HOB_DEFINITION_INIT, HOB_DEFINITION_INIT};
    w[0].name = hob_str_z(name);
    w[0].tools = (hob_strs){tools, 1};
    w[1].name = HOB_STR("user");
    assert_int_equal(hob_agents_register_workers(f->d, w, 2, &f->err), HOB_EINVAL);
    assert_int_equal(hob_definitions_count(f->d), 0);
    assert_int_equal(hob_agents_register_worker(f->d, &w[0], &f->err), HOB_OK);
    name[0] = 'W';
    const hob_definition *x = find(f, "worker");
    assert_non_null(x);
    assert_false(hob_definition_allows(x, HOB_STR("bash")));
    hob_str others[] = {HOB_STR("WebFetch")};
    hob_definition no = HOB_DEFINITION_INIT;
    no.disallowed_tools = (hob_strs){others, 1};
    assert_false(hob_definition_allows(&no, HOB_STR("web_fetch")));
    w[0].permission_mode = HOB_STR("yolo");
    assert_int_equal(hob_agents_register_worker(f->d, &w[0], &f->err), HOB_EINVAL);
    w[0].permission_mode = HOB_STR("plan");
    w[0].name = HOB_STR("worker");
    assert_int_equal(hob_agents_register_worker(f->d, &w[0], &f->err), HOB_OK);
    assert_str(find(f, "worker")->permission_mode, "plan");
}

/* SEC-01, SEC-08: before trust it is data, and stands before nothing of the user's. */
static void test_agent_register__untrusted_is_listed_and_never_found(void **state) {
    fixture *f = *state;
    write_agent(f, "home/agents/x.md", "x", "");
    write_agent(f, ".hob/agents/x.md", "x", "");
    write_agent(f, ".claude/agents/y.md", "y", "");
    scratch_write(&f->s, ".claude/skills/s/SKILL.md",
                  "---\ndescription: d\n---\n!`touch canary`\n");
    scratch_write(&f->s, ".claude/commands/c.md", "!`touch canary`\n");
    assert_int_equal(discover_with_user(f, 0), 1);
    assert_str(find(f, "x")->description, "from home/agents/x.md");
    assert_null(find(f, "y"));
    hob_str out;
    assert_int_equal(hob_definitions_expand(f->d, HOB_DEFINITION_SKILL, HOB_STR("s"), HOB_STR(""),
                                            &out, &f->err),
                     HOB_ENOENT);
    assert_int_equal(hob_definitions_count(f->d), 5);
    for (size_t i = 1; i < 5; i++) {
        assert_int_equal(hob_definitions_at(f->d, i)->state, HOB_DEFINITION_UNTRUSTED);
        assert_str(hob_definitions_at(f->d, i)->why, "this folder is not trusted");
    }
    assert_int_equal(access(scratch_path(&f->s, "canary"), F_OK), -1);
}

/* SEC-07 */
static void test_agent_register__finds_nothing_outside_the_declared_roots(void **state) {
    fixture *f = *state;
    const char *const text = "---\ndescription: d\n---\n";
    scratch_mkdir(&f->s, ".git");
    scratch_write(&f->s, ".gitignore", "ignored/\n");
    scratch_write(&f->s, "node_modules/p/.claude/skills/evil/SKILL.md", text);
    scratch_write(&f->s, "sub/.hob/skills/evil/SKILL.md", text);
    scratch_write(&f->s, ".hob/skills/a/b/SKILL.md", text);
    scratch_write(&f->s, ".hob/skills/ignored/SKILL.md", text);
    scratch_write(&f->s, ".hob/skills/node_modules/SKILL.md", text);
    scratch_write(&f->s, ".hob/skills/good/SKILL.md", text);
    assert_int_equal(discover(f, 1), 1);
    assert_non_null(hob_definitions_find(f->d, HOB_DEFINITION_SKILL, HOB_STR("good")));
    assert_int_equal(hob_definitions_count(f->d), 3);
    assert_str(hob_definitions_at(f->d, 1)->why, "is ignored by git");
    assert_str(hob_definitions_at(f->d, 2)->why, "is in a folder of dependencies");
}

static void test_agent_register__a_skill_is_read_when_it_is_used(void **state) {
    fixture *f = *state;
    hob_str out;
    scratch_write(&f->s, ".hob/skills/s/SKILL.md", "---\ndescription: d\n---\nold\n");
    assert_int_equal(discover(f, 1), 1);
    scratch_write(&f->s, ".hob/skills/s/SKILL.md", "---\ndescription: d\n---\nfor $1: !`id`\n");
    assert_ok(hob_definitions_expand(f->d, HOB_DEFINITION_SKILL, HOB_STR("s"), HOB_STR("me"), &out,
                                     &f->err),
              f->err);
    assert_str(out, "for me: !`id`");
    assert_int_equal(unlink(scratch_path(&f->s, ".hob/skills/s/SKILL.md")), 0);
    assert_int_equal(symlink("/etc/hostname", scratch_path(&f->s, ".hob/skills/s/SKILL.md")), 0);
    assert_int_equal(hob_definitions_expand(f->d, HOB_DEFINITION_SKILL, HOB_STR("s"), HOB_STR(""),
                                            &out, &f->err),
                     HOB_EACCES);
}

static void test_agent_register__a_command_is_expanded(void **state) {
    fixture *f = *state;
    hob_str out;
    scratch_write(&f->s, "cmd/fix.md", "---\ndescription: d\n---\nFix $1 in ${2:-all}.\n");
    assert_int_equal(hob_commands_register_dir(f->d, scratch_path(&f->s, "cmd"), &f->err), 1);
    assert_ok(hob_definitions_expand(f->d, HOB_DEFINITION_COMMAND, HOB_STR("fix"), HOB_STR("it"),
                                     &out, &f->err),
              f->err);
    assert_str(out, "Fix it in all.");
}

/* A3S case 61 */
static void test_agent_register__registries_do_not_leak_into_one_another(void **state) {
    fixture *f = *state;
    hob_definitions *other;
    assert_int_equal(hob_definitions_create(NULL, &other, NULL), HOB_OK);
    scratch_write(&f->s, "sk/s/SKILL.md", "---\ndescription: d\n---\n");
    assert_int_equal(hob_skills_register_dir(other, scratch_path(&f->s, "sk"), &f->err), 1);
    assert_int_equal(hob_definitions_count(f->d), 0);
    hob_definitions_destroy(other);
}

/* SEC-08 over generated files: with a definition there is never a tool or mode that was not there. */
static void test_agent_register__a_workspace_never_widens(void **state) {
    static const char *const modes[] = {"plan", "ask", "accept-edits", "yolo"};
    static const char *const said[] = {
        "plan", "default", "acceptEdits", "bypassPermissions", "accept-edits", "yolo", "ask"};
    static const char *const lists[] = {"'*'", "[]", "Bash", "Bash(*), Write", "[read, '*']", "~"};
    static const char *const all[] = {"read", "write", "bash", "mcp__x__y"};
    fixture *f = *state;
    for (unsigned n = 0; n < 4 * 7 * 6 * 16; n++) {
        const unsigned mode = n % 4, word = n / 4 % 7, list = n / 28 % 6, parent = n / 168;
        char text[256];
        snprintf(text, sizeof(text), "---\nname: a\npermissionMode: %s\ntools: %s\n---\n",
                 said[word], lists[list]);
        hob_mode got = HOB_MODE_PLAN, widest = HOB_MODE_PLAN;
        assert_int_equal(hob_mode_from(hob_str_z(modes[mode]), &widest), 0);
        hob_def_list *d = hob_def_list_create(widest);
        hob_def_file file = {.text = {.kind = HOB_DEFINITION_AGENT, .text = hob_str_z(text)},
                             .origin = HOB_ORIGIN_WORKSPACE,
                             .trusted = true};
        assert_ok(hob_def_list_add(d, &file, &f->err), f->err);
        const hob_definition *x = hob_def_list_at(d, 0);
        assert_int_equal(x->state, HOB_DEFINITION_LIVE);
        if (x->permission_mode.n) assert_int_equal(hob_mode_from(x->permission_mode, &got), 0);
        assert_false(hob_mode_wider(got, widest));
        unsigned effective = 0;
        for (unsigned i = 0; i < HOB_ARRAY_LEN(all); i++)
            if (parent >> i & 1 && hob_definition_allows(x, hob_str_z(all[i])))
                effective |= 1u << i;
        assert_int_equal(effective & ~parent, 0);
        if (list == 1) assert_int_equal(effective, 0);
        if (list == 2) assert_int_equal(effective, parent & 4);
        hob_def_list_destroy(d);
    }
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_agent_register__##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(counts_the_good_and_reports_the_bad),
        T(the_nearest_of_a_name_is_live),
        T(in_one_folder_the_first_file_wins),
        T(what_the_host_names_is_nearer_than_what_is_found),
        T(a_folder_read_again_is_as_it_is_now),
        T(workers_are_copied_all_or_none),
        T(untrusted_is_listed_and_never_found),
        T(finds_nothing_outside_the_declared_roots),
        T(a_skill_is_read_when_it_is_used),
        T(a_command_is_expanded),
        T(registries_do_not_leak_into_one_another),
        T(a_workspace_never_widens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
