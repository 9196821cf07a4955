/* Letting go: with calls of other threads under way, after the store failed, in mid-work. */
/* ctest: labels=snapshots */
#include "session/session.h"
#include "store/filelock.h"
#include "support/check.h"
#include "support/host.h"

#include <sched.h>

static const char hello[] = "{'otherwise':[{'text':'hello there'}]}";
static const char one_call[] =
    "{'rules':[{'when':{'user':'go','step':1},'reply':[{'tool':'a','args':{}}]},"
    "{'reply':[{'text':'fine'}]}]}";

/* ---- threads that wait ------------------------------------------------------------------------- */

typedef struct waiter {
    hob_session *s;
    pthread_t thread;
    int rc;
} waiter;

static void *read_on(void *arg) {
    waiter *w = arg;
    hob_event *e;
    w->rc = hob_session_next_event(w->s, -1, &e);
    return NULL;
}

static void *wait_on(void *arg) {
    waiter *w = arg;
    w->rc = hob_session_wait(w->s, -1, NULL, NULL);
    return NULL;
}

static void *follow_up(void *arg) {
    waiter *w = arg;
    w->rc = hob_session_follow_up(w->s, hob_str_z("more"), NULL);
    return NULL;
}

static void *close_too(void *arg) {
    hob_session_close(((waiter *)arg)->s);
    return NULL;
}

static void begin(waiter *w, hob_session *s, void *(*fn)(void *)) {
    *w = (waiter){.s = s, .rc = 1};
    pthread_create(&w->thread, NULL, fn, w);
}

/* No call may begin when the session is closed; these have. */
static void wait_callers(hob_session *s, unsigned n) {
    for (unsigned got = 0; got < n; sched_yield()) {
        pthread_mutex_lock(&s->rt->lock);
        got = s->callers;
        pthread_mutex_unlock(&s->rt->lock);
    }
}

static void open_with_gate(host *r, gate *g) {
    host_init(r, one_call);
    r->ro.store = "sqlite";
    r->so.permission_mode = "yolo";
    gate_init(g, "a", HOB_TOOL_UNSAFE);
    r->so.tools = &g->tool;
    r->so.ntools = 1;
    host_open(r);
    assert_ok(hob_session_prompt(r->s, hob_str_z("go"), &r->err), r->err);
    gate_wait_started(g, 1);
    hob_event_unref(host_until(r, HOB_EVENT_TOOL_STARTED, NULL, NULL));
}

static void detach(host *r) {
    hob_session_detach(r->s);
    r->s = NULL;
}

static void close_it(host *r) {
    hob_session_close(r->s);
    r->s = NULL;
}

static void destroy_runtime(host *r) {
    hob_runtime_destroy(r->rt);
    r->rt = NULL;
    r->s = NULL;
}

static int come_back(void *(*fn)(void *), void (*let_go)(host *)) {
    host r;
    gate g;
    waiter w;
    open_with_gate(&r, &g);
    begin(&w, r.s, fn);
    wait_callers(r.s, 1);
    let_go(&r);
    pthread_join(w.thread, NULL);
    host_finish(&r);
    gate_finish(&g);
    return w.rc;
}

static void test_session_close__a_reader_comes_back(void **state) {
    (void)state;
    assert_int_equal(come_back(read_on, detach), HOB_ECANCELLED);
    assert_int_equal(come_back(read_on, destroy_runtime), HOB_ECANCELLED);
}

static void test_session_close__who_waits_comes_back(void **state) {
    (void)state;
    assert_int_equal(come_back(wait_on, detach), HOB_ECANCELLED);
    assert_int_equal(come_back(wait_on, destroy_runtime), HOB_ECANCELLED);
    int rc = come_back(wait_on, close_it); /* it settles before it is let go of */
    assert_true(rc == HOB_OK || rc == HOB_ECANCELLED);
}

/* What was written before is still acknowledged. */
static void test_session_close__a_call_under_way_ends_as_it_would_have(void **state) {
    host r;
    gate g;
    hob_filelock lock;
    waiter w, closer;
    (void)state;
    open_with_gate(&r, &g);
    assert_ok(hob_filelock_open(&lock, hob_test_path(&r.folder, "hob.db.lock"), &r.err), r.err);
    assert_ok(hob_filelock_take(&lock, 30000, &r.err), r.err); /* no commit ends now */
    begin(&w, r.s, follow_up);
    wait_callers(r.s, 1);
    begin(&closer, r.s, close_too);
    wait_callers(r.s, 2);
    hob_filelock_drop(&lock);
    pthread_join(w.thread, NULL);
    pthread_join(closer.thread, NULL);
    hob_filelock_close(&lock);
    r.s = NULL;
    assert_true(w.rc == HOB_OK || w.rc == HOB_ECANCELLED || w.rc == HOB_EIDLE);
    host_finish(&r);
    gate_finish(&g);
}

