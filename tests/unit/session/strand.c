/* Two agents at work in one session: the session's own, and another on a branch. */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"

typedef struct pair {
    host r;
    hob_run run; /* of the other agent */
    hob_strand *st;
    int timers;
} pair;

static void pair_init(pair *p, const char *script) {
    *p = (pair){.st = NULL};
    host_init(&p->r, script);
}

static void pair_finish(pair *p) {
    host_finish(&p->r);
    hob_run_finish(&p->run);
}

static void on_loop(pair *p, void (*start)(hob_op *)) {
    hob_op op = {.start = start, .s = p->r.s, .user = p};
    assert_ok(hob_op_run(p->r.rt, &op, &p->r.err), p->r.err);
}

static int prompt(hob_strand *st, hob_error *err) {
    hob_input in = {.kind = HOB_INPUT_PROMPT,
                    .content = HOB_STR("[{\"type\":\"text\",\"text\":\"go\"}]")};
    return hob_strand_input(st, &in, err);
}

static void start_pair(hob_op *op) {
    pair *p = op->user;
    hob_session *s = op->s;
    hob_error err;
    hob_run_init(&p->run, hob_str_z(s->id));
    p->run.agent = HOB_STR("helper");
    p->run.branch = HOB_STR("team.helper");
    p->run.last_seq = s->view->last_seq;
    p->st = hob_strand_create(s, &p->run, p->run.agent, p->run.branch);
    p->st->system = HOB_STR("you are the helper");
    int rc = hob_session_say_settings(s, &err);
    if (rc >= 0) rc = prompt(&s->own, &err);
    if (rc >= 0) rc = prompt(p->st, &err);
    if (rc < 0)
        hob_op_done(op, rc, &err);
    else
        hob_session_op_after(s, op);
}

static void pair_start(pair *p) {
    host_open(&p->r);
    on_loop(p, start_pair);
}

static void start_drop(hob_op *op) {
    pair *p = op->user;
    hob_strand_destroy(p->st);
    p->st = NULL;
    hob_op_done(op, HOB_OK, NULL);
}

/* ---- what a reader sees of it ---------------------------------------------------------------------------- */

typedef struct message {
    char id[32], branch[32];
    hob_buf text;
    bool opened, ended;
} message;

typedef struct watch {
    message at[8];
    size_t n, both; /* deltas of one while another was open, too */
} watch;

static message *find(watch *w, hob_event *e) {
    char id[32];
    hob_event_field(e, "message", id, sizeof id);
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->at[i].id, id)) return &w->at[i];
    fail_msg("%s comes before its model_call_started", id);
    return NULL;
}

static void begin(watch *w, hob_event *e) {
    assert_true(w->n < HOB_ARRAY_LEN(w->at));
    message *m = &w->at[w->n++];
    hob_event_field(e, "message", m->id, sizeof m->id);
    snprintf(m->branch, sizeof m->branch, "%.*s", HOB_FMT(e->branch));
    hob_buf_init(&m->text, 64u << 20);
}

static void grow(watch *w, message *m, hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *d = hob_event_parse(e, a);
    size_t open = 0;
    assert_int_equal(hob_json_get_int(d, "offset", -1), m->text.n); /* no gap, no double */
    hob_buf_add(&m->text, hob_json_get_str(d, "text"));
    for (size_t i = 0; i < w->n; i++) open += w->at[i].opened && !w->at[i].ended;
    w->both += open > 1;
    hob_arena_destroy(a);
}

static void compare(const message *m, hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *content = hob_json_get(hob_event_parse(e, a), "content");
    hob_str text = hob_json_get_str(hob_json_first(content), "text");
    assert_true(hob_str_eq(text, hob_buf_str(&m->text)));
    hob_arena_destroy(a);
}

