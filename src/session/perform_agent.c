/*
 * perform_agent.c - the effect "call a function of an agent": before_agent, after_agent, or a custom agent's own.
 */
#include "session/callback.h"
#include "session/crew.h"
#include "session/session.h"

enum { CUSTOM_MS = 600000 };

/* ---- outcomes ------------------------------------------------------------------------------------------ */

static void answer(hob_flight *f, hob_flow_answer *a) {
    hob_session *s = f->s;
    hob_error err;
    a->frame = (size_t)f->strand->frame;
    hob_flight_end(f);
    hob_crash_point("effect.agent.outcome");
    int rc = hob_session_agent_answered(s, a, &err);
    if (rc < 0 && rc != HOB_EEXIST && hob_session_usable(s, NULL) >= 0)
        hob_session_fail(s, rc, &err);
}

static void on_done(void *user, const hob_callback_answer *given) {
    bool ok = given->outcome == HOB_OUTCOME_OK;
    const hob_actions *asked = given->actions;
    hob_state changes = {.count = 0};
    hob_buf text, transfer; /* what was given goes with the flight */
    hob_buf_init(&text, HOB_EVENT_MAX);
    hob_buf_init(&transfer, 4096);
    hob_flow_answer a = {.outcome = given->outcome};
    if (ok) {
        if (given->speaks) hob_buf_add(&text, given->content);
        if (asked->transfer) hob_buf_addz(&transfer, asked->transfer);
        hob_state_copy(&changes, &asked->changes);
        a.escalate = asked->escalate;
        a.content = hob_buf_str(&text);
        a.transfer = hob_buf_str(&transfer);
        a.changes = &changes;
    } else {
        hob_content_words(given->content, &text);
        a.text = hob_buf_str(&text);
    }
    answer(user, &a);
    hob_state_finish(&changes);
    hob_buf_finish(&text);
    hob_buf_finish(&transfer);
}

void hob_agent_failed(hob_flight *f) {
    hob_flow_answer a = {.outcome = HOB_OUTCOME_CANCELLED,
                         .text = HOB_STR("cancelled before it started")};
    answer(f, &a);
}

/* ---- the effect ---------------------------------------------------------------------------------------------- */

static void plan_custom(const hob_agent *a, hob_callback_plan *p) {
    *p = (hob_callback_plan){.what = "the agent's function",
                             .functions = {{a->o.run, a->o.user}},
                             .n = 1,
                             .patience_ms = a->o.timeout_ms > 0 ? a->o.timeout_ms : CUSTOM_MS,
                             .cancel = a->o.cancel};
}

static int start(hob_flight *f, const hob_effect *e) {
    const hob_frame *fr = &f->s->crew->flow->frames[f->strand->frame];
    bool before = fr->point == HOB_POINT_BEFORE;
    hob_callback_plan p;
    (void)e;
    if (fr->point == HOB_POINT_RUN)
        plan_custom(fr->agent, &p);
    else
        hob_callback_find(f->strand, before ? HOB_HOOK_BEFORE_AGENT : HOB_HOOK_AFTER_AGENT, &p);
    hob_crash_point("effect.agent.before");
    f->impl = hob_callback_start(f->strand, &p, on_done, f);
    hob_crash_point("effect.agent.after");
    return HOB_OK;
}

static void stop(hob_flight *f, bool hard) {
    if (f->impl) hob_callback_stop(f->impl, hard); /* else its outcome is on the way */
}

static void destroy(hob_flight *f) {
    hob_callback_drop(f->impl);
}

const hob_performer hob_perform_call_agent = {start, stop, destroy};
