/*
 * perform_tool.c - the effect "run a tool": starts it, passes its output on, and gives its one outcome back to the run.
 *
 * A tool that is told to stop gets some time to say what it did. One that says nothing becomes `unknown`, unless it only
 * reads. What it answers later is dropped.
 *
 * Functions of the host may stand around it (callback.h): before_tool answers in its place, after_tool sees every result,
 * the tool's or before_tool's, and may put another in its place. What they ask for becomes part of the one outcome.
 * Artifacts among it get their versions from the store first; the outcome waits for them, and nothing else happens to it.
 */
#include "session/artifact.h"
#include "session/callback.h"
#include "session/session.h"

enum { GRACE_MS = 5000, HARD_GRACE_MS = 250, DEFAULT_TIMEOUT_MS = 600000 };

typedef struct tool_flight {
    hob_flight *f;
    hob_tool tool; /* a copy: the registry may change meanwhile */
    hob_tool_call
        *call; /* lives with the reply: a tool may still read it after the receiver is gone */
    hob_reply *reply;
    hob_arena *arena; /* of the call, until it has a reply */
    hob_timer timeout, grace;
    int64_t started;
    uint64_t started_seq;
    size_t shown;           /* bytes of output passed on */
    hob_callback *callback; /* a function of the host is at work */
    hob_actions asked;      /* by the tool and by such functions */
    bool receipt;           /* the tool itself answered, and it is one that goes on elsewhere */
    bool answered;          /* `result` is there; after_tool looks at it */
    hob_tool_result result; /* its content is in `content` */
    hob_buf content;
    struct claim *claim; /* `result` is the outcome; it waits for versions of artifacts */
} tool_flight;

/* It outlives its flight if that is dropped meanwhile. */
typedef struct claim {
    hob_session *s;
    tool_flight *t; /* NULL: nobody waits */
} claim;

/* ---- outcomes ---------------------------------------------------------------------------------------------- */

/* A receipt promises that the result can come later: where nothing is kept, that is as long as the session is open. */
static void warn_of_receipt(hob_session *s, const char *call, hob_str tool) {
    hob_draft d;
    hob_jsonw w;
    hob_buf text;
    hob_error err;
    hob_buf_init(&text, 4096);
    hob_buf_addf(&text,
                 "the call %s of %.*s is pending, and this session is kept in memory only: its "
                 "result can be given until the session is closed, not later",
                 call, HOB_FMT(tool));
    hob_draft_init(&d, HOB_EVENT_WARNING);
    d.run_id = hob_str_z(s->run.id);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "code", HOB_STR("not_kept"));
    hob_jsonw_kstr(&w, "text", hob_buf_str(&text));
    hob_jsonw_object_end(&w);
    if (hob_session_append(s, &d, &err) < 0) hob_session_fail(s, err.code, &err);
    hob_buf_finish(&text);
}

static void give_now(hob_flight *f, const hob_tool_result *r) {
    hob_strand *st = f->strand;
    hob_session *s = f->s;
    tool_flight *t = f->impl;
    hob_buf content, actions;
    char call[64];
    memcpy(call, f->key, sizeof call);
    hob_buf_init(&content, HOB_EVENT_MAX);
    hob_buf_init(&actions, HOB_EVENT_MAX);
    hob_buf_add(&content, r->content);
    if (t && hob_actions_any(&t->asked))
        hob_strand_take_actions(st, call, &t->asked, &actions, &content);
    hob_input in = {.kind = HOB_INPUT_TOOL_FINISHED,
                    .call = hob_str_z(call),
                    .outcome = r->outcome,
                    .content = hob_buf_str(&content),
                    .actions = hob_buf_str(&actions),
                    .exit_code = r->exit_code,
                    .truncated = r->truncated,
                    .pending = t && t->receipt,
                    .duration_ms = t ? hob_session_now(st->s) - t->started : 0};
    bool lost_later =
        in.pending && r->outcome == HOB_OUTCOME_OK && st->s->store == st->s->rt->memory;
    const hob_call *c = hob_run_call(st->run, in.call);
    if (lost_later && c) warn_of_receipt(st->s, call, c->name);
    hob_flight_end(f);
    hob_crash_point("effect.tool.outcome");
    hob_strand_outcome(st, &in);
    hob_session_unshelve(s, call, 0); /* the first end won: this one is not in the log */
    hob_buf_finish(&content);
    hob_buf_finish(&actions);
}

