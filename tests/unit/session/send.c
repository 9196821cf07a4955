/* What servers need of a session: receipts, tools as rows, modes that last, and stored sessions looked at from outside. */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <string.h>

static const char hello[] = "{'otherwise':[{'text':'hello'}]}";
static const char calls[] = "{'rules':[{'when':{'step':1},'reply':[{'tool':'hold'}]}],"
                            "'otherwise':[{'text':'done'}]}";

static hob_str words(const char *text) {
    static char json[256];
    snprintf(json, sizeof json, "[{\"type\":\"text\",\"text\":\"%s\"}]", text);
    return hob_str_z(json);
}

static hob_str row_with(hob_page *p, const char *text) {
    for (size_t i = 0; i < hob_page_count(p); i++)
        if (hob_str_find(hob_page_row(p, i), hob_str_z(text)) >= 0) return hob_page_row(p, i);
    return HOB_STR_NULL;
}

/* The event with the receipt's number is the one about the message. */
static void check_receipt(host *r, const hob_receipt *got, const char *type) {
    hob_page *page;
    hob_event *e;
    char id[64];
    hob_session_id(r->s, id, sizeof id);
    assert_ok(hob_runtime_events(r->rt, id, got->seq - 1, 1, &page, &r->err), r->err);
    assert_ok(hob_event_from_json(hob_page_row(page, 0), &e, &r->err), r->err);
    assert_str(hob_event_name(e), type);
    assert_int_equal(hob_event_seq(e), got->seq);
    assert_str(hob_event_run(e), got->run);
    hob_event_unref(e);
    hob_page_destroy(page);
}

static void test_session_send__tells_what_became_of_each_message(void **state) {
    host r;
    gate g;
    hob_receipt got = HOB_RECEIPT_INIT, second = HOB_RECEIPT_INIT;
    (void)state;
    host_init(&r, calls);
    gate_init(&g, "hold", HOB_TOOL_READ_ONLY);
    r.ro.loop = HOB_LOOP_OWN_THREAD;
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_send(r.s, HOB_SEND_PROMPT, words("go"), &got, &r.err), r.err);
    check_receipt(&r, &got, "run_started");
    gate_wait_started(&g, 1);
    assert_int_equal(hob_session_send(r.s, HOB_SEND_PROMPT, words("again"), &second, &r.err),
                     HOB_EBUSY);
    assert_int_equal(second.seq, 0);
    assert_ok(hob_session_send(r.s, HOB_SEND_STEER, words("left"), &second, &r.err), r.err);
    check_receipt(&r, &second, "steer_queued");
    assert_ok(hob_session_send(r.s, HOB_SEND_FOLLOW_UP, words("then"), &second, &r.err), r.err);
    check_receipt(&r, &second, "follow_up_queued");
    assert_string_equal(got.run, second.run);
    assert_ok(hob_session_cancel_and_settle(r.s, HOB_QUEUED_DROP, -1, &r.err), r.err);
    assert_int_equal(hob_session_send(r.s, HOB_SEND_STEER, words("left"), &second, &r.err),
                     HOB_EIDLE);
    host_finish(&r);
    gate_finish(&g);
}

static void test_session_send__refuses_a_way_that_is_not_there(void **state) {
    host r;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    assert_int_equal(hob_session_send(r.s, (hob_send)9, words("go"), NULL, &r.err), HOB_EINVAL);
    assert_int_equal(hob_session_send(r.s, HOB_SEND_PROMPT, HOB_STR("[]"), NULL, &r.err),
                     HOB_EINVAL);
    host_finish(&r);
}

static void test_session_send__tools_are_rows(void **state) {
    host r;
    hob_page *page;
    int count = 0;
    (void)state;
    host_init(&r, hello);
    hob_tool t = host_tool("quick", HOB_TOOL_IDEMPOTENT, &count);
    r.so.tools = &t;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_tools(r.s, &page, &r.err), r.err);
    hob_str own = row_with(page, "\"name\":\"quick\""), bash = row_with(page, "\"name\":\"bash\"");
    assert_true(hob_str_find(own, HOB_STR("\"class\":\"idempotent\",\"host\":true")) > 0);
    assert_true(hob_str_find(bash, HOB_STR("\"host\":false")) > 0);
    hob_page_destroy(page);
    host_finish(&r);
}

