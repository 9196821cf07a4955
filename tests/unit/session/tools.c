/* Tools of the host: when they are told to stop, what they may do there, and what changes while they run. */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"

static const char one_call[] =
    "{'rules':[{'when':{'user':'go','step':1},'reply':[{'tool':'a','args':{}}]},"
    "{'reply':[{'text':'{{result}}'}]}]}";

typedef struct probe {
    host r;
    hob_tool tool;
    hob_reply *reply;
    int started, soft, hard, inside; /* inside: what a call on the session says there */
    bool answers;                    /* when it is told to stop */
} probe;

static void run_probe(const hob_tool_call *call, hob_reply *reply, void *user) {
    probe *p = user;
    (void)call;
    p->started++;
    p->reply = reply;
}

static void stop_probe(const hob_tool_call *call, int hard, void *user) {
    probe *p = user;
    assert_str(call->tool, "a"); /* the call can still be read */
    p->soft += !hard;
    p->hard += hard;
    p->inside = hob_session_steer(p->r.s, hob_str_z("x"), NULL);
    if (p->answers) hob_reply_text(p->reply, HOB_OUTCOME_CANCELLED, hob_str_z("stopped"));
    p->answers = false;
}

static void probe_init(probe *p, hob_loop_mode mode) {
    *p = (probe){.answers = false};
    host_init(&p->r, one_call);
    p->r.ro.loop = mode;
    p->tool = (hob_tool)HOB_TOOL_INIT;
    p->tool.name = "a";
    p->tool.description = "never answers by itself";
    p->tool.class_ = HOB_TOOL_READ_ONLY;
    p->tool.run = run_probe;
    p->tool.cancel = stop_probe;
    p->tool.user = p;
    p->r.so.tools = &p->tool;
    p->r.so.ntools = 1;
}

static void probe_start(probe *p) {
    host_open(&p->r);
    assert_ok(hob_session_prompt(p->r.s, hob_str_z("go"), &p->r.err), p->r.err);
    hob_event_unref(host_until(&p->r, HOB_EVENT_TOOL_STARTED, NULL, NULL));
}

/* ---- stopping ---------------------------------------------------------------------------------------- */

static void test_session_tools__a_time_out_stops_the_tool_once(void **state) {
    probe p;
    (void)state;
    probe_init(&p, HOB_LOOP_OWN_THREAD);
    p.tool.timeout_ms = 20;
    p.answers = true;
    probe_start(&p);
    assert_string_equal(host_wait(&p.r), "completed");
    assert_string_equal(host_text(&p.r), "error: the tool gave no answer within 20 ms");
    assert_int_equal(p.hard, 1);
    assert_int_equal(p.soft, 0);
    host_finish(&p.r);
}

static void test_session_tools__cancel_is_soft_and_abort_is_hard(void **state) {
    probe p;
    (void)state;
    probe_init(&p, HOB_LOOP_OWN_THREAD);
    probe_start(&p);
    assert_ok(hob_session_cancel(p.r.s, HOB_QUEUED_RETURN, &p.r.err), p.r.err);
    assert_ok(hob_session_cancel(p.r.s, HOB_QUEUED_RETURN, &p.r.err), p.r.err);
    p.answers = true;
    assert_ok(hob_session_abort(p.r.s, &p.r.err), p.r.err);
    assert_int_equal(p.soft, 1);
    assert_int_equal(p.hard, 1);
    assert_non_null(strstr(host_log(&p.r), "tool_finished m4.0 a cancelled \"stopped\""));
    host_finish(&p.r);
}

/* A call that waits is refused wherever the host's code runs inside hob: it neither hangs nor works. */
static void test_session_tools__no_waiting_inside_cancel(void **state) {
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        probe p;
        probe_init(&p, mode ? HOB_LOOP_HOST : HOB_LOOP_OWN_THREAD);
        probe_start(&p);
        p.answers = true;
        hob_session_detach(p.r.s); /* stops what is under way */
        p.r.s = NULL;
        assert_int_equal(p.hard, 1);
        assert_true(p.inside == HOB_EDEADLK || p.inside == HOB_ECANCELLED);
        host_finish(&p.r);
    }
}

