/* Tools whose work goes on elsewhere: a receipt now, the result later, in this process or another. */
#include "support/agents.h"
#include "support/check.h"
#include "support/host.h"
#include "support/stateful.h"

#include <stdio.h>
#include <string.h>

typedef struct fixture {
    host h;
    hob_tool tool;
    int begun;
    char call[64];
} fixture;

static void begin(const hob_tool_call *call, hob_reply *reply, void *user) {
    fixture *f = user;
    f->begun++;
    snprintf(f->call, sizeof f->call, "%.*s", (int)call->call.n, call->call.p);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("ticket 7"));
}

#define CALL "{'when':{'user':'buy','step':1},'reply':[{'tool':'order','args':{}}]},"

static void init(fixture *f, const char *store, const char *script) {
    memset(f, 0, sizeof *f);
    host_init(&f->h, script);
    f->h.ro.store = store;
    f->tool = (hob_tool)HOB_TOOL_INIT;
    f->tool.name = "order";
    f->tool.description = "orders something";
    f->tool.run = begin;
    f->tool.user = f;
    f->tool.flags = HOB_TOOL_LONG_RUNNING;
    f->h.so.tools = &f->tool;
    f->h.so.ntools = 1;
    f->h.so.permission_mode = "yolo";
}

static int update(fixture *f, const char *call, hob_update what, const char *text) {
    char json[256];
    snprintf(json, sizeof json, "[{\"type\":\"text\",\"text\":\"%s\"}]", text);
    return hob_session_tool_update(f->h.s, hob_str_z(call), what, hob_str_z(json), &f->h.err);
}

/* Whether the conversation has these words; the id of the call that they are of. */
static bool in_history(fixture *f, const char *words, char call[64]) {
    hob_page *page = NULL;
    bool found = false;
    assert_ok(hob_session_history(f->h.s, &page, &f->h.err), f->h.err);
    for (size_t i = 0; i < hob_page_count(page); i++) {
        hob_str row = hob_page_row(page, i);
        const char *id = memmem(row.p, row.n, "\"call\":\"", 8);
        if (!memmem(row.p, row.n, words, strlen(words))) continue;
        if (id && call) sscanf(id, "\"call\":\"%63[^\"]", call);
        found = true;
    }
    hob_page_destroy(page);
    return found;
}

/* ---- case 36 ------------------------------------------------------------------------------------------ */

static void show_replaced(const char *store) {
    fixture f;
    init(&f, store, "{'rules':[" CALL "{'reply':[{'text':'got {{result}}'}]}]}");
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "buy"), "completed");
    assert_string_equal(host_text(&f.h), "ticket 7");
    assert_int_equal(host_count(&f.h, "model_call_started"), 1);
    assert_ok(update(&f, f.call, HOB_UPDATE_RESULT, "a parcel"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "got a parcel");
    assert_int_equal(f.begun, 1);
    assert_non_null(strstr(stateful_event(&f.h, "tool_finished", 0), "ticket 7")); /* kept */
    assert_non_null(strstr(stateful_event(&f.h, "tool_finished", 0), "\"pending\":true"));
    host_finish(&f.h);
}

static void test_session_long_running__case_36_the_result_replaces_the_receipt(void **state) {
    (void)state;
    show_replaced("memory");
    show_replaced("sqlite");
}

static void test_session_long_running__case_36_what_was_said_meanwhile_stays(void **state) {
    fixture f;
    (void)state;
    init(&f, "memory",
         "{'rules':[" CALL "{'when':{'user':'any news'},'reply':[{'text':'not yet'}]},"
         "{'when':{'user':'result of the call to `order` has arrived'},"
         "'reply':[{'text':'it came: {{result}}'}]}]}");
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "buy"), "completed");
    assert_string_equal(host_prompt(&f.h, "any news?"), "completed");
    assert_ok(update(&f, f.call, HOB_UPDATE_RESULT, "a parcel"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_non_null(strstr(host_text(&f.h), "it came"));
    bool receipt = in_history(&f, "ticket 7", NULL), parcel = in_history(&f, "a parcel", NULL),
         meanwhile = in_history(&f, "not yet", NULL);
    assert_true(!receipt && parcel && meanwhile);
    host_finish(&f.h);
}

/* ---- another process ------------------------------------------------------------------------------------- */

static void test_session_long_running__survives_a_restart(void **state) {
    fixture f;
    (void)state;
    init(&f, "sqlite", "{'rules':[" CALL "{'reply':[{'text':'got {{result}}'}]}]}");
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "buy"), "completed");
    host_reopen(&f.h, HOB_UNFINISHED_RESUME);
    assert_ok(update(&f, f.call, HOB_UPDATE_PROGRESS, "half way"), f.h.err);
    host_reopen(&f.h, HOB_UNFINISHED_RESUME);
    assert_ok(update(&f, f.call, HOB_UPDATE_RESULT, "a parcel"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "got a parcel");
    host_reopen(&f.h, HOB_UNFINISHED_RESUME);
    assert_int_equal(update(&f, f.call, HOB_UPDATE_RESULT, "another"), HOB_EEXIST);
    assert_int_equal(f.begun, 1);
    host_finish(&f.h);
}

