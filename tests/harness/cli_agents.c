/* `hob agents` and `hob skills`: what is listed, why something does not count, and that nothing is run. */
#include "support/cli.h"

#include "support/check.h"

#include <sys/stat.h>

#define AGENT(name) HOB_STR("---\nname: " name "\ndescription: Looks at things\n---\nYou look.\n")

static void test_cli_agents__none_is_said_so(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "agents"), 0);
    assert_out(c, "");
    assert_err_has(c, "none are defined");
    assert_int_equal(HOB_RUN(c, NULL, "skills", "--json"), 0);
    assert_out(c, "");
}

static void test_cli_agents__the_users_own_are_live(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, "home/agents");
    hob_test_file(&c->folder, "home/agents/looker.md", AGENT("looker"));
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    const hob_json *row = hob_test_line(c, 0);
    assert_str(hob_json_get_str(row, "name"), "looker");
    assert_str(hob_json_get_str(row, "description"), "Looks at things");
    assert_str(hob_json_get_str(row, "state"), "live");
    assert_str(hob_json_get_str(row, "origin"), "user");
}

static void test_cli_agents__a_workspace_is_data_until_it_is_trusted(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, ".claude");
    hob_test_mkdir(&c->folder, ".claude/agents");
    hob_test_file(&c->folder, ".claude/agents/looker.md", AGENT("looker"));
    assert_int_equal(HOB_RUN(c, NULL, "agents"), 0);
    assert_out_has(c, "looker  agent  untrusted  .claude/agents/looker.md  Looks at things");
    assert_err_has(c, ".claude/agents/looker.md: this folder is not trusted");
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--trust"), 0);
    assert_out_has(c, "looker  agent  live ");
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--json"), 0); /* --trust was for that run */
    assert_str(hob_json_get_str(hob_test_line(c, 0), "state"), "untrusted");
}

static void test_cli_agents__bad_files_are_told_with_their_line(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, ".hob");
    hob_test_mkdir(&c->folder, ".hob/agents");
    hob_test_file(&c->folder, ".hob/agents/bad.md",
                  HOB_STR("---\nname: bad\ndescription: a: b\n---\n"));
    hob_test_file(&c->folder, ".hob/agents/esc\033[2J.md", HOB_STR("x"));
    hob_test_file(&c->folder, ".hob/agents/wide.yaml",
                  HOB_STR("name: wide\ndescription: d\npermissionMode: yolo\n"));
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--trust"), 0);
    assert_err_has(c, ".hob/agents/bad.md:3: mapping values are not allowed");
    assert_err_has(c, "esc^[[2J.md:1: has no front matter");
    assert_err_has(c, ".hob/agents/wide.yaml: line 3: permissionMode yolo is wider than ask");
    assert_false(hob_test_out_has(c, "\033"));
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--trust", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 3);
    assert_int_equal(hob_json_get_int(hob_test_line(c, 0), "line", 0), 3);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "state"), "refused");
}

static void test_cli_agents__skills_and_commands(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, ".agents");
    hob_test_mkdir(&c->folder, ".agents/skills");
    hob_test_mkdir(&c->folder, ".agents/skills/pdf");
    hob_test_file(&c->folder, ".agents/skills/pdf/SKILL.md",
                  HOB_STR("---\nname: pdf\ndescription: Reads PDF\nallowed-tools: Read\n---\nB\n"));
    hob_test_mkdir(&c->folder, ".hob");
    hob_test_mkdir(&c->folder, ".hob/commands");
    hob_test_file(&c->folder, ".hob/commands/fix.md", HOB_STR("Fix $1\n"));
    assert_int_equal(HOB_RUN(c, NULL, "skills", "--trust", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 2);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "kind"), "skill");
    assert_str(hob_json_raw(hob_json_get(hob_test_line(c, 0), "tools")), "[\"Read\"]");
    assert_str(hob_json_get_str(hob_test_line(c, 1), "kind"), "command");
    assert_str(hob_json_get_str(hob_test_line(c, 1), "description"), "Fix $1");
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--json"), 0);
    assert_out(c, "");
}

static void test_cli_agents__the_configuration_has_agents_too(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "m.json",
                         "{'rules':[{'when':{'system':{'contains':'You look.'}},"
                         "'reply':[{'text':'looker {{user}}'}]}],'otherwise':[{'text':'hob'}]}");
    hob_test_quoted_file(
        c, "home/config.json",
        "{'agents': {'looker': {'description': 'Looks', 'prompt': 'You look. \\ud83d\\ude00 \\/',\n"
        " 'tools': ['read']}, 'odd': {'name': 'other'}}}");
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 2);
    const hob_json *row = hob_test_line(c, 0);
    assert_str(hob_json_get_str(row, "name"), "looker");
    assert_str(hob_json_get_str(row, "state"), "live");
    assert_str(hob_json_get_str(row, "origin"), "user");
    assert_str(hob_json_raw(hob_json_get(row, "tools")), "[\"read\"]");
    assert_str(hob_json_get_str(hob_test_line(c, 1), "state"), "refused");
    assert_str(hob_json_get_str(hob_test_line(c, 1), "why"), "its name is another than its key");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:m.json", "--agent", "looker", "at me"),
                     0);
    assert_out(c, "looker at me\n");
    assert_false(hob_test_err_has(c, "has no effect"));
}

