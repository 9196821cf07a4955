/*
 * perform_tool.c - the effect "run a tool": starts it, passes its output on, and gives its one outcome back to the run.
 *
 * A tool that is told to stop gets some time to say what it did. One that says nothing becomes `unknown`, unless it only
 * reads. What it answers later is dropped.
 */
#include "session/session.h"

enum { GRACE_MS = 5000, HARD_GRACE_MS = 250, DEFAULT_TIMEOUT_MS = 600000 };

typedef struct tool_flight {
    hob_flight *f;
    hob_tool tool; /* a copy: the registry may change meanwhile */
    hob_tool_call
        *call; /* lives with the reply: a tool may still read it after the receiver is gone */
    hob_reply *reply;
    hob_timer timeout, grace;
    int64_t started;
    uint64_t started_seq;
    size_t shown; /* bytes of output passed on */
} tool_flight;

/* ---- outcomes ---------------------------------------------------------------------------------------------- */

static void give(hob_flight *f, const hob_tool_result *r) {
    hob_strand *st = f->strand;
    tool_flight *t = f->impl;
    hob_buf content, actions;
    char call[64];
    memcpy(call, f->key, sizeof call);
    hob_buf_init(&content, HOB_EVENT_MAX);
    hob_buf_init(&actions, HOB_EVENT_MAX);
    hob_buf_add(&content, r->content);
    if (r->actions) hob_strand_take_actions(st, call, r->actions, &actions, &content);
    hob_input in = {.kind = HOB_INPUT_TOOL_FINISHED,
                    .call = hob_str_z(call),
                    .outcome = r->outcome,
                    .content = hob_buf_str(&content),
                    .actions = hob_buf_str(&actions),
                    .exit_code = r->exit_code,
                    .truncated = r->truncated,
                    .duration_ms = t ? hob_session_now(st->s) - t->started : 0};
    hob_flight_end(f);
    hob_crash_point("effect.tool.outcome");
    hob_strand_outcome(st, &in);
    hob_buf_finish(&content);
    hob_buf_finish(&actions);
}

static void give_text(hob_flight *f, hob_outcome o, const char *text) {
    hob_buf content;
    hob_buf_init(&content, 1u << 20);
    hob_buf_addz(&content, "[{\"type\":\"text\",\"text\":");
    hob_json_quote(&content, hob_str_z(text));
    hob_buf_addz(&content, "}]");
    give(f, &(hob_tool_result){.outcome = o, .content = hob_buf_str(&content), .exit_code = -1});
    hob_buf_finish(&content);
}

static void on_output(void *user, hob_str chunk) {
    tool_flight *t = user;
    hob_tool_output o = {
        .call = t->call->call, .text = chunk, .offset = t->shown, .started = t->started_seq};
    t->shown += chunk.n;
    hob_strand_tool_output(t->f->strand, &o);
}

static void on_done(void *user, const hob_tool_result *r) {
    tool_flight *t = user;
    t->reply = NULL;
    give(t->f, r);
}

static void on_timeout(hob_timer *timer) {
    tool_flight *t = HOB_CONTAINER(timer, tool_flight, timeout);
    long long ms = (long long)t->tool.timeout_ms;
    char text[120];
    snprintf(text, sizeof text, "error: the tool gave no answer within %lld %s",
             ms < 1000 ? ms : ms / 1000, ms < 1000 ? "ms" : "s");
    give_text(t->f, HOB_OUTCOME_ERROR, text);
}

static void on_grace_over(hob_timer *timer) {
    tool_flight *t = HOB_CONTAINER(timer, tool_flight, grace);
    if (t->tool.class_ == HOB_TOOL_READ_ONLY)
        give_text(t->f, HOB_OUTCOME_CANCELLED, "cancelled");
    else
        give_text(t->f, HOB_OUTCOME_UNKNOWN,
                  "unknown: the call was told to stop and did not answer");
}

