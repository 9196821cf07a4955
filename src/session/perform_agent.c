/*
 * perform_agent.c - the effect "call a function of an agent": before_agent, after_agent, or a custom agent's own.
 *
 * Like a tool it is answered with a reply, now or later. One that is told to stop gets some time to say what it did.
 */
#include "session/crew.h"
#include "session/session.h"

enum { GRACE_MS = 5000, HARD_GRACE_MS = 250, CALLBACK_MS = 60000, CUSTOM_MS = 600000 };

typedef struct function_flight {
    hob_flight *f;
    hob_agent
        *agent; /* a reference: the host's function may outlive the session's interest in it */
    hob_agent_call *call; /* lives with the reply */
    hob_reply *reply;
    hob_timer timeout, grace;
    hob_point point;
} function_flight;

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

static void give_up(hob_flight *f, hob_outcome outcome, const char *why) {
    hob_flow_answer a = {.outcome = outcome, .text = hob_str_z(why)};
    answer(f, &a);
}

/* The text of an answer that says what went wrong. */
static void read_words(hob_str content, hob_buf *out) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *blocks = NULL;
    (void)hob_json_parse(a, content, NULL, &blocks, NULL);
    for (const hob_json *b = hob_json_first(blocks); b; b = hob_json_next(b))
        hob_buf_add(out, hob_json_get_str(b, "text"));
    hob_arena_destroy(a);
}

static bool says_something(hob_str content) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *blocks = NULL;
    bool any = hob_json_parse(a, content, NULL, &blocks, NULL) >= 0 && hob_json_count(blocks) > 0;
    hob_arena_destroy(a);
    return any;
}

static int check_changes(hob_session *s, const hob_actions *a, hob_error *err) {
    const hob_state_limits limits = HOB_STATE_LIMITS;
    return a ? hob_overlay_check(&a->changes, &s->view->state, &limits, err) : HOB_OK;
}

static void on_done(void *user, const hob_tool_result *r) {
    function_flight *t = user;
    hob_flight *f = t->f;
    hob_error err = {.code = HOB_OK};
    hob_buf words, content;
    hob_state changes = {.count = 0};
    t->reply = NULL;
    hob_buf_init(&words, 4096);
    hob_buf_init(&content, HOB_EVENT_MAX);
    hob_flow_answer a = {.outcome = r->outcome};
    if (r->outcome != HOB_OUTCOME_OK) read_words(r->content, &words);
    if (r->outcome == HOB_OUTCOME_OK && says_something(r->content))
        hob_buf_add(&content, r->content);
    if (r->outcome == HOB_OUTCOME_OK && check_changes(f->s, r->actions, &err) < 0) {
        a.outcome = HOB_OUTCOME_ERROR;
        hob_buf_addz(&words, err.message);
    }
    if (r->actions && a.outcome == HOB_OUTCOME_OK) {
        hob_state_copy(&changes, &r->actions->changes);
        a.escalate = r->actions->escalate;
        a.transfer = hob_str_z(r->actions->transfer);
    }
    a.content = hob_buf_str(&content);
    a.text = hob_buf_str(&words);
    a.changes = &changes;
    answer(f, &a);
    hob_state_finish(&changes);
    hob_buf_finish(&words);
    hob_buf_finish(&content);
}

static void on_timeout(hob_timer *timer) {
    function_flight *t = HOB_CONTAINER(timer, function_flight, timeout);
    give_up(t->f, HOB_OUTCOME_ERROR, "the function gave no answer in time");
}

static void on_grace_over(hob_timer *timer) {
    function_flight *t = HOB_CONTAINER(timer, function_flight, grace);
    give_up(t->f, HOB_OUTCOME_UNKNOWN, "the function was told to stop and did not answer");
}

void hob_agent_failed(hob_flight *f) {
    give_up(f, HOB_OUTCOME_CANCELLED, "cancelled before it started");
}

/* ---- the effect ---------------------------------------------------------------------------------------------- */

static hob_str last_prompt(const hob_history *h) {
    for (size_t i = h->npath; i-- > 0;)
        if (h->nodes[h->path[i]].role == HOB_ROLE_USER) return h->nodes[h->path[i]].content;
    return HOB_STR("[]");
}

static hob_agent_call *make_call(hob_strand *st, hob_arena *a) {
    hob_session *s = st->s;
    hob_agent_call *call = HOB_ARENA_NEW(a, hob_agent_call);
    *call = (hob_agent_call){.size = sizeof *call,
                             .session = hob_arena_dup(a, hob_str_z(s->id)),
                             .run = hob_arena_dup(a, hob_str_z(s->run.id)),
                             .agent = hob_arena_dup(a, hob_str_z(st->agent)),
                             .branch = hob_arena_dup(a, hob_str_z(st->branch)),
                             .prompt = hob_arena_dup(a, last_prompt(s->view->history))};
    return call;
}

static void *user_of(const function_flight *t) {
    return t->point == HOB_POINT_RUN ? t->agent->o.user : t->agent->o.callbacks->user;
}

static int64_t patience(const function_flight *t) {
    if (t->point != HOB_POINT_RUN) return CALLBACK_MS;
    return t->agent->o.timeout_ms > 0 ? t->agent->o.timeout_ms : CUSTOM_MS;
}

static int start(hob_flight *f, const hob_effect *e) {
    static const hob_reply_handler handler = {NULL, on_done};
    hob_session *s = f->s;
    const hob_frame *fr = &s->crew->flow->frames[f->strand->frame];
    (void)e;
    function_flight *t = f->impl = HOB_NEW(function_flight);
    t->f = f;
    t->point = fr->point;
    t->agent = hob_agent_ref((hob_agent *)fr->agent);
    hob_arena *arena = hob_arena_create(HOB_EVENT_MAX * 2u);
    t->call = make_call(f->strand, arena);
    hob_timer_init(&t->timeout, s->rt->loop, on_timeout);
    hob_timer_init(&t->grace, s->rt->loop, on_grace_over);
    hob_timer_start(&t->timeout, hob_loop_now(s->rt->loop) + patience(t));
    t->reply = hob_reply_create(s->rt->loop, &handler, t);
    hob_reply_keep(t->reply, arena);
    t->call->state = hob_reply_keep_state(t->reply, &s->view->state);
    hob_crash_point("effect.agent.before");
    s->rt->depth++;
    hob_flow_function(fr, fr->point)(t->call, t->reply, user_of(t));
    s->rt->depth--;
    hob_crash_point("effect.agent.after");
    return HOB_OK;
}

static void tell_to_stop(const function_flight *t, bool hard) {
    hob_runtime *rt = t->f->s->rt;
    if (t->point != HOB_POINT_RUN || !t->agent->o.cancel) return;
    rt->depth++;
    t->agent->o.cancel(t->call, hard, t->agent->o.user);
    rt->depth--;
}

static void stop(hob_flight *f, bool hard) {
    function_flight *t = f->impl;
    if (!t) return; /* its outcome is on the way */
    hob_timer_stop(&t->timeout);
    hob_timer_start(&t->grace, hob_loop_now(f->s->rt->loop) + (hard ? HARD_GRACE_MS : GRACE_MS));
    tell_to_stop(t, hard);
}

static void destroy(hob_flight *f) {
    function_flight *t = f->impl;
    if (!t) return;
    if (t->reply) { /* nobody will take the answer any more */
        hob_reply_drop(t->reply);
        tell_to_stop(t, true);
    }
    hob_timer_stop(&t->timeout);
    hob_timer_stop(&t->grace);
    hob_agent_unref(t->agent);
    hob_free(t);
}

const hob_performer hob_perform_call_agent = {start, stop, destroy};
