/* What a reader gets, however late or slowly it reads. */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"

#include <poll.h>
#include <stdlib.h>

static const char hello[] = "{'otherwise':[{'text':'hello there','chunk':3}]}";

/* Everything a reader got, one word an event; the text of deltas joined. */
typedef struct seen {
    char names[65536];
    hob_buf text;
    uint64_t last; /* seq */
    int deltas;
} seen;

static void seen_init(seen *n, uint64_t last) {
    n->names[0] = 0;
    n->last = last;
    n->deltas = 0;
    hob_buf_init(&n->text, 64u << 20);
}

static void see_delta(seen *n, hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *d = hob_event_parse(e, a);
    assert_int_equal(hob_json_get_int(d, "offset", -1), n->text.n); /* no gap, no double */
    hob_buf_add(&n->text, hob_json_get_str(d, "text"));
    n->deltas++;
    hob_arena_destroy(a);
}

static void see(seen *n, hob_event *e) {
    hob_event_type type = hob_event_type_of(e);
    if (hob_event_seq(e)) assert_int_equal(hob_event_seq(e), ++n->last);
    if (type == HOB_EVENT_MESSAGE_OPEN) hob_buf_reset(&n->text);
    if (type == HOB_EVENT_TEXT_DELTA) see_delta(n, e);
    if (type == HOB_EVENT_TEXT_DELTA && strstr(n->names, "text_delta ")) return;
    hob_str name = hob_event_name(e);
    size_t at = strlen(n->names);
    snprintf(n->names + at, sizeof n->names - at, "%.*s ", (int)name.n, name.p);
}

static int read_all(host *r, seen *n) {
    hob_event *e;
    int rc;
    while ((rc = hob_session_next_event(r->s, 30000, &e)) == 1) {
        see(n, e);
        hob_event_unref(e);
    }
    return rc;
}

/* What the session keeps is looked at when the loop has nothing more to do for it. */
static void assert_nothing_kept(host *r) {
    char model[8];
    hob_session_model(r->s, model, sizeof model);
    assert_null(r->s->own.answer);
    assert_null(r->s->tail);
    assert_null(r->s->reader.box.ring);
}

/* Nobody reads: the answers and the events are not kept for anybody. */
static void test_session_reader__what_nobody_reads_is_not_kept(void **state) {
    host r;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    for (int i = 0; i < 10; i++) host_prompt(&r, "hi");
    assert_nothing_kept(&r);
    seen n;
    seen_init(&n, 0);
    assert_int_equal(read_all(&r, &n), 0); /* and still nothing is lost */
    assert_int_equal(n.last, 1 + 10 * 6);
    hob_buf_finish(&n.text);
    host_finish(&r);
}

/* Nor is it kept when the reader has read it. */
static void test_session_reader__what_was_read_is_not_kept(void **state) {
    host r;
    seen n;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    seen_init(&n, 0);
    assert_ok(hob_session_prompt(r.s, hob_str_z("hi"), &r.err), r.err);
    assert_int_equal(read_all(&r, &n), 0);
    assert_string_equal(n.names,
                        "session_opened run_started user_message model_call_started message_open "
                        "text_delta assistant_message run_finished settled ");
    assert_str(hob_buf_str(&n.text), "hello there");
    assert_nothing_kept(&r);
    hob_buf_finish(&n.text);
    host_finish(&r);
}

/* Thousands of events behind: they come from the store, and the streamed text before its message or not at all. */
static void test_session_reader__no_text_after_its_message(void **state) {
    host r;
    seen n;
    hob_event *e;
    (void)state;
    host_init(&r, hello);
    r.ro.store = "sqlite";
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("hi"), &r.err), r.err);
    assert_int_equal(hob_session_next_event(r.s, 30000, &e), 1); /* there is a reader */
    hob_event_unref(e);
    host_wait(&r);
    for (int i = 0; i < 300; i++) host_prompt(&r, "hi");
    seen_init(&n, 1);
    assert_int_equal(read_all(&r, &n), 0);
    assert_int_equal(n.last, 1 + 301 * 6);
    const char *end = n.names + strlen(n.names) - strlen("run_finished settled ");
    assert_string_equal(end, "run_finished settled ");
    assert_nothing_kept(&r);
    hob_buf_finish(&n.text);
    host_finish(&r);
}

static const char long_answer[] =
    "{'otherwise':[{'repeat':{'times':3000,'reply':[{'text':"
    "'0123456789012345678901234567890123456789012345678901234567890123456789"
    "0123456789012345678901234567890123456789012345678901234567890123456789\\n','chunk':141}]}}]}";

/* A reader that does not read while half a megabyte streams gets all of it, in few pieces. */
static void test_session_reader__a_slow_reader_gets_all_the_text(void **state) {
    host r;
    seen n;
    hob_event *e;
    (void)state;
    host_init(&r, long_answer);
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("hi"), &r.err), r.err);
    assert_int_equal(hob_session_next_event(r.s, 30000, &e), 1);
    hob_event_unref(e);
    host_wait(&r);
    seen_init(&n, 1);
    assert_int_equal(read_all(&r, &n), 0);
    assert_int_equal(n.text.n, 3000 * 141);
    assert_true(n.deltas < 20);
    assert_memory_equal(n.text.p, hob_result_text(r.result).p, n.text.n);
    hob_buf_finish(&n.text);
    host_finish(&r);
}

/* The same through a callback: nothing is held back for good. */
static void call(hob_session *s, hob_event *e, void *user) {
    (void)s;
    see(user, e);
}