static void on_claimed(int code, const hob_error *err, const int64_t *versions, size_t n,
                       void *user) {
    claim *c = user;
    tool_flight *t = c->t;
    char words[700];
    hob_session_arrived(c->s);
    hob_free(c);
    if (!t) return;
    hob_actions *asked = &t->asked;
    t->claim = NULL;
    if (code < 0) {
        snprintf(words, sizeof words, "warning: nothing was saved: %s", err->message);
        hob_content_add_words(&t->content, words);
        t->result.content = hob_buf_str(&t->content);
    } else {
        hob_shelved *x = hob_session_shelve(t->f->s, asked->saves, versions, n);
        snprintf(x->call, sizeof x->call, "%s", t->f->key);
        hob_actions_number_saves(asked, versions);
    }
    hob_actions_drop_saves(asked);
    hob_crash_point("effect.tool.claimed");
    give_now(t->f, &t->result);
}

static void tell_to_stop(const tool_flight *t, bool hard) {
    hob_runtime *rt = t->f->s->rt;
    if (!t->tool.cancel) return;
    rt->depth++;
    t->tool.cancel(t->call, hard, t->tool.user);
    rt->depth--;
}

/* Nobody will take the answer any more. The call stands in what the reply keeps, and may be answered right now. */
static void drop_reply(tool_flight *t) {
    hob_reply *reply = t->reply;
    if (!reply) return;
    t->reply = NULL;
    hob_reply_mute(reply);
    tell_to_stop(t, true);
    hob_reply_drop(reply);
}

/* Whoever still works on the call is told that it is over. */
static void let_go_of_workers(tool_flight *t) {
    hob_timer_stop(&t->timeout);
    hob_timer_stop(&t->grace);
    hob_callback_drop(t->callback);
    t->callback = NULL;
    drop_reply(t);
}