static void test_session_close__twice_at_once(void **state) {
    host r;
    gate g;
    waiter w[2];
    (void)state;
    gate_init(&g, "a", HOB_TOOL_UNSAFE);
    host_init(&r, one_call);
    r.so.permission_mode = "yolo";
    g.tool.cancel = NULL; /* closing waits until the tool answers */
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    begin(&w[0], r.s, close_too);
    begin(&w[1], r.s, close_too);
    wait_callers(r.s, 2);
    gate_answer(&g, "done");
    pthread_join(w[0].thread, NULL);
    pthread_join(w[1].thread, NULL);
    r.s = NULL;
    host_finish(&r);
    gate_finish(&g);
}

/* From the moment it is being closed, nothing new begins. */
static void test_session_close__admits_no_new_work(void **state) {
    host r;
    gate g;
    waiter w;
    int rc = HOB_EBUSY;
    (void)state;
    gate_init(&g, "a", HOB_TOOL_UNSAFE);
    host_init(&r, one_call);
    r.so.permission_mode = "yolo";
    g.tool.cancel = NULL;
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    begin(&w, r.s, close_too);
    wait_callers(r.s, 1);
    while (rc == HOB_EBUSY) rc = hob_session_prompt(r.s, hob_str_z("more"), &r.err);
    assert_int_equal(rc, HOB_ECANCELLED);
    assert_int_equal(hob_session_follow_up(r.s, hob_str_z("more"), &r.err), HOB_ECANCELLED);
    gate_answer(&g, "done");
    pthread_join(w.thread, NULL);
    r.s = NULL;
    host_finish(&r);
    gate_finish(&g);
}

/* ---- in mid-work --------------------------------------------------------------------------------- */

typedef struct late {
    hob_reply *reply;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool go;
} late;

static void keep_reply(const hob_tool_call *call, hob_reply *reply, void *user) {
    late *l = user;
    (void)call;
    pthread_mutex_lock(&l->lock);
    l->reply = reply;
    pthread_cond_broadcast(&l->cond);
    pthread_mutex_unlock(&l->lock);
}

static void *answer_late(void *arg) {
    late *l = arg;
    pthread_mutex_lock(&l->lock);
    while (!l->go) pthread_cond_wait(&l->cond, &l->lock);
    pthread_mutex_unlock(&l->lock);
    hob_reply_output(l->reply, hob_str_z("some output"));
    hob_reply_text(l->reply, HOB_OUTCOME_OK, hob_str_z("too late"));
    return NULL;
}

/* The tool answers from its own thread when the runtime is gone. */
static void test_session_close__a_tool_answers_after_the_end_of_all(void **state) {
    host r;
    late l = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    hob_tool t = HOB_TOOL_INIT;
    pthread_t thread;
    (void)state;
    host_init(&r, one_call);
    t.name = "a";
    t.description = "answers late";
    t.run = keep_reply;
    t.user = &l;
    r.so.tools = &t;
    r.so.ntools = 1;
    r.so.permission_mode = "yolo";
    host_open(&r);
    pthread_create(&thread, NULL, answer_late, &l);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    pthread_mutex_lock(&l.lock);
    while (!l.reply) pthread_cond_wait(&l.cond, &l.lock);
    pthread_mutex_unlock(&l.lock);
    host_close(&r);
    pthread_mutex_lock(&l.lock);
    l.go = true;
    pthread_cond_broadcast(&l.cond);
    pthread_mutex_unlock(&l.lock);
    pthread_join(thread, NULL);
    host_finish(&r);
}

/* Detached in mid-run: nothing was ended, so it can be gone on with. */
static void test_session_close__detach_leaves_the_run_to_be_resumed(void **state) {
    host r;
    gate g;
    (void)state;
    open_with_gate(&r, &g);
    host_reopen(&r, HOB_UNFINISHED_LEAVE);
    assert_int_equal(host_count(&r, "cancel_requested"), 0);
    assert_int_equal(host_count(&r, "run_finished"), 0);
    assert_ok(hob_session_resume(r.s, &r.err), r.err);
    assert_string_equal(host_wait(&r), "completed");
    assert_non_null(strstr(host_log(&r), "tool_finished m4.0 a unknown"));
    host_finish(&r);
    gate_finish(&g);
}

/* One that was only looked at is as it was. */
static void test_session_close__an_untouched_session_is_not_written_to(void **state) {
    host r;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    host_open(&r);
    host_prompt(&r, "hi");
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    hob_session_close(r.s);
    host_open(&r);
    assert_int_equal(host_count(&r, "session_closed"), 0);
    host_prompt(&r, "hi");
    hob_session_close(r.s);
    host_open(&r);
    assert_int_equal(host_count(&r, "session_closed"), 1);
    host_finish(&r);
}