static void test_session_send__a_saved_session_stays_though_nothing_was_said(void **state) {
    host r;
    hob_page *page;
    char id[2][64];
    (void)state;
    host_init(&r, hello);
    for (int i = 0; i < 2; i++) {
        if (i == 0) host_open(&r);
        if (i == 1) assert_ok(hob_session_create(r.rt, &r.so, &r.s, &r.err), r.err);
        hob_session_id(r.s, id[i], sizeof id[i]);
        if (i == 1) assert_ok(hob_session_save(r.s, &r.err), r.err);
        hob_session_detach(r.s);
        r.s = NULL;
    }
    assert_int_equal(hob_runtime_find_session(r.rt, id[0], &page, &r.err), HOB_ENOENT);
    assert_ok(hob_runtime_find_session(r.rt, id[1], &page, &r.err), r.err);
    hob_page_destroy(page);
    host_finish(&r);
}

/* Opens the session of the log again and says which mode it has. */
static const char *mode_of(host *r, unsigned flags, const char *mode) {
    static char word[32];
    hob_page *page;
    host_close(r);
    r->so.flags = flags;
    r->so.permission_mode = mode;
    host_open(r);
    assert_ok(hob_session_info(r->s, &page, &r->err), r->err);
    hob_json_field(hob_page_row(page, 0), "permission_mode", word, sizeof word);
    hob_page_destroy(page);
    return word;
}

static void test_session_send__a_kept_mode_is_never_wider_than_what_is_allowed(void **state) {
    host r;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    r.so.permission_mode = "accept-edits";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    hob_session_id(r.s, r.id, sizeof r.id);
    r.so.choice = HOB_SESSION_OPEN;
    r.so.id = r.id;
    assert_string_equal(mode_of(&r, HOB_SESSION_KEEP_MODE, NULL), "accept-edits");
    assert_string_equal(mode_of(&r, HOB_SESSION_KEEP_MODE, "yolo"), "accept-edits");
    assert_string_equal(mode_of(&r, HOB_SESSION_KEEP_MODE, "ask"), "ask");
    assert_string_equal(mode_of(&r, 0, "yolo"), "yolo");
    host_finish(&r);
}

