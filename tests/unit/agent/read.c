/* One text into a definition: what counts, what is remarked on, what refuses the file. */
#include "agent/definition.h"

#include "support/check.h"

typedef struct fixture {
    hob_arena *a;
    hob_definition x;
    size_t line;
    hob_error err;
} fixture;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    f->a = hob_arena_create(0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_arena_destroy(f->a);
    hob_free(f);
    return 0;
}

static int parse(fixture *f, hob_def_text t) {
    return hob_definition_read(f->a, &t, &f->x, &f->line, &f->err);
}

static int agent(fixture *f, const char *text) {
    return parse(f, (hob_def_text){.kind = HOB_DEFINITION_AGENT, .text = hob_str_z(text)});
}

static int skill(fixture *f, const char *folder, const char *text) {
    return parse(f, (hob_def_text){.kind = HOB_DEFINITION_SKILL,
                                   .stem = hob_str_z(folder),
                                   .text = hob_str_z(text)});
}

static int command(fixture *f, const char *stem, const char *text) {
    return parse(f, (hob_def_text){.kind = HOB_DEFINITION_COMMAND,
                                   .stem = hob_str_z(stem),
                                   .text = hob_str_z(text)});
}

static void assert_refused(fixture *f, int code, size_t line, const char *what) {
    assert_int_equal(code, HOB_EPARSE);
    if (!strstr(f->err.message, what)) fail_msg("'%s' is not in '%s'", what, f->err.message);
    assert_int_equal(f->line, line);
}

static void assert_list(hob_strs list, const char *joined) {
    hob_buf b;
    hob_buf_init(&b, 4096);
    for (size_t i = 0; i < list.n; i++)
        hob_buf_addf(&b, "%s%.*s", i ? "|" : "", HOB_FMT(list.at[i]));
    assert_string_equal(hob_buf_z(&b), joined);
    hob_buf_finish(&b);
}

static void test_agent_read__an_agent_in_markdown(void **state) {
    fixture *f = *state;
    assert_ok(agent(f, "---\nname: reviewer\ndescription: Looks at changes\nmodel: lab/m\n"
                       "tools: Read, Grep, Bash(git diff:*)\ndisallowedTools: [Write]\n"
                       "maxTurns: 7\npermissionMode: plan\nbackground: true\n"
                       "isolation: worktree\nskills: one, two\n---\n\nYou review.\n\nWell.\n"),
              f->err);
    assert_str(f->x.name, "reviewer");
    assert_str(f->x.description, "Looks at changes");
    assert_str(f->x.model, "lab/m");
    assert_str(f->x.text, "You review.\n\nWell.");
    assert_list(f->x.tools, "Read|Grep|Bash(git diff:*)");
    assert_list(f->x.disallowed_tools, "Write");
    assert_list(f->x.skills, "one|two");
    assert_int_equal(f->x.max_turns, 7);
    assert_str(f->x.permission_mode, "plan");
    assert_int_equal(f->x.flags,
                     HOB_DEFINITION_TOOLS | HOB_DEFINITION_BACKGROUND | HOB_DEFINITION_WORKTREE);
    assert_int_equal(f->x.remarks.n, 0);
}

static void test_agent_read__an_agent_in_yaml(void **state) {
    fixture *f = *state;
    hob_def_text t = {.kind = HOB_DEFINITION_AGENT,
                      .yaml = true,
                      .text =
                          HOB_STR("name: a_1\ndescription: d\nmodel: inherit\n"
                                  "allowed_tools:\n  - read\nmax_steps: 3\nprompt: |\n  Do it.\n")};
    assert_ok(parse(f, t), f->err);
    assert_str(f->x.text, "Do it.");
    assert_str(f->x.model, "");
    assert_list(f->x.tools, "read");
    assert_int_equal(f->x.max_turns, 3);
}

static void test_agent_read__windows_line_ends_and_a_mark_at_the_start(void **state) {
    fixture *f = *state;
    assert_ok(agent(f, "\xef\xbb\xbf---\r\nname: a\r\ndescription: d\r\n---\r\nText\r\n"), f->err);
    assert_str(f->x.name, "a");
    assert_str(f->x.text, "Text");
}

