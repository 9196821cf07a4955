/* An unfinished run that was left alone stays alone until somebody decides; and logs that end in odd places. */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"
#include "support/stores.h"

static const char one_call[] =
    "{'rules':[{'when':{'user':'go','step':1},'reply':[{'tool':'a','args':{}}]},"
    "{'reply':[{'text':'fine'}]}]}";

/* A process died while the call was running; the session is open again, and nothing was decided. */
typedef struct left {
    host r;
    hob_tool tool;
    int ran;
} left;

static void left_init(left *l, hob_tool_class class_) {
    l->ran = 0;
    host_init(&l->r, one_call);
    l->r.ro.store = "sqlite";
    l->r.so.permission_mode = "yolo";
    l->tool = host_silent_tool("a", class_);
    l->r.so.tools = &l->tool;
    l->r.so.ntools = 1;
    host_run_and_kill(&l->r, "go", HOB_EVENT_TOOL_STARTED, NULL, NULL);
    l->tool = host_tool("a", class_, &l->ran);
    l->r.so.on_unfinished = HOB_UNFINISHED_LEAVE;
    host_open(&l->r);
}

static void nothing(hob_session *s, hob_event *e, void *user) {
    (void)s, (void)e, (void)user;
}

/* Whatever else is done with the session, the call is not made again. */
static void test_session_leave__nothing_begins_by_itself(void **state) {
    left l;
    (void)state;
    left_init(&l, HOB_TOOL_READ_ONLY);
    assert_ok(hob_session_set_title(l.r.s, hob_str_z("t"), &l.r.err), l.r.err);
    assert_ok(hob_session_set_thinking(l.r.s, "high", &l.r.err), l.r.err);
    assert_ok(hob_session_on_event(l.r.s, nothing, NULL), l.r.err);
    assert_int_equal(host_count(&l.r, "tool_started"), 1);
    assert_int_equal(l.ran, 0);
    assert_int_equal(host_count(&l.r, "model_call_started"), 1);
    host_finish(&l.r);
}

static void test_session_leave__nobody_waits_for_it(void **state) {
    left l;
    hob_event *e;
    (void)state;
    left_init(&l, HOB_TOOL_UNSAFE);
    assert_int_equal(hob_session_is_running(l.r.s), 0);
    assert_string_equal(host_wait(&l.r), "interrupted");
    assert_int_equal(hob_session_next_event(l.r.s, -1, &e), 0);
    host_finish(&l.r);
}

static void test_session_leave__steering_it_is_refused(void **state) {
    left l;
    (void)state;
    left_init(&l, HOB_TOOL_UNSAFE);
    assert_int_equal(hob_session_steer(l.r.s, hob_str_z("x"), &l.r.err), HOB_EIDLE);
    assert_non_null(strstr(l.r.err.message, "resume"));
    assert_int_equal(hob_session_follow_up(l.r.s, hob_str_z("x"), &l.r.err), HOB_EIDLE);
    assert_int_equal(hob_session_move(l.r.s, "", &l.r.err), HOB_EBUSY);
    host_finish(&l.r);
}

static void test_session_leave__closing_decides_nothing(void **state) {
    left l;
    (void)state;
    left_init(&l, HOB_TOOL_READ_ONLY);
    hob_session_close(l.r.s);
    l.r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&l.r);
    assert_string_equal(host_wait(&l.r), "completed");
    assert_int_equal(host_count(&l.r, "cancel_requested"), 0);
    assert_int_equal(l.ran, 1);
    host_finish(&l.r);
}

static void test_session_leave__a_prompt_settles_it_first(void **state) {
    left l;
    (void)state;
    left_init(&l, HOB_TOOL_READ_ONLY);
    assert_string_equal(host_prompt(&l.r, "next"), "completed");
    assert_int_equal(l.ran, 0);
    assert_non_null(strstr(host_log(&l.r), "cancel_requested settle\n"
                                           "tool_finished m4.0 a unknown"));
    assert_int_equal(host_count(&l.r, "run_finished"), 2);
    host_finish(&l.r);
}

