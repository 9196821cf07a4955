/* Functions of the host that answer later, never, or in another process. */
#include "support/check.h"
#include "support/stateful.h"
#include "support/voice.h"

#include <stdio.h>
#include <string.h>

/* ---- later, never, and after a crash ------------------------------------------------------------------------------ */

static void test_session_callbacks_later__answers_come_from_any_thread(void **state) {
    static const point points[] = {BEFORE_MODEL, AFTER_MODEL, BEFORE_TOOL, AFTER_TOOL};
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(points); i++) {
        talked f;
        talked_init(&f, "memory");
        voice_only(&f.plugin, points[i]);
        f.plugin.waits = true;
        host_open(&f.h);
        assert_ok(hob_session_prompt(f.h.s, hob_str_z("go"), &f.h.err), f.h.err);
        hob_reply_text(voice_wait(&f.plugin), HOB_OUTCOME_OK, hob_str_z("mine"));
        f.plugin.waits = false;
        assert_string_equal(host_wait(&f.h), "completed");
        assert_non_null(strstr(host_text(&f.h), points[i] >= BEFORE_TOOL ? "seen: mine" : "mine"));
        talked_finish(&f);
    }
}

static void cancel_at(point p, bool hard) {
    talked f;
    talked_init(&f, "memory");
    voice_only(&f.plugin, p);
    f.plugin.waits = true;
    host_open(&f.h);
    assert_ok(hob_session_prompt(f.h.s, hob_str_z("go"), &f.h.err), f.h.err);
    hob_reply *reply = voice_wait(&f.plugin);
    if (p == AFTER_TOOL && !hard) { /* it still says what became of the result */
        assert_ok(hob_session_cancel(f.h.s, HOB_QUEUED_RETURN, &f.h.err), f.h.err);
        hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("filtered"));
        reply = NULL;
    } else if (hard) {
        assert_ok(hob_session_abort(f.h.s, &f.h.err), f.h.err);
    } else {
        assert_ok(hob_session_cancel(f.h.s, HOB_QUEUED_RETURN, &f.h.err), f.h.err);
    }
    assert_string_equal(host_wait(&f.h), "cancelled");
    assert_int_equal(f.ran, p == AFTER_TOOL);
    if (p == AFTER_TOOL)
        assert_null(strstr(stateful_event(&f.h, "tool_finished", 0), "quick result"));
    if (p == BEFORE_TOOL) /* at once: nothing was done that could wind down */
        assert_non_null(
            strstr(stateful_event(&f.h, "tool_finished", 0), "cancelled before it started"));
    f.plugin.waits = false;
    assert_string_equal(host_prompt(&f.h, "again"), "completed");
    talked_finish(&f);
    if (reply) hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("too late, and harmless"));
}

static void test_session_callbacks_later__a_cancel_does_not_wait_for_them(void **state) {
    (void)state;
    for (point p = BEFORE_MODEL; p <= AFTER_TOOL; p++) cancel_at(p, false);
}

static void test_session_callbacks_later__an_abort_does_not_wait_for_them(void **state) {
    (void)state;
    for (point p = BEFORE_MODEL; p <= AFTER_TOOL; p++) cancel_at(p, true);
}

static void silent(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)call;
    *(hob_reply **)user = reply;
}

static void never(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)call, (void)reply, (void)user;
}

static void test_session_callbacks_later__no_answer_in_time_is_an_error(void **state) {
    talked f;
    hob_reply *reply = NULL;
    (void)state;
    talked_init(&f, "memory");
    f.h.so.callbacks = NULL;
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "mine";
    o.kind = HOB_AGENT_CUSTOM;
    o.run = silent;
    o.user = &reply;
    o.timeout_ms = 20;
    talked_open(&f, llm_with(&o));
    assert_string_equal(host_prompt(&f.h, "go"), "failed");
    assert_non_null(strstr(stateful_event(&f.h, "callback_finished", 0), "gave no answer within"));
    talked_finish(&f);
    hob_reply_pass(reply);
}

static void test_session_callbacks_later__are_called_again_after_a_crash(void **state) {
    talked f;
    (void)state;
    talked_init(&f, "sqlite");
    f.plugin.callbacks.after_model = never; /* the process is killed in it */
    f.plugin.delta[BEFORE_MODEL] = "{\"n\":1}";
    host_run_and_kill(&f.h, "go", HOB_EVENT_STATE_CHANGED, NULL, NULL);
    voice_init(&f.plugin, "P", f.journal);
    f.h.so.callbacks = &f.plugin.callbacks;
    f.h.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&f.h);
    assert_string_equal(host_wait(&f.h), "completed");
    assert_non_null(strstr(f.journal, "P.before_model P.after_model P.before_tool"));
    assert_int_equal(f.ran, 1);
    assert_string_equal(host_text(&f.h), "seen: quick result");
    talked_finish(&f);
}

static void test_session_callbacks_later__options_of_a_newer_header_are_refused(void **state) {
    struct {
        hob_agent_callbacks known;
        void *unknown;
    } newer = {.known = HOB_AGENT_CALLBACKS_INIT, .unknown = &newer};
    talked f;
    hob_session *s = NULL;
    (void)state;
    talked_init(&f, "memory");
    host_open(&f.h);
    newer.known.size = sizeof newer;
    f.h.so.callbacks = &newer.known;
    assert_int_equal(hob_session_create(f.h.rt, &f.h.so, &s, &f.h.err), HOB_EINVAL);
    talked_finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_callbacks_later__answers_come_from_any_thread),
        cmocka_unit_test(test_session_callbacks_later__a_cancel_does_not_wait_for_them),
        cmocka_unit_test(test_session_callbacks_later__an_abort_does_not_wait_for_them),
        cmocka_unit_test(test_session_callbacks_later__no_answer_in_time_is_an_error),
        cmocka_unit_test(test_session_callbacks_later__are_called_again_after_a_crash),
        cmocka_unit_test(test_session_callbacks_later__options_of_a_newer_header_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