static void test_session_long_running__goes_on_after_a_crash(void **state) {
    fixture f;
    (void)state;
    init(&f, "sqlite", "{'rules':[" CALL "{'reply':[{'text':'got {{result}}'}]}]}");
    host_run_and_kill(&f.h, "buy", HOB_EVENT_SETTLED, NULL, NULL);
    host_open(&f.h);
    assert_ok(update(&f, "m4.0", HOB_UPDATE_RESULT, "a parcel"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "got a parcel");
    host_finish(&f.h);
}

static void test_session_long_running__a_copy_has_its_own(void **state) {
    fixture f;
    hob_session *original;
    (void)state;
    init(&f, "sqlite", "{'rules':[" CALL "{'reply':[{'text':'got {{result}}'}]}]}");
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "buy"), "completed");
    assert_ok(update(&f, f.call, HOB_UPDATE_PROGRESS, "half way"), f.h.err);
    hob_session_id(f.h.s, f.h.id, sizeof f.h.id);
    original = f.h.s;
    f.h.so.choice = HOB_SESSION_OPEN;
    f.h.so.id = f.h.id;
    f.h.so.flags = HOB_SESSION_FORK;
    host_open(&f.h);
    assert_int_equal(host_count(&f.h, "tool_updated"), 0);
    assert_non_null(strstr(stateful_event(&f.h, "tool_finished", 0), "half way"));
    char id[64] = "";
    assert_true(in_history(&f, "half way", id));
    assert_ok(update(&f, id, HOB_UPDATE_RESULT, "a copy"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "got a copy");
    hob_session_close(original);
    host_finish(&f.h);
}

/* ---- what is refused ---------------------------------------------------------------------------------------- */

static void test_session_long_running__case_38_an_unknown_call_spoils_nothing(void **state) {
    fixture f;
    (void)state;
    init(&f, "sqlite", "{'rules':[" CALL "{'reply':[{'text':'got {{result}}'}]}]}");
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "buy"), "completed");
    int before = host_count(&f.h, "config_changed");
    assert_int_equal(update(&f, "m99.0", HOB_UPDATE_RESULT, "x"), HOB_ENOENT);
    assert_int_equal(update(&f, "nonsense", HOB_UPDATE_RESULT, "x"), HOB_ENOENT);
    assert_int_equal(update(&f, "", HOB_UPDATE_RESULT, "x"), HOB_ENOENT);
    assert_int_equal(host_count(&f.h, "tool_updated"), 0);
    assert_int_equal(host_count(&f.h, "run_started"), 1);
    assert_int_equal(host_count(&f.h, "config_changed"), before);
    assert_ok(update(&f, f.call, HOB_UPDATE_RESULT, "a parcel"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "got a parcel");
    host_finish(&f.h);
}

static void test_session_long_running__a_result_comes_once(void **state) {
    fixture f;
    (void)state;
    init(&f, "memory", "{'rules':[" CALL "{'reply':[{'text':'got {{result}}'}]}]}");
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "buy"), "completed");
    assert_int_equal(hob_session_tool_update(f.h.s, hob_str_z(f.call), HOB_UPDATE_RESULT,
                                             hob_str_z("[]"), &f.h.err),
                     HOB_EINVAL);
    assert_ok(update(&f, f.call, HOB_UPDATE_FAILURE, "sold out"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "got sold out");
    assert_int_equal(update(&f, f.call, HOB_UPDATE_RESULT, "x"), HOB_EEXIST);
    assert_int_equal(update(&f, f.call, HOB_UPDATE_PROGRESS, "x"), HOB_EEXIST);
    host_finish(&f.h);
}