static void test_session_close__an_in_memory_session_is_gone(void **state) {
    host r;
    (void)state;
    host_init(&r, hello);
    r.so.choice = HOB_SESSION_IN_MEMORY;
    r.so.id = "the-same";
    for (int i = 0; i < 3; i++) {
        host_open(&r);
        host_prompt(&r, "hi");
        hob_session_close(r.s);
        r.s = NULL;
    }
    host_finish(&r);
}

/* ---- after the store failed ------------------------------------------------------------------------ */

static void open_and_fail(host *r) {
    host_init(r, hello);
    r->ro.store = "sqlite";
    host_open(r);
    host_prompt(r, "one");
    host_disk_full(true);
    assert_int_equal(hob_session_prompt(r->s, hob_str_z("two"), &r->err), HOB_ESTORE);
    host_disk_full(false);
}

static void test_session_close__after_a_failure(void **state) {
    host r;
    (void)state;
    open_and_fail(&r);
    hob_session_close(r.s);
    r.s = NULL;
    host_finish(&r);
}

/* What would be written is refused with the reason, until a prompt has looked at the store again. */
static void test_session_close__nothing_is_written_after_a_failure(void **state) {
    host r;
    (void)state;
    open_and_fail(&r);
    assert_int_equal(hob_session_set_title(r.s, hob_str_z("t"), &r.err), HOB_ESTORE);
    assert_int_equal(hob_session_set_thinking(r.s, "high", &r.err), HOB_ESTORE);
    assert_int_equal(hob_session_move(r.s, "", &r.err), HOB_ESTORE);
    assert_int_equal(hob_session_steer(r.s, hob_str_z("x"), &r.err), HOB_ESTORE);
    assert_string_equal(host_prompt(&r, "three"), "completed");
    assert_ok(hob_session_set_title(r.s, hob_str_z("t"), &r.err), r.err);
    host_finish(&r);
}

static void *prompt_on(void *arg) {
    waiter *w = arg;
    w->rc = hob_session_prompt(w->s, hob_str_z("again"), NULL);
    return NULL;
}

/* Two prompts find the session failed: it is read again once. */
static void test_session_close__two_prompts_after_a_failure(void **state) {
    host r;
    waiter w[4];
    int won = 0;
    (void)state;
    open_and_fail(&r);
    for (int i = 0; i < 4; i++) {
        w[i] = (waiter){.s = r.s};
        pthread_create(&w[i].thread, NULL, prompt_on, &w[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(w[i].thread, NULL);
        won += w[i].rc >= 0;
        assert_true(w[i].rc >= 0 || w[i].rc == HOB_EBUSY || w[i].rc == HOB_EAGAIN);
    }
    host_wait(&r);
    assert_true(won >= 1);
    assert_int_equal(host_count(&r, "user_message"), 1 + won);
    host_finish(&r);
}

/* Opening is all or nothing: what could not be written leaves no owner behind. */
static void test_session_close__a_failed_opening_owns_nothing(void **state) {
    host r;
    hob_tool t = host_silent_tool("a", HOB_TOOL_READ_ONLY);
    (void)state;
    host_init(&r, one_call);
    r.ro.store = "sqlite";
    r.so.tools = &t;
    r.so.ntools = 1;
    host_run_and_kill(&r, "go", HOB_EVENT_TOOL_STARTED, NULL, NULL);
    t = host_tool("a", HOB_TOOL_READ_ONLY, NULL);
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    r.so.on_unfinished = HOB_UNFINISHED_LEAVE;
    host_open(&r); /* the store is open and has taken over */
    hob_session_detach(r.s);
    r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_disk_full(true);
    assert_true(hob_session_create(r.rt, &r.so, &r.s, &r.err) < 0);
    r.s = NULL;
    host_disk_full(false);
    host_open(&r);
    assert_string_equal(host_wait(&r), "completed");
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_close__a_reader_comes_back),
        cmocka_unit_test(test_session_close__who_waits_comes_back),
        cmocka_unit_test(test_session_close__a_call_under_way_ends_as_it_would_have),
        cmocka_unit_test(test_session_close__twice_at_once),
        cmocka_unit_test(test_session_close__admits_no_new_work),
        cmocka_unit_test(test_session_close__a_tool_answers_after_the_end_of_all),
        cmocka_unit_test(test_session_close__detach_leaves_the_run_to_be_resumed),
        cmocka_unit_test(test_session_close__an_untouched_session_is_not_written_to),
        cmocka_unit_test(test_session_close__an_in_memory_session_is_gone),
        cmocka_unit_test(test_session_close__after_a_failure),
        cmocka_unit_test(test_session_close__nothing_is_written_after_a_failure),
        cmocka_unit_test(test_session_close__two_prompts_after_a_failure),
        cmocka_unit_test(test_session_close__a_failed_opening_owns_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