/* ---- output -------------------------------------------------------------------------------------------- */

typedef struct order {
    char names[4096];
    bool output;
    pthread_mutex_t lock;
    pthread_cond_t cond;
} order;

static void note_order(hob_session *s, hob_event *e, void *user) {
    order *o = user;
    (void)s;
    pthread_mutex_lock(&o->lock);
    size_t at = strlen(o->names);
    hob_str name = hob_event_name(e);
    snprintf(o->names + at, sizeof o->names - at, "%.*s ", (int)name.n, name.p);
    o->output = o->output || hob_event_type_of(e) == HOB_EVENT_TOOL_OUTPUT_DELTA;
    pthread_cond_broadcast(&o->cond);
    pthread_mutex_unlock(&o->lock);
}

/* Output reaches a callback while the tool runs. */
static void test_session_tools__output_is_passed_on_at_once(void **state) {
    probe p;
    order o = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    (void)state;
    probe_init(&p, HOB_LOOP_OWN_THREAD);
    probe_start(&p);
    assert_ok(hob_session_on_event(p.r.s, note_order, &o), p.r.err);
    hob_reply_output(p.reply, hob_str_z("half-way"));
    pthread_mutex_lock(&o.lock);
    while (!o.output) pthread_cond_wait(&o.cond, &o.lock);
    pthread_mutex_unlock(&o.lock);
    hob_reply_text(p.reply, HOB_OUTCOME_OK, hob_str_z("done"));
    assert_string_equal(host_wait(&p.r), "completed");
    assert_ok(hob_session_on_event(p.r.s, NULL, NULL), p.r.err);
    host_finish(&p.r);
}

static void talk(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_output(reply, hob_str_z("at once"));
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("done"));
}

/* A reading tool runs before its start is durable; what it says is not shown before its start is. */
static void test_session_tools__no_output_before_the_start(void **state) {
    probe p;
    order o = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    (void)state;
    probe_init(&p, HOB_LOOP_OWN_THREAD);
    p.tool.run = talk;
    p.r.ro.store = "sqlite";
    host_open(&p.r);
    assert_ok(hob_session_on_event(p.r.s, note_order, &o), p.r.err);
    for (int i = 0; i < 10; i++) assert_string_equal(host_prompt(&p.r, "go"), "completed");
    assert_ok(hob_session_on_event(p.r.s, NULL, NULL), p.r.err);
    assert_null(strstr(o.names, "tool_decided tool_output_delta"));
    assert_null(strstr(o.names, "assistant_message tool_output_delta"));
    assert_null(strstr(o.names, "text_delta tool_output_delta"));
    host_finish(&p.r);
}

/* ---- changes in mid-run ------------------------------------------------------------------------------------ */

static const char two_calls[] =
    "{'rules':[{'when':{'step':1},'reply':[{'tool':'a','args':{}}]},"
    "{'when':{'step':2},'reply':[{'tool':'late','args':{}}]},{'reply':[{'text':'{{result}}'}]}]}";

static void test_session_tools__one_that_is_added_in_mid_run_can_be_called(void **state) {
    host r;
    gate g;
    int ran = 0;
    hob_tool late = host_tool("late", HOB_TOOL_READ_ONLY, &ran);
    (void)state;
    host_init(&r, two_calls);
    gate_init(&g, "a", HOB_TOOL_READ_ONLY);
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_add_tool(r.s, &late, &r.err), r.err);
    assert_int_equal(hob_session_add_tool(r.s, &late, &r.err), HOB_EEXIST);
    gate_answer(&g, "go on");
    assert_string_equal(host_wait(&r), "completed");
    assert_string_equal(host_text(&r), "quick result");
    assert_int_equal(ran, 1);
    host_finish(&r);
    gate_finish(&g);
}