/* ---- agents ---------------------------------------------------------------------------------------------------- */

static hob_agent *agent(const char *name) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.instruction = name;
    return llm_with(&o);
}

static void test_session_long_running__several_results_begin_one_run(void **state) {
    (void)state;
    fixture f;
    init(&f, "memory",
         "{'rules':[{'when':{'user':'buy','step':1},'reply':[{'tool':'order','args':{}},"
         "{'tool':'order','args':{}}]},{'when':{'result':'no paint'},'reply':[{'text':'both'}]}]}");
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "buy"), "completed");
    assert_ok(update(&f, "m4.0", HOB_UPDATE_RESULT_HELD, "a brush"), f.h.err);
    assert_int_equal(hob_session_is_running(f.h.s), 0);
    assert_int_equal(update(&f, "m4.0", HOB_UPDATE_RESULT, "again"), HOB_EEXIST);
    assert_ok(update(&f, "m4.1", HOB_UPDATE_FAILURE, "no paint"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_string_equal(host_text(&f.h), "both");
    assert_int_equal(host_count(&f.h, "run_started"), 2);
    assert_true(in_history(&f, "a brush", NULL));
    host_finish(&f.h);
}

static void test_session_long_running__the_agent_that_made_the_call_goes_on(void **state) {
    fixture f;
    (void)state;
    init(&f, "sqlite",
         "{'rules':[{'when':{'system':'buyer','step':1,'user':{'absent':'arrived'}},"
         "'reply':[{'tool':'order','args':{}}]},"
         "{'when':{'system':'clerk'},'reply':[{'text':'noted'}]},"
         "{'when':{'system':'buyer'},'reply':[{'text':'the buyer has {{result}}'}]}]}");
    hob_agent *team = in_order("shop", agent("buyer"), agent("clerk"), NULL);
    f.h.so.team = team;
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "buy"), "completed");
    assert_string_equal(host_text(&f.h), "noted"); /* the agent has ended, not the run */
    host_reopen(&f.h, HOB_UNFINISHED_RESUME);
    assert_ok(update(&f, f.call, HOB_UPDATE_RESULT, "a parcel"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_non_null(strstr(host_text(&f.h), "the buyer has"));
    assert_int_equal(host_count(&f.h, "agent_started"), 4); /* shop, buyer, clerk; buyer */
    hob_agent_unref(team);
    host_finish(&f.h);
}

/* ---- the last words -------------------------------------------------------------------------------------------- */

static void test_session_long_running__case_57_receipts_and_answers_are_final(void **state) {
    fixture f;
    hob_event *e;
    char finals[256] = "";
    (void)state;
    init(&f, "memory", "{'rules':[" CALL "{'reply':[{'text':'got it'}]}]}");
    host_open(&f.h);
    assert_string_equal(host_prompt(&f.h, "buy"), "completed");
    assert_ok(update(&f, f.call, HOB_UPDATE_RESULT, "a parcel"), f.h.err);
    assert_string_equal(host_wait(&f.h), "completed");
    while (hob_session_next_event(f.h.s, 5000, &e) == 1) {
        char text[64] = "";
        size_t n = strlen(finals);
        hob_event_text(e, text, sizeof text);
        if (hob_event_is_final(e)) snprintf(finals + n, sizeof finals - n, "%s|", text);
        hob_event_unref(e);
    }
    assert_string_equal(finals, "ticket 7|got it|");
    host_finish(&f.h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_long_running__case_36_the_result_replaces_the_receipt),
        cmocka_unit_test(test_session_long_running__case_36_what_was_said_meanwhile_stays),
        cmocka_unit_test(test_session_long_running__survives_a_restart),
        cmocka_unit_test(test_session_long_running__goes_on_after_a_crash),
        cmocka_unit_test(test_session_long_running__a_copy_has_its_own),
        cmocka_unit_test(test_session_long_running__case_38_an_unknown_call_spoils_nothing),
        cmocka_unit_test(test_session_long_running__a_result_comes_once),
        cmocka_unit_test(test_session_long_running__several_results_begin_one_run),
        cmocka_unit_test(test_session_long_running__the_agent_that_made_the_call_goes_on),
        cmocka_unit_test(test_session_long_running__case_57_receipts_and_answers_are_final),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
