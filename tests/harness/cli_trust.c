/* Trust: given by a person at a terminal, remembered for one folder, and never by or for a run on its own. */
#include "support/cli.h"

#include "support/check.h"

static int setup(void **state) {
    hob_test_cli_setup(state);
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "m.json", "{'otherwise':[{'text':'<{{user}}>'}]}");
    hob_test_mkdir(&c->folder, ".hob");
    hob_test_mkdir(&c->folder, ".hob/commands");
    hob_test_file(&c->folder, ".hob/commands/hi.md", HOB_STR("say hello"));
    hob_test_env(c, "NO_COLOR=1");
    return 0;
}

#define MODEL "-m", "scripted:m.json"

static void give(hob_test_cli *c) {
    c->terminal = true;
    assert_int_equal(HOB_RUN(c, NULL, "trust"), 0);
    c->terminal = false;
}

static void test_cli_trust__is_given_at_a_terminal_only(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "trust"), 2);
    assert_err_has(c, "trust is given by a person at a terminal");
    assert_int_equal(HOB_RUN(c, NULL, "trust", "--list"), 0);
    assert_out(c, "");
}

static void test_cli_trust__is_listed_and_taken_back(void **state) {
    hob_test_cli *c = *state;
    give(c);
    assert_int_equal(HOB_RUN(c, NULL, "trust", "--list"), 0);
    assert_int_equal(hob_test_shell(c, "test \"$(\"$HOB\" trust --list)\" = \"$(pwd -P)\""), 0);
    assert_int_equal(HOB_RUN(c, NULL, "skills"), 0);
    assert_out_has(c, "hi    command  live");
    assert_int_equal(HOB_RUN(c, NULL, "trust", "--remove"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "trust", "--remove"), 7);
    assert_int_equal(HOB_RUN(c, NULL, "skills"), 0);
    assert_out_has(c, "hi    command  untrusted");
}

/* SEC-04 */
static void test_cli_trust__sec_04_a_run_on_its_own_takes_only_the_flag(void **state) {
    hob_test_cli *c = *state;
    give(c);
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "/hi"), 0);
    assert_out(c, "</hi>\n");
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "--trust", "/hi"), 0);
    assert_out(c, "<say hello>\n");
}

/* A run of an agent of this folder that waits for an approval. */
static void leave_open(hob_test_cli *c) {
    hob_test_quoted_file(
        c, "w.json",
        "{'rules':[{'when':{'step':1},'reply':[{'tool':'write',"
        "'args':{'path':'w.txt','content':'x'}}]}],'otherwise':[{'text':'done'}]}");
    hob_test_mkdir(&c->folder, ".hob/agents");
    hob_test_file(&c->folder, ".hob/agents/pen.yaml",
                  HOB_STR("name: pen\ndescription: d\nkind: sequential\nagents:\n"
                          "  - {name: nib, description: n, prompt: I write}\n"));
    c->terminal = true;
    HOB_START(c, "-m", "scripted:w.json", "--session-id", "open", "--agent", "pen", "--trust",
              "go");
    hob_test_until(c, "or why not: ");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
    c->terminal = false;
}

static void test_cli_trust__a_resumed_run_takes_the_flag_too(void **state) {
    hob_test_cli *c = *state;
    leave_open(c);
    assert_int_equal(HOB_RUN(c, NULL, "runs", "resume", "open"), 7);
    assert_err_has(c, "then give --trust");
    assert_int_equal(HOB_RUN(c, NULL, "runs", "resume", "open", "--trust"), 5);
    assert_err_has(c, "a call waits for an approval");
}

static void test_cli_trust__a_run_resumed_at_a_terminal_uses_what_is_remembered(void **state) {
    hob_test_cli *c = *state;
    leave_open(c);
    give(c);
    c->terminal = true;
    HOB_START(c, "runs", "resume", "open");
    hob_test_until(c, "or why not: ");
    hob_test_send(c, "y\n");
    hob_test_until(c, "done");
    hob_test_send(c, "\004");
    assert_int_equal(hob_test_end(c), 0);
    assert_str(hob_test_content(&c->folder, "w.txt"), "x");
}

static void test_cli_trust__a_conversation_asks_once(void **state) {
    hob_test_cli *c = *state;
    c->terminal = true;
    HOB_START(c, MODEL);
    hob_test_until(c, "trust it? [y/N] ");
    assert_out_has(c, "command hi (.hob/commands/hi.md)");
    hob_test_send(c, "y\n");
    hob_test_until(c, "\n> ");
    hob_test_send(c, "/hi\n");
    hob_test_until(c, "<say hello>");
    hob_test_send(c, "/quit\n");
    assert_int_equal(hob_test_end(c), 0);
    HOB_START(c, MODEL);
    hob_test_until(c, "> ");
    hob_test_send(c, "/help\n");
    hob_test_until(c, "/hi             say hello");
    hob_test_send(c, "/quit\n");
    assert_int_equal(hob_test_end(c), 0);
    assert_false(hob_test_out_has(c, "trust it?"));
}

static void test_cli_trust__anything_but_yes_is_no(void **state) {
    hob_test_cli *c = *state;
    c->terminal = true;
    HOB_START(c, MODEL);
    hob_test_until(c, "trust it? [y/N] ");
    hob_test_send(c, "\n");
    hob_test_until(c, "\n> ");
    hob_test_send(c, "/hi\n");
    hob_test_until(c, "</hi>");
    hob_test_send(c, "/quit\n");
    assert_int_equal(hob_test_end(c), 0);
    c->terminal = false;
    assert_int_equal(HOB_RUN(c, NULL, "trust", "--list"), 0);
    assert_out(c, "");
}

static void test_cli_trust__nothing_to_trust_is_not_asked_about(void **state) {
    hob_test_cli *c = *state;
    c->terminal = true;
    assert_int_equal(hob_test_shell(c, "rm -r .hob"), 0);
    HOB_START(c, MODEL);
    hob_test_until(c, "> ");
    hob_test_send(c, "/quit\n");
    assert_int_equal(hob_test_end(c), 0);
    assert_false(hob_test_out_has(c, "trust it?"));
}

int main(void) {
#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_cli_trust__##name, setup, hob_test_cli_teardown)
    const struct CMUnitTest tests[] = {
        T(is_given_at_a_terminal_only),
        T(is_listed_and_taken_back),
        T(sec_04_a_run_on_its_own_takes_only_the_flag),
        T(a_conversation_asks_once),
        T(anything_but_yes_is_no),
        T(nothing_to_trust_is_not_asked_about),
        T(a_resumed_run_takes_the_flag_too),
        T(a_run_resumed_at_a_terminal_uses_what_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
