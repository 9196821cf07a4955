/* Two agents of a workflow at work at once, each a strand, as a reader sees them. */
#include "session/session.h"
#include "support/agents.h"
#include "support/check.h"

typedef struct pair {
    host r;
} pair;

static void pair_init(pair *p, const char *script) {
    host_init(&p->r, script);
}

static void pair_finish(pair *p) {
    team_finish(&p->r);
}

static void on_loop(pair *p, void (*start)(hob_op *)) {
    hob_op op = {.start = start, .s = p->r.s, .user = p};
    assert_ok(hob_op_run(p->r.rt, &op, &p->r.err), p->r.err);
}

static void pair_start(pair *p) {
    team_open(&p->r, side_by_side("team", worker("other", "you are the other", NULL),
                                  worker("helper", "you are the helper", NULL), NULL));
    assert_ok(hob_session_prompt(p->r.s, hob_str_z("go"), &p->r.err), p->r.err);
}

/* ---- what a reader sees of it ---------------------------------------------------------------------------- */

typedef struct message {
    char id[32], agent[32];
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
    snprintf(m->agent, sizeof m->agent, "%.*s", HOB_FMT(e->agent));
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
    assert_str(e->agent, m->agent);
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
        found = until_helper && hob_event_type_of(e) == HOB_EVENT_TEXT_DELTA &&
                hob_str_eqz(e->agent, "helper");
        hob_event_unref(e);
    }
    assert_int_equal(rc, until_helper);
}

static const message *of(const watch *w, const char *agent) {
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->at[i].agent, agent)) return &w->at[i];
    fail_msg("%s said nothing", agent);
    return NULL;
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
    "{'reply':[{'text':'the other one has much to say, too','chunk':3,'delay_ms':1}]}]}";

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
    assert_str(hob_buf_str(&of(&w, "other")->text), "the other one has much to say, too");
    assert_str(hob_buf_str(&of(&w, "helper")->text), "the helper says quite a lot");
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
    read_on(&p, &w, false);
    assert_true(of(&w, "helper")->ended && of(&w, "helper")->text.n > 2 * HOB_MAILBOX_BYTES);
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
    read_on(&p, &w, false);
    assert_int_equal(w.n, 2);
    assert_true(of(&w, "helper")->ended && of(&w, "helper")->text.n > 2 * HOB_MAILBOX_BYTES);
    watch_finish(&w);
    pair_finish(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_strand__two_answers_stream_at_once),
        cmocka_unit_test(test_session_strand__what_was_begun_is_read_to_its_end_without_it),
        cmocka_unit_test(test_session_strand__what_nobody_saw_is_read_without_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