static void test_session_leave__cancel_settles_it(void **state) {
    left l;
    (void)state;
    left_init(&l, HOB_TOOL_UNSAFE);
    assert_ok(hob_session_cancel_and_settle(l.r.s, HOB_QUEUED_RETURN, 10000, &l.r.err), l.r.err);
    assert_int_equal(host_count(&l.r, "run_finished"), 1);
    assert_int_equal(hob_session_resume(l.r.s, &l.r.err), HOB_EIDLE);
    host_finish(&l.r);
}

/* ---- a log that was cut off ----------------------------------------------------------------------- */

/* Makes `r` a host whose store has the first n events of l's session. */
static void cut_log(left *l, host *r, uint64_t n) {
    rig g = {.last = {0}};
    hob_store_append ap = {.session = hob_str_z(l->r.id), .epoch = 1, .nevents = 1};
    hob_page *p;
    assert_ok(hob_runtime_events(l->r.rt, l->r.id, 0, 0, &p, &l->r.err), l->r.err);
    host_init(r, one_call);
    r->ro.store = "sqlite";
    r->so.permission_mode = "yolo";
    rig_init(&g);
    snprintf(g.path, sizeof g.path, "%s/hob.db", r->dir);
    hob_store *store = rig_sqlite(&g, "cutter");
    assert_int_equal(rig_own(&g, store, l->r.id, HOB_OWN_CREATE), HOB_OK);
    for (; ap.after_seq < n; ap.after_seq++) {
        hob_store_event e = {ap.after_seq + 1, hob_page_row(p, ap.after_seq)};
        ap.events = &e;
        assert_int_equal(rig_commit(&g, store, &ap, 1), HOB_OK);
    }
    store->ops->close(store);
    rig_finish(&g);
    hob_page_destroy(p);
    r->so.choice = HOB_SESSION_OPEN;
    r->so.id = l->r.id;
    r->so.tools = &l->tool;
    r->so.ntools = 1;
}

/* Every beginning of a log can be opened, and the session used, whatever is chosen. */
static void open_beginnings(hob_on_unfinished what) {
    left l;
    host r;
    left_init(&l, HOB_TOOL_READ_ONLY);
    assert_ok(hob_session_resume(l.r.s, &l.r.err), l.r.err);
    assert_string_equal(host_wait(&l.r), "completed");
    uint64_t all = 0;
    for (const char *p = host_log(&l.r); *p; p++) all += *p == '\n';
    assert_true(all > 10);
    for (uint64_t n = 1; n <= all; n++) {
        cut_log(&l, &r, n);
        r.so.on_unfinished = what;
        host_open(&r);
        host_wait(&r);
        if (what != HOB_UNFINISHED_RESUME) {
            assert_string_equal(host_prompt(&r, "and now?"), "completed");
            assert_string_equal(host_text(&r), "fine");
        }
        assert_int_equal(hob_session_is_running(r.s), 0);
        host_finish(&r);
    }
    host_finish(&l.r);
}

static void test_session_leave__every_beginning_of_a_log_can_be_resumed(void **state) {
    (void)state;
    open_beginnings(HOB_UNFINISHED_RESUME);
}

static void test_session_leave__every_beginning_of_a_log_can_be_settled(void **state) {
    (void)state;
    open_beginnings(HOB_UNFINISHED_SETTLE);
}

static void test_session_leave__every_beginning_of_a_log_can_be_left(void **state) {
    (void)state;
    open_beginnings(HOB_UNFINISHED_LEAVE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_leave__nothing_begins_by_itself),
        cmocka_unit_test(test_session_leave__nobody_waits_for_it),
        cmocka_unit_test(test_session_leave__steering_it_is_refused),
        cmocka_unit_test(test_session_leave__closing_decides_nothing),
        cmocka_unit_test(test_session_leave__a_prompt_settles_it_first),
        cmocka_unit_test(test_session_leave__cancel_settles_it),
        cmocka_unit_test(test_session_leave__every_beginning_of_a_log_can_be_resumed),
        cmocka_unit_test(test_session_leave__every_beginning_of_a_log_can_be_settled),
        cmocka_unit_test(test_session_leave__every_beginning_of_a_log_can_be_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