/* One of a workspace counts once that is trusted, and then before the user's. */
static void test_cli_agents__those_of_a_workspace_wait_for_trust(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "home/config.json",
                         "{'agents': {'looker': {'description': 'mine', 'prompt': 'I'}}}");
    hob_test_mkdir(&c->folder, ".hob");
    hob_test_quoted_file(c, ".hob/config.json",
                         "{'agents': {'reader': {'description': 'theirs', 'prompt': 'They'}}}");
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--json", "--trust"), 0);
    assert_int_equal(hob_test_lines(c), 2);
    assert_str(hob_json_get_str(hob_test_line(c, 1), "name"), "reader");
    assert_str(hob_json_get_str(hob_test_line(c, 1), "state"), "live");
    assert_str(hob_json_get_str(hob_test_line(c, 1), "origin"), "workspace");
}

/* SEC-01: every way a definition could start something, and a pipe that could hold it up. */
static void test_cli_agents__nothing_is_run_and_nothing_waits(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, ".claude");
    hob_test_mkdir(&c->folder, ".claude/agents");
    hob_test_mkdir(&c->folder, ".claude/skills");
    hob_test_mkdir(&c->folder, ".claude/skills/s");
    hob_test_file(&c->folder, ".claude/agents/a.md",
                  HOB_STR("---\nname: a\ndescription: d\nhooks: {Stop: touch canary}\n"
                          "mcpServers: {x: {command: touch canary}}\n---\n!`touch canary`\n"));
    hob_test_file(&c->folder, ".claude/skills/s/SKILL.md",
                  HOB_STR("---\nname: s\ndescription: d\n---\n!`touch canary`\n"));
    assert_int_equal(mkfifo(hob_test_path(&c->folder, ".claude/agents/pipe.md"), 0600), 0);
    assert_int_equal(HOB_RUN(c, NULL, "agents", "--trust"), 0);
    assert_err_has(c, "pipe.md: is not a regular file");
    assert_int_equal(HOB_RUN(c, NULL, "skills", "--trust"), 0);
    /* The leak checker of a sanitizer build cannot work beside strace. */
    assert_int_equal(hob_test_shell(c, "ASAN_OPTIONS=detect_leaks=0 strace -f -qq -e trace=execve "
                                       "-o trace \"$HOB\" agents --trust && "
                                       "test $(grep -c execve trace) = 1"),
                     0);
    struct stat st;
    assert_int_equal(stat(hob_test_path(&c->folder, "canary"), &st), -1);
}

static const char echo[] = "{'rules':[{'when':{'system':{'contains':'You look.'}},"
                           "'reply':[{'text':'looker {{user}}'}]}],'otherwise':[{'text':'hob'}]}";

static void test_cli_agents__a_run_is_that_agent(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "m.json", echo);
    hob_test_mkdir(&c->folder, "home/agents");
    hob_test_file(&c->folder, "home/agents/looker.md", AGENT("looker"));
    assert_int_equal(
        HOB_RUN(c, NULL, "-p", "--json", "-m", "scripted:m.json", "--agent", "looker", "at me"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "agent"), "looker");
    assert_str(hob_json_get_str(hob_test_line(c, -1), "text"), "looker at me");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "again"), 0); /* it is still that agent */
    assert_out(c, "looker again\n");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-c", "--agent", "", "now?"), 0);
    assert_out(c, "hob\n");
}

static void test_cli_agents__an_agent_that_cannot_be_is_7(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "m.json", echo);
    hob_test_mkdir(&c->folder, "home/agents");
    hob_test_file(&c->folder, "home/agents/looker.md", AGENT("looker"));
    hob_test_mkdir(&c->folder, ".hob");
    hob_test_mkdir(&c->folder, ".hob/agents");
    hob_test_file(&c->folder, ".hob/agents/guest.md", AGENT("guest"));
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:m.json", "--agent", "loker", "x"), 7);
    assert_err_has(c, "there is no agent loker; did you mean looker?");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:m.json", "--agent", "guest", "x"), 7);
    assert_err_has(c, "not trusted in this run (look at it, then give --trust)");
    assert_int_equal(
        HOB_RUN(c, NULL, "-p", "-m", "scripted:m.json", "--agent", "guest", "--trust", "x"), 0);
    assert_out(c, "looker x\n");
}

static void test_cli_agents__takes_no_words(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "agents", "list"), 2);
    assert_err_has(c, "hob agents takes no words");
    assert_int_equal(HOB_RUN(c, NULL, "skills", "--help"), 0);
    assert_out_has(c, "skills and prompt templates");
}

int main(void) {
#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_cli_agents__##name, hob_test_cli_setup,                   \
                                    hob_test_cli_teardown)
    const struct CMUnitTest tests[] = {
        T(none_is_said_so),
        T(the_users_own_are_live),
        T(a_workspace_is_data_until_it_is_trusted),
        T(bad_files_are_told_with_their_line),
        T(skills_and_commands),
        T(the_configuration_has_agents_too),
        T(those_of_a_workspace_wait_for_trust),
        T(nothing_is_run_and_nothing_waits),
        T(a_run_is_that_agent),
        T(an_agent_that_cannot_be_is_7),
        T(takes_no_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