static void test_session_reader__a_callback_gets_all_the_text(void **state) {
    host r;
    seen n;
    (void)state;
    host_init(&r, long_answer);
    host_open(&r);
    seen_init(&n, 0);
    assert_ok(hob_session_on_event(r.s, call, &n), r.err);
    host_prompt(&r, "hi");
    assert_ok(hob_session_on_event(r.s, NULL, NULL), r.err);
    assert_int_equal(n.text.n, 3000 * 141);
    assert_int_equal(n.last, 7);
    hob_buf_finish(&n.text);
    host_finish(&r);
}

/* One event for each time the fd is readable is enough: it stays readable while there is more. */
static void test_session_reader__one_event_a_poll(void **state) {
    host r;
    seen n;
    hob_event *e;
    int rc;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    int fd = hob_session_fd(r.s);
    for (int i = 0; i < 60; i++) host_prompt(&r, "hi");
    seen_init(&n, 0);
    do {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 5000), 1);
        rc = hob_session_next_event(r.s, 0, &e);
        if (rc != 1) continue;
        see(&n, e);
        hob_event_unref(e);
    } while (rc);
    assert_int_equal(n.last, 1 + 60 * 6);
    hob_buf_finish(&n.text);
    host_finish(&r);
}

/* Who starts reading when all is done still sees each answer streamed; who reads history does not. */
static void test_session_reader__deltas_do_not_depend_on_when_one_reads(void **state) {
    host r;
    seen n;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1},'reply':[{'thinking':'hm'},{'text':'let me see'},"
                  "{'tool':'read','args':{'path':'script.json'}}]},{'reply':[{'text':'done'}]}]}");
    host_open(&r);
    host_prompt(&r, "hi");
    seen_init(&n, 0);
    assert_int_equal(read_all(&r, &n), 0);
    assert_string_equal(n.names,
                        "session_opened run_started user_message model_call_started "
                        "message_open thinking_delta text_delta tool_args_delta assistant_message "
                        "tool_decided tool_started tool_finished model_call_started "
                        "message_open assistant_message run_finished settled ");
    assert_str(hob_buf_str(&n.text), "done");
    hob_buf_finish(&n.text);
    seen_init(&n, 0);
    hob_session_seek(r.s, 0);
    assert_int_equal(read_all(&r, &n), 0);
    assert_null(strstr(n.names, "message_open"));
    assert_int_equal(n.last, 12);
    hob_buf_finish(&n.text);
    host_finish(&r);
}

/* Text that was thrown away stands in no message: a reader who is a little late sees it all the same. */
static void test_session_reader__a_little_late_is_early_enough(void **state) {
    host r;
    seen n;
    (void)state;
    host_init(&r, "{'otherwise':[{'text':'half an ans'},{'error':{'code':'invalid'}}]}");
    host_open(&r);
    assert_string_equal(host_prompt(&r, "hi"), "failed");
    seen_init(&n, 0);
    assert_int_equal(read_all(&r, &n), 0);
    assert_str(hob_buf_str(&n.text), "half an ans");
    hob_buf_finish(&n.text);
    host_finish(&r);
}

/* Attaching in mid-stream: the message opens again, with all the text so far. */
static void test_session_reader__seek_in_mid_stream_opens_the_message_again(void **state) {
    host r;
    hob_event *e;
    char text[64];
    (void)state;
    host_init(&r, "{'otherwise':[{'text':'so far'},{'wait':true}]}");
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    hob_event_unref(host_until(&r, HOB_EVENT_TEXT_DELTA, "text", "so far"));
    for (int i = 0; i < 2; i++) {
        assert_ok(hob_session_seek(r.s, i ? UINT64_MAX : 0), r.err);
        hob_event_unref(host_until(&r, HOB_EVENT_MESSAGE_OPEN, NULL, NULL));
        assert_int_equal(hob_session_next_event(r.s, 30000, &e), 1);
        hob_event_field(e, "text", text, sizeof text);
        assert_string_equal(text, "so far");
        hob_event_unref(e);
    }
    assert_int_equal(hob_session_next_event(r.s, 0, &e), HOB_ETIMEDOUT);
    host_finish(&r);
}

/* Text that was shown and thrown away says so before the next message opens. */
static void test_session_reader__a_retry_opens_another_message(void **state) {
    host r;
    seen n;
    (void)state;
    host_init(
        &r,
        "{'rules':[{'when':{'attempt':1},'reply':[{'text':'half'},{'error':{'code':'network'}}]},"
        "{'reply':[{'text':'whole'}]}]}");
    host_open(&r);
    seen_init(&n, 0);
    assert_ok(hob_session_on_event(r.s, call, &n), r.err); /* it is there from the beginning */
    host_prompt(&r, "hi");
    assert_ok(hob_session_on_event(r.s, NULL, NULL), r.err);
    assert_non_null(strstr(n.names, "message_open text_delta model_call_failed turn_discarded "
                                    "retry_scheduled model_call_started message_open "
                                    "assistant_message run_finished settled "));
    assert_str(hob_buf_str(&n.text), "whole");
    hob_buf_finish(&n.text);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_reader__what_nobody_reads_is_not_kept),
        cmocka_unit_test(test_session_reader__what_was_read_is_not_kept),
        cmocka_unit_test(test_session_reader__no_text_after_its_message),
        cmocka_unit_test(test_session_reader__a_slow_reader_gets_all_the_text),
        cmocka_unit_test(test_session_reader__a_callback_gets_all_the_text),
        cmocka_unit_test(test_session_reader__one_event_a_poll),
        cmocka_unit_test(test_session_reader__deltas_do_not_depend_on_when_one_reads),
        cmocka_unit_test(test_session_reader__a_little_late_is_early_enough),
        cmocka_unit_test(test_session_reader__seek_in_mid_stream_opens_the_message_again),
        cmocka_unit_test(test_session_reader__a_retry_opens_another_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