static void give(hob_flight *f, const hob_tool_result *r) {
    tool_flight *t = f->impl;
    if (!t || !t->asked.nsaves) {
        give_now(f, r);
        return;
    }
    t->result = *r;
    if (r->content.p != t->content.p) {
        hob_buf_reset(&t->content);
        hob_buf_add(&t->content, r->content);
    }
    t->result.content = hob_buf_str(&t->content);
    let_go_of_workers(t);
    t->claim = HOB_NEW(claim);
    *t->claim = (claim){.s = f->s, .t = t};
    f->s->inflight++;
    hob_session_claim(f->s, t->asked.saves, t->asked.nsaves, on_claimed, t->claim);
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

/* ---- functions of the host around it ------------------------------------------------------------------------ */

static void take(tool_flight *t, const hob_callback_answer *a) {
    hob_actions_add(&t->asked, a->actions);
    hob_callback_drop(t->callback);
    t->callback = NULL;
}

static void on_after_tool(void *user, const hob_callback_answer *a) {
    tool_flight *t = user;
    take(t, a);
    if (a->speaks)
        give(t->f,
             &(hob_tool_result){.outcome = a->outcome, .content = a->content, .exit_code = -1});
    else
        give(t->f, &t->result);
}

static bool plan(const tool_flight *t, hob_hook point, hob_callback_plan *p) {
    if (!hob_callback_find(t->f->strand, point, p)) return false;
    p->tool = t->call->tool;
    p->call = t->call->call;
    p->args = t->call->args;
    p->changes = &t->asked.changes;
    return true;
}

/* A result, whoever made it. */
static void conclude(tool_flight *t, const hob_tool_result *r) {
    hob_callback_plan p;
    if (t->f->stopping == HOB_ENDING_ABORT || !plan(t, HOB_HOOK_AFTER_TOOL, &p)) {
        give(t->f, r);
        return;
    }
    hob_buf_add(&t->content, r->content);
    t->result = *r;
    t->result.content = p.content = hob_buf_str(&t->content);
    t->answered = true;
    hob_timer_stop(&t->timeout);
    t->callback = hob_callback_start(t->f->strand, &p, on_after_tool, t);
}

/* ---- the tool ------------------------------------------------------------------------------------------------ */

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
    t->receipt = r->outcome == HOB_OUTCOME_OK && t->tool.flags & HOB_TOOL_LONG_RUNNING;
    if (r->actions) hob_actions_add(&t->asked, r->actions);
    conclude(t, r);
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
    if (t->answered)
        give_text(t->f, HOB_OUTCOME_ERROR,
                  "error: the call was made, and after_tool was told to stop before it had looked "
                  "at the result");
    else if (t->tool.class_ == HOB_TOOL_READ_ONLY)
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

/* The session's, with what before_tool changed. */
static const hob_state *keep_state(tool_flight *t) {
    hob_state with;
    hob_state_copy(&with, &t->f->s->view->state);
    hob_overlay_apply(&t->asked.changes, HOB_SCOPE_ALL, &with);
    const hob_state *kept = hob_reply_keep_state(t->reply, &with);
    hob_state_finish(&with);
    return kept;
}

static void run_tool(tool_flight *t) {
    static const hob_reply_handler handler = {on_output, on_done};
    hob_session *s = t->f->s;
    hob_runtime *rt = s->rt;
    hob_timer_start(&t->timeout, hob_loop_now(rt->loop) + t->tool.timeout_ms);
    t->reply = hob_reply_create(rt->loop, &handler, t);
    hob_reply_keep(t->reply, t->arena);
    t->arena = NULL;
    t->call->state = keep_state(t);
    hob_crash_point("effect.tool.before");
    if (s->builtins) hob_builtins_set_policy(s->builtins, hob_strand_policy(t->f->strand));
    rt->depth++;
    t->tool.run(t->call, t->reply, t->tool.user);
    rt->depth--;
    hob_crash_point("effect.tool.after");
}

static void on_before_tool(void *user, const hob_callback_answer *a) {
    tool_flight *t = user;
    take(t, a);
    if (a->speaks)
        conclude(t,
                 &(hob_tool_result){.outcome = a->outcome, .content = a->content, .exit_code = -1});
    else
        run_tool(t);
}

static tool_flight *take_off(hob_flight *f, const hob_tool *tool, const hob_call *call) {
    hob_loop *loop = f->s->rt->loop;
    tool_flight *t = f->impl = HOB_NEW(tool_flight);
    t->f = f;
    t->tool = *tool;
    t->started = hob_session_now(f->s);
    t->started_seq = call->started_seq;
    if (!t->tool.timeout_ms) t->tool.timeout_ms = DEFAULT_TIMEOUT_MS;
    t->arena = hob_arena_create(HOB_EVENT_MAX * 2u);
    t->call = make_call(f->strand, call, t->arena);
    hob_actions_init(&t->asked);
    hob_buf_init(&t->content, HOB_EVENT_MAX);
    hob_timer_init(&t->timeout, loop, on_timeout);
    hob_timer_init(&t->grace, loop, on_grace_over);
    return t;
}

static int start(hob_flight *f, const hob_effect *e) {
    const hob_tool *tool = hob_tools_find(hob_strand_tools(f->strand), e->call->name);
    hob_callback_plan p;
    hob_error err;
    if (!tool) { /* a tool of the host that this program does not have any more */
        hob_fail(&err, HOB_ENOENT, 0, "error: there is no tool %.*s now", HOB_FMT(e->call->name));
        hob_flight_fail(f, HOB_ENOENT, &err);
        return HOB_ENOENT;
    }
    tool_flight *t = take_off(f, tool, e->call);
    if (plan(t, HOB_HOOK_BEFORE_TOOL, &p))
        t->callback = hob_callback_start(f->strand, &p, on_before_tool, t);
    else
        run_tool(t);
    return HOB_OK;
}

/* Nothing was done: the tool has not been called. */
static void stop_before(tool_flight *t) {
    hob_error cancelled = {.code = HOB_ECANCELLED};
    hob_callback_drop(t->callback);
    t->callback = NULL;
    hob_flight_fail(t->f, HOB_ECANCELLED, &cancelled);
}

static void stop(hob_flight *f, bool hard) {
    tool_flight *t = f->impl;
    if (!t || t->claim) return; /* its outcome is on the way */
    if (t->callback && !t->answered) {
        stop_before(t);
        return;
    }
    int64_t grace = hard ? HARD_GRACE_MS : GRACE_MS;
    if (t->tool.flags & HOB_TOOL_PARALLEL) grace *= 2; /* what works below it gets as much first */
    hob_timer_stop(&t->timeout);
    hob_timer_start(&t->grace, hob_loop_now(f->s->rt->loop) + grace);
    if (t->reply) tell_to_stop(t, hard);
}

static void destroy(hob_flight *f) {
    tool_flight *t = f->impl;
    if (!t) return;
    drop_reply(t);
    if (t->claim) t->claim->t = NULL;
    hob_callback_drop(t->callback);
    hob_timer_stop(&t->timeout);
    hob_timer_stop(&t->grace);
    hob_arena_destroy(t->arena);
    hob_actions_finish(&t->asked);
    hob_buf_finish(&t->content);
    hob_free(t);
}

const hob_performer hob_perform_run_tool = {start, stop, destroy};