static void test_session_send__a_stored_conversation_is_what_the_open_one_is(void **state) {
    host r;
    hob_page *open, *stored;
    (void)state;
    host_init(&r, calls);
    int count = 0;
    hob_tool t = host_tool("hold", HOB_TOOL_READ_ONLY, &count);
    r.so.tools = &t;
    r.so.ntools = 1;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    hob_session_id(r.s, r.id, sizeof r.id);
    assert_ok(hob_session_history(r.s, &open, &r.err), r.err);
    assert_ok(hob_runtime_history(r.rt, r.id, &stored, &r.err), r.err);
    assert_int_equal(hob_page_count(open), 4);
    assert_int_equal(hob_page_count(stored), 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(hob_str_eq(hob_page_row(open, i), hob_page_row(stored, i)));
    hob_page_destroy(open);
    hob_page_destroy(stored);
    host_finish(&r);
}

static size_t waiting(host *r, hob_str *row, hob_page **page) {
    assert_ok(hob_runtime_pending_confirmations(r->rt, r->id, page, &r->err), r->err);
    *row = hob_page_row(*page, 0);
    return hob_page_count(*page);
}

static void test_session_send__what_waits_in_a_stored_session_is_seen(void **state) {
    host r;
    hob_page *open, *stored;
    hob_str row;
    hob_event *e;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1},'reply':[{'tool':'write','args':{'path':'a',"
                  "'content':'b'}}]}],'otherwise':[{'text':'done'}]}");
    r.so.approver = HOB_APPROVER_HOST;
    host_open(&r);
    hob_session_id(r.s, r.id, sizeof r.id);
    assert_ok(hob_session_prompt(r.s, HOB_STR("go"), &r.err), r.err);
    e = host_until(&r, HOB_EVENT_APPROVAL_REQUESTED, NULL, NULL);
    hob_event_unref(e);
    assert_ok(hob_session_pending_confirmations(r.s, &open, &r.err), r.err);
    assert_int_equal(waiting(&r, &row, &stored), 1);
    assert_true(hob_str_eq(hob_page_row(open, 0), row));
    hob_page_destroy(open);
    hob_page_destroy(stored);
    assert_int_equal(hob_session_cancel_confirmations(r.s, &r.err), 1);
    assert_int_equal(waiting(&r, &row, &stored), 0);
    hob_page_destroy(stored);
    host_finish(&r);
}

typedef struct seen {
    char names[2000];
    uint64_t last;
    int out_of_order;
} seen;

static void on_watched(hob_event *e, void *user) {
    seen *x = user;
    size_t n = strlen(x->names);
    snprintf(x->names + n, sizeof x->names - n, "%.*s ", HOB_FMT(hob_event_name(e)));
    x->out_of_order += hob_event_seq(e) != x->last + 1;
    x->last = hob_event_seq(e);
}

static void test_session_send__a_watcher_sees_each_durable_event_once(void **state) {
    host r;
    seen x = {.last = 0};
    (void)state;
    host_init(&r, hello);
    r.ro.loop = HOB_LOOP_OWN_THREAD;
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    assert_ok(hob_runtime_watch(r.rt, on_watched, &x, &r.err), r.err);
    host_open(&r);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_ok(hob_runtime_unwatch(r.rt, on_watched, &x, &r.err), r.err);
    assert_string_equal(x.names, "session_opened run_started user_message model_call_started "
                                 "assistant_message run_finished settled ");
    assert_int_equal(x.out_of_order, 0);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_int_equal(x.last, 7);
    host_finish(&r);
}

static int64_t count_of(host *r, const char *text) {
    hob_page *page;
    char id[64];
    int64_t n = 0;
    hob_session_id(r->s, id, sizeof id);
    assert_ok(hob_runtime_events(r->rt, id, 0, 0, &page, &r->err), r->err);
    for (size_t i = 0; i < hob_page_count(page); i++)
        n += hob_str_find(hob_page_row(page, i), hob_str_z(text)) >= 0;
    hob_page_destroy(page);
    return n;
}

/* Who pays stands where the run begins and in each answer; a key where the message is taken. */
static void test_session_send__the_log_says_for_whom(void **state) {
    host r;
    hob_send_opts o = HOB_SEND_OPTS_INIT;
    hob_receipt got = HOB_RECEIPT_INIT;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    o.content = words("hi");
    o.payer = HOB_STR("ann");
    o.key = HOB_STR("k1");
    assert_ok(hob_session_send_with(r.s, &o, &got, &r.err), r.err);
    assert_ok(hob_session_wait(r.s, 30000, NULL, &r.err), r.err);
    assert_int_equal(count_of(&r, "\"payer\":\"ann\""), 2);
    assert_int_equal(count_of(&r, "\"key\":\"k1\""), 1);
    assert_string_equal(host_prompt(&r, "again"), "completed"); /* nobody's */
    assert_int_equal(count_of(&r, "\"payer\""), 2);
    char text[130];
    memset(text, 'x', sizeof text);
    o.payer = hob_str_n(text, 129);
    assert_int_equal(hob_session_send_with(r.s, &o, &got, &r.err), HOB_EINVAL);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_send__tells_what_became_of_each_message),
        cmocka_unit_test(test_session_send__refuses_a_way_that_is_not_there),
        cmocka_unit_test(test_session_send__the_log_says_for_whom),
        cmocka_unit_test(test_session_send__tools_are_rows),
        cmocka_unit_test(test_session_send__a_saved_session_stays_though_nothing_was_said),
        cmocka_unit_test(test_session_send__a_kept_mode_is_never_wider_than_what_is_allowed),
        cmocka_unit_test(test_session_send__a_stored_conversation_is_what_the_open_one_is),
        cmocka_unit_test(test_session_send__what_waits_in_a_stored_session_is_seen),
        cmocka_unit_test(test_session_send__a_watcher_sees_each_durable_event_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