static void see(watch *w, hob_event *e) {
    hob_event_type type = hob_event_type_of(e);
    if (type == HOB_EVENT_MODEL_CALL_STARTED) begin(w, e);
    if (type != HOB_EVENT_MESSAGE_OPEN && type != HOB_EVENT_TEXT_DELTA &&
        type != HOB_EVENT_ASSISTANT_MESSAGE)
        return;
    message *m = find(w, e);
    assert_str(e->branch, m->branch);
    assert_str(e->agent, m->branch[0] ? "helper" : "");
    assert_false(m->ended);
    assert_int_equal(m->opened, type != HOB_EVENT_MESSAGE_OPEN);
    m->opened = true;
    m->ended = type == HOB_EVENT_ASSISTANT_MESSAGE;
    if (type == HOB_EVENT_TEXT_DELTA) grow(w, m, e);
    if (m->ended) compare(m, e);
}

/* Reads until nothing more will come, or until the other agent's text was seen. */
static void read_on(pair *p, watch *w, bool until_helper) {
    hob_event *e;
    bool found = false;
    int rc = 1;
    while (!found && (rc = hob_session_next_event(p->r.s, 30000, &e)) == 1) {
        see(w, e);
        found = until_helper && hob_event_type_of(e) == HOB_EVENT_TEXT_DELTA && e->branch.n;
        hob_event_unref(e);
    }
    assert_int_equal(rc, until_helper);
}

static void watch_finish(watch *w) {
    for (size_t i = 0; i < w->n; i++) hob_buf_finish(&w->at[i].text);
}

static void start_check_forgotten(hob_op *op) {
    bool kept = !hob_list_empty(&op->s->reader.sent);
    hob_op_done(op, kept ? HOB_EBUSY : HOB_OK, NULL);
}

static const char two_voices[] =
    "{'rules':[{'when':{'system':'you are the helper'},"
    "'reply':[{'text':'the helper says quite a lot','chunk':3,'delay_ms':1}]},"
    "{'reply':[{'text':'the session itself has much to say, too','chunk':3,'delay_ms':1}]}]}";

/* Each has its own model call, run and answer; their deltas stand between each other and still add up. */
static void test_session_strand__two_answers_stream_at_once(void **state) {
    pair p;
    watch w = {.n = 0};
    (void)state;
    pair_init(&p, two_voices);
    pair_start(&p);
    read_on(&p, &w, false);
    assert_int_equal(w.n, 2);
    assert_true(w.both > 0);
    assert_str(hob_buf_str(&w.at[0].text), "the session itself has much to say, too");
    assert_str(hob_buf_str(&w.at[1].text), "the helper says quite a lot");
    assert_true(w.at[0].ended && w.at[1].ended);
    on_loop(&p, start_check_forgotten);
    watch_finish(&w);
    pair_finish(&p);
}

static const char much[] =
    "{'rules':[{'when':{'system':'you are the helper'},'reply':[{'text':'first','delay_ms':1},"
    "{'delay_ms':20},"
    "{'repeat':{'times':8000,'reply':[{'text':'word after word after word after word after word "
    "after word after word after word'}]}}]},"
    "{'reply':[{'text':'nothing'}]}]}";

/* The reader saw the beginning, stopped reading, and the agent is gone when it goes on. */
static void test_session_strand__what_was_begun_is_read_to_its_end_without_it(void **state) {
    pair p;
    watch w = {.n = 0};
    (void)state;
    pair_init(&p, much);
    pair_start(&p);
    read_on(&p, &w, true);
    assert_string_equal(host_wait(&p.r), "completed");
    on_loop(&p, start_drop);
    read_on(&p, &w, false);
    assert_true(w.at[1].ended && w.at[1].text.n > 2 * HOB_MAILBOX_BYTES);
    on_loop(&p, start_check_forgotten);
    watch_finish(&w);
    pair_finish(&p);
}

/* Nobody read anything while it worked. */
static void test_session_strand__what_nobody_saw_is_read_without_it(void **state) {
    pair p;
    watch w = {.n = 0};
    (void)state;
    pair_init(&p, much);
    pair_start(&p);
    assert_string_equal(host_wait(&p.r), "completed");
    on_loop(&p, start_drop);
    read_on(&p, &w, false);
    assert_int_equal(w.n, 2);
    assert_true(w.at[1].ended && w.at[1].text.n > 2 * HOB_MAILBOX_BYTES);
    watch_finish(&w);
    pair_finish(&p);
}

/* ---- effects ------------------------------------------------------------------------------------------------ */