static void test_agent_read__names_are_identifiers_and_user_is_reserved(void **state) {
    fixture *f = *state;
    assert_refused(f, agent(f, "---\ndescription: d\nname: user\n---\n"), 3, "reserved");
    assert_refused(f, agent(f, "---\nname: a b\n---\n"), 2, "a name is");
    assert_refused(f, agent(f, "---\nname: 1a\n---\n"), 2, "a name is");
    assert_refused(f, agent(f, "---\nname: ../x\n---\n"), 2, "a name is");
    assert_refused(f, agent(f, "---\ndescription: d\n---\n"), 1, "has no name");
    assert_refused(f, agent(f, "No front matter\n"), 1, "has no front matter");
    assert_refused(f, agent(f, "---\nname: a\n"), 1, "no end");
}

/* SEC-08 */
static void test_agent_read__a_wider_mode_does_not_count(void **state) {
    fixture *f = *state;
    assert_ok(agent(f, "---\nname: a\ndescription: d\npermissionMode: bypassPermissions\n---\n"),
              f->err);
    assert_str(f->x.permission_mode, "");
    assert_int_equal(f->x.remarks.n, 1);
    assert_str(f->x.remarks.at[0],
               "line 4: permissionMode yolo is wider than ask and does not count");
}

static void test_agent_read__a_mode_as_wide_as_allowed_counts(void **state) {
    fixture *f = *state;
    hob_def_text t = {.kind = HOB_DEFINITION_AGENT,
                      .widest = HOB_MODE_ACCEPT_EDITS,
                      .text = HOB_STR("---\nname: a\ndescription: d\n"
                                      "permissionMode: acceptEdits\n---\n")};
    assert_ok(parse(f, t), f->err);
    assert_str(f->x.permission_mode, "accept-edits");
    assert_int_equal(f->x.remarks.n, 0);
}

static void test_agent_read__limits_that_are_not_understood_refuse_the_file(void **state) {
    fixture *f = *state;
    assert_refused(f, agent(f, "---\nname: a\nmaxTurns: 0\n---\n"), 3, "from 1 to");
    assert_refused(f, agent(f, "---\nname: a\nmaxTurns: many\n---\n"), 3, "from 1 to");
    assert_refused(f, agent(f, "---\nname: a\npermissionMode: dontAsk\n---\n"), 3, "has to be ask");
    assert_refused(f, agent(f, "---\nname: a\nisolation: jail\n---\n"), 3, "worktree");
    assert_refused(f, agent(f, "---\nname: a\ntools: {a: b}\n---\n"), 3, "list of names");
    assert_refused(f, agent(f, "---\nname: a\ndisalowedTools: Bash\n---\n"), 3, "did you mean");
    assert_refused(f, agent(f, "---\nname: a\ntools: x\nallowedTools: y\n---\n"), 4, "use one");
    assert_refused(f, agent(f, "---\nname: a\nmaxTurns: 1\nmax-turns: 9\n---\n"), 4, "twice");
    assert_refused(f, agent(f, "---\nname: a\nkind: loop\nsub_agents: [b]\n---\n"), 3,
                   "a loop needs max_iterations");
    assert_refused(f, agent(f, "---\nname: a\nsteps: [b]\n---\n"), 3, "write them as agents");
    assert_refused(f, agent(f, "---\nname: a\ndisallowedTools: Bash(rm\n---\n"), 3,
                   "cannot be used");
}

static void test_agent_read__hooks_and_servers_do_not_count(void **state) {
    fixture *f = *state;
    assert_ok(agent(f, "---\nname: a\ndescription: d\ncolor: red\nhooks:\n  Stop:\n"
                       "    - command: touch x\nmcpServers: {x: {command: y}}\n---\n"),
              f->err);
    assert_list(f->x.remarks,
                "line 5: hooks does not count here|line 8: mcpServers does not count here");
}

static void test_agent_read__a_list_of_tools_is_all_there_is(void **state) {
    fixture *f = *state;
    assert_ok(agent(f, "---\nname: a\ntools: []\n---\n"), f->err);
    assert_false(hob_definition_allows(&f->x, HOB_STR("read")));
    assert_ok(agent(f, "---\nname: a\n---\n"), f->err);
    assert_true(hob_definition_allows(&f->x, HOB_STR("read")));
    assert_ok(agent(f, "---\nname: a\ntools: '*'\n---\n"), f->err);
    assert_true(hob_definition_allows(&f->x, HOB_STR("read")));
    assert_ok(agent(f, "---\nname: a\ntools: Bash(git:*), mcp__files__*, Write\n"
                       "disallowedTools: write, mcp__files__rm, bash(rm:*)\n---\n"),
              f->err);
    assert_true(hob_definition_allows(&f->x, HOB_STR("bash")));
    assert_true(hob_definition_allows(&f->x, HOB_STR("mcp__files__ls")));
    assert_false(hob_definition_allows(&f->x, HOB_STR("mcp__files__rm")));
    assert_false(hob_definition_allows(&f->x, HOB_STR("write")));
    assert_false(hob_definition_allows(&f->x, HOB_STR("read")));
}

