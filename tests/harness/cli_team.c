/* What `hob -p` shows when several agents work in one run. */
#include "support/check.h"
#include "support/cli.h"

static const char desk[] =
    "name: desk\n"
    "description: two side by side, then one\n"
    "kind: sequential\n"
    "agents:\n"
    "  - name: both\n"
    "    description: side by side\n"
    "    kind: parallel\n"
    "    agents:\n"
    "      - {name: left, description: l, prompt: I am left, output_key: l}\n"
    "      - {name: right, description: r, prompt: I am right, output_key: r}\n"
    "  - name: editor\n"
    "    description: sums up\n"
    "    prompt: 'Sum up {l} and {r}'\n";

static const char script[] =
    "{'defaults':{'chunk':4,'delay_ms':1},'rules':["
    "{'when':{'system':'I am left','step':1},'reply':[{'text':'I look.'},{'tool':'read','args':{'path':'a.txt'}}]},"
    "{'when':{'system':'I am left'},'reply':[{'text':'the left side of it'}]},"
    "{'when':{'system':'I am right'},'reply':[{'text':'the right side of it'}]},"
    "{'when':{'system':'Sum up the left side of it and the right side of it'},'reply':[{'text':'both sides'}]}]}";

static int setup(void **state) {
    if (hob_test_cli_setup(state) != 0) return -1;
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, "home/agents");
    hob_test_file(&c->folder, "home/agents/desk.yaml", hob_str_z(desk));
    hob_test_file(&c->folder, "a.txt", hob_str_z("alpha\n"));
    hob_test_quoted_file(c, "script.json", script);
    return 0;
}

#define ARGS "-p", "-m", "scripted:script.json", "--agent", "desk", "go"

/* The last answer is the run's; what was answered before it is told on standard error. */
static void test_harness_cli_team__into_a_pipe_goes_the_last_answer(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, ARGS), 0);
    assert_out(c, "both sides\n");
    assert_err_has(c, "left: the left side of it");
    assert_err_has(c, "right: the right side of it");
    assert_err_has(c, "left: read a.txt");
    assert_err_has(c, "left: I look.");
}

/* Each answer in one piece, below the name of who gives it. */
static void test_harness_cli_team__a_terminal_shows_who_speaks(void **state) {
    hob_test_cli *c = *state;
    c->terminal = true;
    assert_int_equal(HOB_RUN(c, NULL, ARGS), 0);
    assert_out_has(c, "the left side of it");
    assert_out_has(c, "the right side of it");
    const char *name = strstr(hob_buf_z(&c->out), "editor");
    assert_non_null(name);
    assert_non_null(strstr(name, "both sides"));
}

static void test_harness_cli_team__events_say_whose_they_are(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, ARGS, "--json"), 0);
    size_t left = 0;
    for (size_t i = 0; hob_test_typed(c, "assistant_message", i); i++) {
        const hob_json *e = hob_test_typed(c, "assistant_message", i);
        left += hob_str_eqz(hob_json_get_str(e, "agent"), "left") &&
                hob_str_eqz(hob_json_get_str(e, "branch"), "both.left");
    }
    assert_int_equal(left, 2);
    assert_str(hob_json_get_str(hob_test_line(c, -1), "text"), "both sides");
}

static void check_story(hob_test_cli *c) {
    assert_out_has(c, "> go\n");
    assert_out_has(c, "- left: I look.\n");
    assert_out_has(c, "* left: read a.txt\n");
    assert_out_has(c, "- left: the left side of it\n");
    assert_out_has(c, "- right: the right side of it\n");
    assert_out_has(c, "- editor: both sides\n");
}

static void test_harness_cli_team__what_is_stored_says_who_spoke(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, ARGS, "--json", "--session-id", "told"), 0);
    char *run = hob_dupz(hob_json_get_str(hob_test_line(c, -1), "run_id"));
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "told"), 0);
    check_story(c);
    assert_int_equal(HOB_RUN(c, NULL, "runs", "show", run), 0);
    check_story(c);
    hob_free(run);
}