static void start_count(hob_op *op) {
    pair *p = op->user;
    p->timers = 0;
    HOB_LIST_EACH (it, &op->s->flights)
        p->timers += HOB_CONTAINER(it, hob_flight, link)->kind == HOB_EFFECT_TIMER;
    hob_op_done(op, HOB_OK, NULL);
}

static void start_cancel_helper(hob_op *op) {
    pair *p = op->user;
    hob_input in = {.kind = HOB_INPUT_CANCEL, .ending = HOB_ENDING_CANCEL};
    hob_error err;
    int rc = hob_strand_input(p->st, &in, &err);
    hob_op_done(op, rc, &err);
}

static const char silent[] = "{'otherwise':[{'text':'well','chunk':2},{'wait':true}]}";

/* The same effect of two agents is two effects; the end of one leaves the other at work. */
static void test_session_strand__effects_of_two_agents_are_told_apart(void **state) {
    pair p;
    (void)state;
    pair_init(&p, silent);
    p.r.so.timeout_ms = 600000;
    pair_start(&p);
    hob_event_unref(host_until(&p.r, HOB_EVENT_TEXT_DELTA, NULL, NULL));
    on_loop(&p, start_count);
    assert_int_equal(p.timers, 2);
    on_loop(&p, start_cancel_helper);
    hob_event *e = host_until(&p.r, HOB_EVENT_RUN_FINISHED, "status", "cancelled");
    assert_str(e->branch, "team.helper");
    hob_event_unref(e);
    on_loop(&p, start_count);
    assert_int_equal(p.timers, 1);
    assert_true(hob_session_is_running(p.r.s));
    assert_ok(hob_session_cancel_and_settle(p.r.s, HOB_QUEUED_RETURN, 30000, &p.r.err), p.r.err);
    pair_finish(&p);
}

static const char both_ask[] =
    "{'rules':[{'when':{'step':1},'reply':[{'tool':'danger'}]},{'reply':[{'text':'done'}]}]}";

static int waiting(pair *p) {
    hob_page *page;
    assert_ok(hob_session_pending_confirmations(p->r.s, &page, &p->r.err), p->r.err);
    int n = (int)hob_page_count(page);
    hob_page_destroy(page);
    return n;
}

/* Answers the question of the one or of the other. */
static void answer(pair *p, hob_event *question) {
    char call[64];
    hob_event_field(question, "call", call, sizeof call);
    assert_ok(hob_session_confirm_tool_use(p->r.s, hob_str_z(call), HOB_VERDICT_ALLOW, HOB_STR_NULL,
                                           &p->r.err),
              p->r.err);
}

static void test_session_strand__a_verdict_finds_the_agent_that_asked(void **state) {
    pair p;
    int ran = 0;
    (void)state;
    pair_init(&p, both_ask);
    hob_tool tool = host_tool("danger", HOB_TOOL_UNSAFE, &ran);
    p.r.so.tools = &tool;
    p.r.so.ntools = 1;
    p.r.so.approver = HOB_APPROVER_HOST;
    pair_start(&p);
    hob_event *first = host_until(&p.r, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    hob_event *second = host_until(&p.r, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    assert_int_not_equal(first->branch.n, second->branch.n);
    assert_int_equal(waiting(&p), 2);
    assert_true(hob_session_is_parked(p.r.s));
    answer(&p, second);
    hob_event *done = host_until(&p.r, HOB_EVENT_RUN_FINISHED, NULL, NULL);
    assert_true(hob_str_eq(done->branch, second->branch));
    assert_int_equal(waiting(&p), 1);
    answer(&p, first);
    assert_string_equal(host_wait(&p.r), "completed");
    assert_int_equal(ran, 2);
    hob_event_unref(done);
    hob_event_unref(first);
    hob_event_unref(second);
    pair_finish(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_strand__two_answers_stream_at_once),
        cmocka_unit_test(test_session_strand__what_was_begun_is_read_to_its_end_without_it),
        cmocka_unit_test(test_session_strand__what_nobody_saw_is_read_without_it),
        cmocka_unit_test(test_session_strand__effects_of_two_agents_are_told_apart),
        cmocka_unit_test(test_session_strand__a_verdict_finds_the_agent_that_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