static void test_agent_read__a_skill_keeps_no_text(void **state) {
    fixture *f = *state;
    assert_ok(skill(f, "pdf-tools",
                    "---\nname: pdf-tools\ndescription: Reads PDF\n"
                    "allowed-tools: Bash(git add:*) Read\nlicense: MIT\n"
                    "metadata: {a: b}\ndisable-model-invocation: true\n---\nBody\n"),
              f->err);
    assert_str(f->x.name, "pdf-tools");
    assert_str(f->x.text, "");
    assert_list(f->x.tools, "Bash(git add:*)|Read");
    assert_int_equal(f->x.flags, HOB_DEFINITION_TOOLS | HOB_DEFINITION_USER_ONLY);
    assert_int_equal(f->x.remarks.n, 0);
}

static void test_agent_read__skill_names_follow_the_open_rules(void **state) {
    static const char *const bad[] = {"Pdf", "-a", "a-", "a--b", "a_b", "a b", "ä"};
    fixture *f = *state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        int code = skill(f, bad[i], "---\ndescription: d\n---\n");
        assert_refused(f, code, 1, "a name is");
    }
    assert_refused(f, skill(f, "b", "---\ndescription: d\nname: a\n---\n"), 3, "its folder");
    assert_refused(f, skill(f, "a", "---\nname: a\n---\n"), 1, "no description");
    assert_ok(skill(f, "a-1", "---\ndescription: d\n---\n"), f->err);
    assert_str(f->x.name, "a-1");
}

static void test_agent_read__a_description_has_at_most_1024_characters(void **state) {
    fixture *f = *state;
    hob_buf b;
    hob_buf_init(&b, 1 << 16);
    hob_buf_addz(&b, "---\ndescription: ");
    for (int i = 0; i < 1024; i++) hob_buf_addz(&b, "ä");
    size_t fits = b.n;
    hob_buf_addz(&b, "\n---\n");
    assert_ok(skill(f, "a", hob_buf_z(&b)), f->err);
    b.n = fits;
    hob_buf_addz(&b, "ä\n---\n");
    assert_refused(f, skill(f, "a", hob_buf_z(&b)), 2, "longer than 1024");
    hob_buf_finish(&b);
}

static void test_agent_read__a_command_needs_no_front_matter(void **state) {
    fixture *f = *state;
    assert_ok(command(f, "fix", "# Fix the issue\n\nLook at $1 and !`git log`\n"), f->err);
    assert_str(f->x.name, "fix");
    assert_str(f->x.description, "Fix the issue");
    assert_str(f->x.text, "# Fix the issue\n\nLook at $1 and !`git log`");
    assert_list(f->x.remarks, "line 3: !`command` is not run, it stays as it stands");
    assert_ok(command(f, "fix", "---\ndescription: d\nargument-hint: '[issue]'\n---\n\n!`x`\n"),
              f->err);
    assert_str(f->x.argument_hint, "[issue]");
    assert_list(f->x.remarks, "line 6: !`command` is not run, it stays as it stands");
    assert_refused(f, command(f, "a b", "x"), 1, "the file's name is the command");
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_agent_read__##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(an_agent_in_markdown),
        T(an_agent_in_yaml),
        T(windows_line_ends_and_a_mark_at_the_start),
        T(names_are_identifiers_and_user_is_reserved),
        T(a_wider_mode_does_not_count),
        T(a_mode_as_wide_as_allowed_counts),
        T(limits_that_are_not_understood_refuse_the_file),
        T(hooks_and_servers_do_not_count),
        T(a_list_of_tools_is_all_there_is),
        T(a_skill_keeps_no_text),
        T(skill_names_follow_the_open_rules),
        T(a_description_has_at_most_1024_characters),
        T(a_command_needs_no_front_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