/* IMP-18: the answer that is being made is made by the old model, the next one by the new. */
static void test_session_tools__set_model_while_an_answer_streams(void **state) {
    host r;
    gate g;
    char other[400], model[400];
    hob_event *e;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1},'reply':[{'text':'old','delay_ms':50},"
                  "{'tool':'a','args':{}}]},{'reply':[{'text':'still old'}]}]}");
    hob_test_file(&r.folder, "other.json", hob_str_z("{\"otherwise\":[{\"text\":\"new\"}]}"));
    snprintf(other, sizeof other, "scripted:%s/other.json", r.dir);
    gate_init(&g, "a", HOB_TOOL_READ_ONLY);
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    hob_event_unref(host_until(&r, HOB_EVENT_MESSAGE_OPEN, NULL, NULL));
    assert_ok(hob_session_set_model(r.s, other, &r.err), r.err);
    hob_session_model(r.s, model, sizeof model);
    assert_string_equal(model, other);
    e = host_until(&r, HOB_EVENT_ASSISTANT_MESSAGE, NULL, NULL);
    hob_event_field(e, "model", model, sizeof model);
    assert_string_equal(model, r.model);
    hob_event_unref(e);
    gate_wait_started(&g, 1);
    gate_answer(&g, "go on");
    e = host_until(&r, HOB_EVENT_ASSISTANT_MESSAGE, NULL, NULL);
    hob_event_field(e, "model", model, sizeof model);
    assert_string_equal(model, other);
    hob_event_unref(e);
    assert_string_equal(host_wait(&r), "completed");
    assert_string_equal(host_text(&r), "new");
    host_finish(&r);
    gate_finish(&g);
}

/* ---- results ------------------------------------------------------------------------------------------------ */

/* IMP-24: each call has its end, and the loop goes on. */
static void test_session_tools__a_call_that_cannot_run_has_a_result(void **state) {
    host r;
    int ran = 0;
    hob_tool t = host_tool("look", HOB_TOOL_READ_ONLY, &ran);
    const char *const deny[] = {"write", NULL};
    (void)state;
    host_init(
        &r,
        "{'rules':[{'when':{'step':1},'reply':[{'tool':'loook','args':{}},"
        "{'tool':'look','args':{'n':'seven'}},{'tool':'write','args':{'path':'x','content':'y'}},"
        "{'tool':'look','args':{'n':7}}]},{'reply':[{'text':'went on'}]}]}");
    t.schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}";
    r.so.tools = &t;
    r.so.ntools = 1;
    r.so.deny = deny;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_string_equal(host_text(&r), "went on");
    assert_int_equal(ran, 1);
    host_log(&r);
    assert_non_null(
        strstr(r.log, "tool_finished m4.0 loook error \"error: there is no tool loook; did"));
    assert_non_null(strstr(r.log, "tool_finished m4.1 look error"));
    assert_non_null(strstr(r.log, "tool_finished m4.2 write denied"));
    assert_non_null(strstr(r.log, "tool_started m4.3 look\ntool_finished m4.3 look ok"));
    assert_int_equal(host_count(&r, "tool_started"), 1);
    assert_int_equal(host_count(&r, "tool_finished"), 4);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_tools__a_time_out_stops_the_tool_once),
        cmocka_unit_test(test_session_tools__cancel_is_soft_and_abort_is_hard),
        cmocka_unit_test(test_session_tools__no_waiting_inside_cancel),
        cmocka_unit_test(test_session_tools__output_is_passed_on_at_once),
        cmocka_unit_test(test_session_tools__no_output_before_the_start),
        cmocka_unit_test(test_session_tools__one_that_is_added_in_mid_run_can_be_called),
        cmocka_unit_test(test_session_tools__set_model_while_an_answer_streams),
        cmocka_unit_test(test_session_tools__a_call_that_cannot_run_has_a_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