/* Rules of the folder, where it is and which skills there are hold for all; a skill's list only for those who can load it. */
static void test_harness_cli_team__agents_see_what_stands_around_them(void **state) {
    hob_test_cli *c = *state;
    hob_test_file(&c->folder, "AGENTS.md", HOB_STR("Write in French.\n"));
    hob_test_mkdir(&c->folder, "home/skills");
    hob_test_mkdir(&c->folder, "home/skills/pdf");
    hob_test_file(&c->folder, "home/skills/pdf/SKILL.md",
                  HOB_STR("---\nname: pdf\ndescription: Reads PDF\n---\nBody\n"));
    hob_test_file(
        &c->folder, "home/agents/duo.yaml",
        HOB_STR("name: duo\ndescription: d\nkind: sequential\nagents:\n"
                "  - {name: free, description: f, prompt: I am free}\n"
                "  - {name: bound, description: b, prompt: I am bound, tools: [read]}\n"));
    hob_test_quoted_file(
        c, "script.json",
        "{'rules':["
        "{'when':{'system':{'contains':['I am free','Write in French.','working folder: ','- pdf: '],"
        "'absent':'You are hob'}},'reply':[{'text':'free sees all'}]},"
        "{'when':{'system':{'contains':['I am bound','Write in French.','working folder: '],"
        "'absent':['You are hob','- pdf: ']}},'reply':[{'text':'bound sees the rest'}]}]}");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:script.json", "--agent", "duo", "go"),
                     0);
    assert_out(c, "bound sees the rest\n");
    assert_err_has(c, "free: free sees all");
}

/* What is told on standard error stands in the order in which it happened, answers that were not the last included. */
static void test_harness_cli_team__remarks_stand_in_their_order(void **state) {
    hob_test_cli *c = *state;
    static const char *const wanted[] = {"writer: a draft", "checker: read a.txt", "checker: fine",
                                         "editor: read a.txt"};
    hob_test_file(&c->folder, "home/agents/line.yaml",
                  HOB_STR("name: line\n"
                          "description: one after the other\n"
                          "kind: sequential\n"
                          "agents:\n"
                          "  - {name: writer, description: w, prompt: I write}\n"
                          "  - {name: checker, description: c, prompt: I check}\n"
                          "  - {name: editor, description: e, prompt: I edit}\n"));
    hob_test_quoted_file(
        c, "line.json",
        "{'rules':[{'when':{'system':'I write'},'reply':[{'text':'a draft'}]},"
        "{'when':{'step':1},'reply':[{'tool':'read','args':{'path':'a.txt'}}]},"
        "{'when':{'system':'I check'},'reply':[{'text':'fine'}]}],'otherwise':[{'text':'the text'}]}");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "-m", "scripted:line.json", "--agent", "line", "go"),
                     0);
    assert_out(c, "the text\n");
    const char *at = hob_buf_z(&c->err);
    for (size_t i = 0; i < HOB_ARRAY_LEN(wanted); i++) {
        const char *found = strstr(at, wanted[i]);
        if (!found) fail_msg("'%s' is not where it should be: %s", wanted[i], hob_buf_z(&c->err));
        at = found + strlen(wanted[i]);
    }
    assert_null(strstr(hob_buf_z(&c->err), "the text"));
}

/* Markdown for people says who spoke and who worked. */
static void test_harness_cli_team__an_export_names_the_agents(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, ARGS), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "export", "--format", "markdown"), 0);
    assert_out_has(c, "## User\n\ngo\n");
    assert_out_has(c, "## Assistant (left)\n\nI look.\n");
    assert_out_has(c, "**Tool** `read` (left)\n");
    assert_out_has(c, "**Result** (ok, left)\n");
    assert_out_has(c, "## Assistant (editor)\n\nboth sides\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_harness_cli_team__agents_see_what_stands_around_them,
                                        setup, hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_harness_cli_team__into_a_pipe_goes_the_last_answer,
                                        setup, hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_harness_cli_team__a_terminal_shows_who_speaks, setup,
                                        hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_harness_cli_team__what_is_stored_says_who_spoke, setup,
                                        hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_harness_cli_team__events_say_whose_they_are, setup,
                                        hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_harness_cli_team__remarks_stand_in_their_order, setup,
                                        hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_harness_cli_team__an_export_names_the_agents, setup,
                                        hob_test_cli_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
