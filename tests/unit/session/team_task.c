/* Agents of a team that hand tasks to sub-agents. */
#include "support/agents.h"
#include "support/check.h"
#include "support/host.h"

#include <string.h>

static hob_agent *speaker(const char *name, const char *instruction) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.instruction = instruction;
    return llm_with(&o);
}

static const char script[] =
    "{'rules':["
    "{'when':{'system':'You are number one','user':{'contains':'the child says'}},'reply':[{'text':'heard'}]},"
    "{'when':{'system':'You are number one','step':1},'reply':[{'tool':'task','args':{'agent':'general',"
    "'prompt':'look','background':true}}]},"
    "{'when':{'system':'You are number one'},'reply':[{'text':'waiting'}]},"
    "{'when':{'system':'You are number two'},'reply':[{'text':'the end'}]}],"
    "'otherwise':[{'delay_ms':20},{'text':'the child says so'}]}";

static const char *place(const char *log, const char *what) {
    const char *at = strstr(log, what);
    assert_non_null(at);
    return at;
}

/* The one who started it hears of it, before the next one begins; the work does not begin anew. */
static void test_session_team_task__a_task_in_the_background_is_its_agents(void **state) {
    host h;
    (void)state;
    host_init(&h, script);
    h.so.team = in_order("both", speaker("one", "You are number one"),
                         speaker("two", "You are number two"), NULL);
    hob_agent *team = h.so.team;
    host_open(&h);
    assert_string_equal(host_prompt(&h, "go"), "completed");
    assert_string_equal(host_text(&h), "the end");
    const char *log = host_log(&h);
    assert_int_equal(host_count(&h, "agent_started"), 3);
    assert_int_equal(host_count(&h, "child_finished"), 1);
    log = host_log(&h);
    assert_true(place(log, "child_finished") < place(log, "the end"));
    assert_true(place(log, "child_reported") < place(log, "heard"));
    assert_true(place(log, "heard") < place(log, "the end"));
    host_finish(&h);
    hob_agent_unref(team);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team_task__a_task_in_the_background_is_its_agents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