void hob_tool_failed(hob_flight *f) {
    if (f->code == HOB_ECANCELLED)
        give_text(f, HOB_OUTCOME_CANCELLED, "cancelled before it started");
    else
        give_text(f, HOB_OUTCOME_ERROR, f->err.message);
}

/* ---- the effect ------------------------------------------------------------------------------------------------ */

static hob_tool_call *make_call(const hob_strand *st, const hob_call *c, hob_arena *a) {
    hob_tool_call *call = HOB_ARENA_NEW(a, hob_tool_call);
    *call = (hob_tool_call){.size = sizeof *call,
                            .session = hob_arena_dup(a, hob_str_z(st->s->id)),
                            .run = hob_arena_dup(a, hob_str_z(st->run->id)),
                            .call = hob_arena_dup(a, c->call),
                            .tool = hob_arena_dup(a, c->name),
                            .args = hob_arena_dup(a, c->args),
                            .cwd = hob_arena_dup(a, hob_str_z(st->s->cwd))};
    return call;
}

static int start(hob_flight *f, const hob_effect *e) {
    static const hob_reply_handler handler = {on_output, on_done};
    hob_session *s = f->s;
    const hob_tool *tool = hob_tools_find(hob_strand_tools(f->strand), e->call->name);
    hob_error err;
    if (!tool) { /* a tool of the host that this program does not have any more */
        hob_fail(&err, HOB_ENOENT, 0, "error: there is no tool %.*s now", HOB_FMT(e->call->name));
        hob_flight_fail(f, HOB_ENOENT, &err);
        return HOB_ENOENT;
    }
    tool_flight *t = f->impl = HOB_NEW(tool_flight);
    t->f = f;
    t->tool = *tool;
    hob_arena *arena = hob_arena_create(HOB_EVENT_MAX * 2u);
    t->started = hob_session_now(s);
    t->started_seq = e->call->started_seq;
    if (!t->tool.timeout_ms) t->tool.timeout_ms = DEFAULT_TIMEOUT_MS;
    t->call = make_call(f->strand, e->call, arena);
    hob_timer_init(&t->timeout, s->rt->loop, on_timeout);
    hob_timer_init(&t->grace, s->rt->loop, on_grace_over);
    hob_timer_start(&t->timeout, hob_loop_now(s->rt->loop) + t->tool.timeout_ms);
    t->reply = hob_reply_create(s->rt->loop, &handler, t);
    hob_reply_keep(t->reply, arena);
    t->call->state = hob_reply_keep_state(t->reply, &s->view->state);
    hob_crash_point("effect.tool.before");
    if (s->builtins) hob_builtins_set_policy(s->builtins, hob_strand_policy(f->strand));
    s->rt->depth++;
    t->tool.run(t->call, t->reply, t->tool.user);
    s->rt->depth--;
    hob_crash_point("effect.tool.after");
    return HOB_OK;
}

static void tell_to_stop(const tool_flight *t, bool hard) {
    hob_runtime *rt = t->f->s->rt;
    if (!t->tool.cancel) return;
    rt->depth++;
    t->tool.cancel(t->call, hard, t->tool.user);
    rt->depth--;
}

static void stop(hob_flight *f, bool hard) {
    tool_flight *t = f->impl;
    if (!t) return; /* its outcome is on the way */
    int64_t grace = hard ? HARD_GRACE_MS : GRACE_MS;
    if (t->tool.flags & HOB_TOOL_PARALLEL) grace *= 2; /* what works below it gets as much first */
    hob_timer_stop(&t->timeout);
    hob_timer_start(&t->grace, hob_loop_now(f->s->rt->loop) + grace);
    tell_to_stop(t, hard);
}

static void destroy(hob_flight *f) {
    tool_flight *t = f->impl;
    if (!t) return;
    if (t->reply) { /* nobody will take the answer any more */
        hob_reply_drop(t->reply);
        tell_to_stop(t, true);
    }
    hob_timer_stop(&t->timeout);
    hob_timer_stop(&t->grace);
    hob_free(t);
}

const hob_performer hob_perform_run_tool = {start, stop, destroy};
