/*
 * apply.c - the only code that changes a run. One function a kind of event; kinds that mean nothing to a run are
 * passed over, so that a log from a newer version still folds.
 */
#include "run/run.h"

#include <stdio.h>

void hob_run_init(hob_run *r, hob_str session_id) {
    *r = (hob_run){.settled = true, .session_id = session_id};
    r->arena = hob_arena_create(HOB_EVENT_MAX * 2u);
}

static void drop_queued(hob_queued q) {
    hob_free(q.content);
    hob_free(q.payer);
}

static void clear_queue(hob_queue *q) {
    for (size_t i = 0; i < q->n; i++) drop_queued(q->at[i]);
    hob_free(q->at);
    *q = (hob_queue){.at = NULL};
}

void hob_run_finish(hob_run *r) {
    clear_queue(&r->steer);
    clear_queue(&r->follow);
    clear_queue(&r->reports);
    hob_run_forget_children(r);
    drop_queued(r->next_prompt);
    hob_run_widen(r);
    hob_arena_destroy(r->arena);
}

bool hob_run_active(const hob_run *r) {
    return r->phase != HOB_PHASE_IDLE;
}

bool hob_run_held(const hob_run *r) {
    return r->paused && !r->ending;
}

/* Nothing but what sub-agents wait for is under way. */
static bool only_children_wait(const hob_run *r) {
    bool waits = r->paused || (!r->want_model && !r->steer.n && !r->reports.n);
    return waits && hob_run_children_wait(r);
}

static bool calls_wait(const hob_run *r) {
    bool waiting = r->paused;
    for (size_t i = 0; i < r->ncalls; i++) {
        const hob_call *c = &r->calls[i];
        bool asks = c->state == HOB_CALL_STARTED && hob_run_child_waits(r, c->call);
        bool lost = c->state == HOB_CALL_LOST && !r->paused; /* it is looked after at once */
        if (lost || (c->state == HOB_CALL_STARTED && !asks)) return false;
        waiting = waiting || asks || c->state == HOB_CALL_WAITING;
    }
    return waiting;
}

bool hob_run_parked(const hob_run *r) {
    if (r->ending) return false;
    switch (r->phase) {
    case HOB_PHASE_IDLE:
    case HOB_PHASE_PROMPT:
    case HOB_PHASE_MODEL: return false;
    case HOB_PHASE_READY: return (r->paused && !r->nkids) || only_children_wait(r);
    case HOB_PHASE_FAILED:
    case HOB_PHASE_RETRY: return r->paused;
    case HOB_PHASE_TOOLS: return calls_wait(r);
    case HOB_PHASE_AGENTS: return r->agents_parked;
    }
    return false;
}

bool hob_run_unfinished(const hob_run *r) {
    return hob_run_active(r) ? !hob_run_parked(r) : r->unfinished;
}

static hob_call *find_call(const hob_run *r, hob_str call) {
    for (size_t i = 0; i < r->ncalls; i++)
        if (hob_str_eq(r->calls[i].call, call)) return &r->calls[i];
    return NULL;
}

const hob_call *hob_run_call(const hob_run *r, hob_str call) {
    return find_call(r, call);
}

static void copyz(char *to, size_t cap, hob_str s) {
    size_t n = hob_utf8_prefix(s, cap - 1);
    if (n) memcpy(to, s.p, n);
    to[n] = 0;
}

/* Numbers of a log, whoever wrote it, within what can be reckoned with. */
static int64_t number(const hob_json *d, const char *key, int64_t otherwise) {
    static const int64_t most = INT64_C(1000000000000000);
    int64_t n = hob_json_get_int(d, key, otherwise);
    return HOB_MIN(HOB_MAX(n, 0), most);
}

static int small(const hob_json *d, const char *key, int otherwise) {
    return (int)HOB_MIN(number(d, key, otherwise), 1000000);
}

static void end_with(hob_run *r, hob_ending ending, const char *reason) {
    r->ending = ending;
    copyz(r->end_reason, sizeof r->end_reason, hob_str_z(reason));
}

/* ---- the clock: stands while the run is parked ------------------------------------------------------- */

static void stop_clock(hob_run *r, int64_t ts) {
    r->spent.ms = hob_run_elapsed(r, ts);
    r->active_since = 0;
}

void hob_run_update_clock(hob_run *r, int64_t ts) {
    bool parked = hob_run_parked(r);
    if (parked && r->active_since) stop_clock(r, ts);
    if (!parked && !r->active_since && r->phase != HOB_PHASE_IDLE) r->active_since = ts;
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

hob_limits hob_limits_read(const hob_json *l) {
    return (hob_limits){.turns = number(l, "turns", 0),
                        .tokens = number(l, "tokens", 0),
                        .tool_calls = number(l, "tool_calls", 0),
                        .ms = number(l, "ms", 0),
                        .cost_usd = hob_json_get_double(l, "cost_usd", 0)};
}

/* Everything that was under way when the process died is lost; what it was is known. */
void hob_run_mark_lost(hob_run *r) {
    for (size_t i = 0; i < r->ncalls; i++)
        if (r->calls[i].state == HOB_CALL_STARTED) r->calls[i].state = HOB_CALL_LOST;
    if (r->phase != HOB_PHASE_MODEL) return;
    r->phase = HOB_PHASE_READY;
    r->lost_model = r->want_model = true;
}

static void start_fresh(hob_run *r) {
    r->phase = HOB_PHASE_PROMPT;
    r->caller[0] = 0;
    r->want_model = r->steered = r->lost_model = r->redo = r->cut = false;
    r->ncalls = 0;
    hob_run_batch_begin(r);
    r->temp_named = false;
    r->repeats = 0;
    r->stuck = false;
    r->thresholds = 0;
    memset(&r->asked, 0, sizeof r->asked);
    hob_run_widen(r);
    clear_queue(&r->reports);
    hob_run_forget_children(r);
}

static void run_started(hob_run *r, const hob_event *e, const hob_json *d) {
    hob_str origin = hob_json_get_str(d, "origin");
    copyz(r->continues, sizeof r->continues, hob_json_get_str(d, "continues"));
    copyz(r->id, sizeof r->id, e->run_id);
    copyz(r->trace, sizeof r->trace, hob_json_get_str(d, "traceparent"));
    r->limits = hob_limits_read(hob_json_get(d, "limits"));
    copyz(r->payer, sizeof r->payer, hob_json_get_str(d, "payer"));
    end_with(r, HOB_ENDING_NONE, "");
    r->hard = r->refused = false;
    r->fate = HOB_QUEUE_RETURN;
    r->settled = false;
    r->started_ts = r->active_since = e->ts;
    if (hob_str_eqz(origin, "prompt") || hob_str_eqz(origin, "update")) {
        r->spent = (hob_spent){.cost_known = true};
        r->turn = 0;
    }
    if (hob_str_eqz(origin, "resume") && r->unfinished) {
        r->phase = r->left;
        hob_run_mark_lost(r);
    } else {
        r->paused = false;
        start_fresh(r);
    }
    r->unfinished = false;
}

static void run_finished(hob_run *r, const hob_event *e, const hob_json *d) {
    hob_str status = hob_json_get_str(d, "status");
    bool cut_short = hob_str_eqz(status, "interrupted") && !r->ending;
    copyz(r->last_status, sizeof r->last_status, status);
    r->spent.ms = number(d, "duration_ms", hob_run_elapsed(r, e->ts));
    r->active_since = 0;
    r->unfinished = cut_short;
    r->left = r->phase;
    r->phase = HOB_PHASE_IDLE;
    if (cut_short) return;
    memset(&r->asked, 0, sizeof r->asked);
    r->refused = false;
    hob_run_forget_hosts(r);
    hob_run_widen(r);
    r->ncalls = 0;
    r->temp_named = r->paused = false;
}

static void cancel_requested(hob_run *r, const hob_json *d) {
    hob_str mode = hob_json_get_str(d, "mode"), queue = hob_json_get_str(d, "queue");
    bool settle = hob_str_eqz(mode, "settle"), abort = hob_str_eqz(mode, "abort");
    r->fate = hob_str_eqz(queue, "keep")   ? HOB_QUEUE_KEEP
              : hob_str_eqz(queue, "drop") ? HOB_QUEUE_DROP
                                           : HOB_QUEUE_RETURN;
    if (abort) r->hard = true;
    if (settle) hob_run_mark_lost(r);
    if (r->ending) return;
    if (settle)
        end_with(r, HOB_ENDING_SETTLE, "the program stopped");
    else
        end_with(r, abort ? HOB_ENDING_ABORT : HOB_ENDING_CANCEL, "the user stopped it");
}

/* ---- queues -------------------------------------------------------------------------------------------- */

void hob_run_enqueue(hob_queue *q, hob_str item, hob_str content) {
    if (q->n == HOB_QUEUE_MAX) return;
    if (!q->at) q->at = hob_alloc(HOB_QUEUE_MAX * sizeof *q->at);
    hob_queued *new = &q->at[q->n++];
    copyz(new->item, sizeof new->item, item);
    new->content = hob_dupz(content);
    new->payer = NULL;
}

static void enqueue(hob_queue *q, const hob_json *d) {
    hob_str payer = hob_json_get_str(d, "payer");
    size_t before = q->n;
    hob_run_enqueue(q, hob_json_get_str(d, "item"), hob_json_raw(hob_json_get(d, "content")));
    if (payer.n && q->n > before) q->at[before].payer = hob_dupz(payer);
}

/* Takes the item named in the event out of the queue; the content is the caller's. */
static hob_queued dequeue(hob_queue *q, const hob_json *d) {
    hob_str item = hob_json_get_str(d, "item");
    for (size_t i = 0; i < q->n; i++) {
        if (!hob_str_eqz(item, q->at[i].item)) continue;
        hob_queued found = q->at[i];
        memmove(&q->at[i], &q->at[i + 1], (--q->n - i) * sizeof q->at[0]);
        if (!q->n) clear_queue(q);
        return found;
    }
    return (hob_queued){.content = NULL};
}

static void follow_up_delivered(hob_run *r, const hob_json *d) {
    drop_queued(r->next_prompt);
    r->next_prompt = dequeue(&r->follow, d);
}

static void message_added(hob_run *r, const hob_json *d) {
    r->fresh_bytes += hob_content_weight(hob_json_get(d, "content"));
    r->want_model = true;
    if (r->phase == HOB_PHASE_PROMPT) r->phase = HOB_PHASE_READY;
    drop_queued(r->next_prompt);
    r->next_prompt.content = r->next_prompt.payer = NULL;
}

/* What a run begins with instead of a message. */
static void tool_updated(hob_run *r, const hob_event *e, const hob_json *d) {
    if (r->phase != HOB_PHASE_PROMPT) return;
    r->fresh_bytes += hob_content_weight(hob_json_get(d, "content"));
    copyz(r->caller, sizeof r->caller, e->agent);
    r->want_model = true;
    r->phase = HOB_PHASE_READY;
}

static void steer_delivered(hob_run *r, const hob_json *d) {
    drop_queued(dequeue(&r->steer, d));
    r->fresh_bytes += hob_content_weight(hob_json_get(d, "content"));
    r->want_model = r->steered = true;
    r->unheard = r->phase == HOB_PHASE_MODEL;
}

static void child_reported(hob_run *r, const hob_json *d) {
    drop_queued(dequeue(&r->reports, d));
    r->fresh_bytes += hob_content_weight(hob_json_get(d, "content"));
    r->want_model = true;
}

/* ---- the model ------------------------------------------------------------------------------------------- */

static void model_started(hob_run *r, const hob_event *e, const hob_json *d) {
    if (e->turn > r->turn) r->spent.turns++;
    r->turn = e->turn;
    r->attempt = small(d, "attempt", 1);
    r->output_limit = number(d, "output_limit", 0);
    copyz(r->message, sizeof r->message, hob_json_get_str(d, "message"));
    copyz(r->model, sizeof r->model, hob_json_get_str(d, "model"));
    r->phase = HOB_PHASE_MODEL;
    r->redo = r->lost_model = r->unheard = false;
}

static void book(hob_run *r, const hob_json *d) {
    hob_usage u;
    const hob_json *cost = hob_json_get(d, "cost_usd");
    hob_usage_read(hob_json_get(d, "usage"), &u);
    hob_usage_add(&r->spent.usage, &u);
    if (hob_json_is(cost, HOB_JSON_NUMBER))
        r->spent.cost_usd += hob_json_double(cost);
    else if (hob_usage_total(&u))
        r->spent.cost_known = false;
}

static size_t count_calls(const hob_json *content) {
    size_t n = 0;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        n += hob_str_eqz(hob_json_get_str(b, "type"), "tool_call");
    return n;
}

/* The k-th call of message m is m.k: the slot of its result in the history. */
static hob_str call_id(hob_run *r, hob_str message, size_t k) {
    char id[64];
    int n = snprintf(id, sizeof id, "%.*s.%zu", (int)HOB_MIN(message.n, 40u), message.p, k);
    return hob_arena_dup(r->arena, hob_str_n(id, (size_t)n));
}

static int read_calls(hob_run *r, const hob_json *d, hob_error *err) {
    const hob_json *content = hob_json_get(d, "content");
    size_t n = count_calls(content);
    r->ncalls = 0;
    hob_run_batch_begin(r);
    hob_arena_reset(r->arena);
    r->calls = n ? hob_arena_alloc(r->arena, n * sizeof *r->calls) : NULL;
    if (n && !r->calls) return hob_fail(err, HOB_ETOOBIG, 0, "an answer has %zu calls", n);
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        if (!hob_str_eqz(hob_json_get_str(b, "type"), "tool_call")) continue;
        hob_call *c = &r->calls[r->ncalls];
        c->call = call_id(r, hob_json_get_str(d, "message"), r->ncalls++);
        c->name = hob_arena_dup(r->arena, hob_json_get_str(b, "name"));
        c->args = hob_arena_dup(r->arena, hob_json_raw(hob_json_get(b, "args")));
    }
    return HOB_OK;
}

/* How full the context is now, by the provider's own count. */
static void count_context(hob_run *r, const hob_json *d) {
    hob_usage u;
    hob_usage_read(hob_json_get(d, "usage"), &u);
    if (hob_usage_total(&u)) {
        r->context_tokens = hob_usage_total(&u);
        r->fresh_bytes = 0;
    } else {
        r->fresh_bytes += hob_content_weight(hob_json_get(d, "content"));
    }
}

static void refused(hob_run *r) {
    end_with(r, HOB_ENDING_FAILED, "refusal");
    r->fail.code = HOB_EREFUSED;
    r->fail.sub = 0;
    r->fail.retryable = false;
    copyz(r->fail.message, sizeof r->fail.message, HOB_STR("the model refused to answer"));
}

static int assistant_message(hob_run *r, const hob_json *d, hob_error *err) {
    hob_str word = hob_json_get_str(d, "stop");
    hob_stop stop = hob_stop_from(word);
    book(r, d);
    if (stop != HOB_STOP_NONE) count_context(r, d);
    int rc = read_calls(r, d, err);
    if (rc < 0) return rc;
    hob_run_read_wishes(r, hob_json_get(d, "actions"));
    r->cut = stop == HOB_STOP_LENGTH || stop == HOB_STOP_NONE;
    r->steered = r->unheard;
    r->want_model = r->ncalls > 0 || stop == HOB_STOP_CONTINUE || r->unheard;
    r->unheard = false;
    r->phase = r->ncalls ? HOB_PHASE_TOOLS : HOB_PHASE_READY;
    if (!r->ending && stop == HOB_STOP_REFUSAL) refused(r);
    if (!r->ending && r->cut && !r->ncalls) end_with(r, HOB_ENDING_LIMIT, "length");
    return HOB_OK;
}

int hob_error_from(hob_str name) {
#define HOB_X(id, value, text, retryable)                                                          \
    if (hob_str_eqz(name, "HOB_" #id)) return HOB_##id;
    HOB_ERRORS(HOB_X)
#undef HOB_X
    return HOB_EPROTO;
}

static void model_failed(hob_run *r, const hob_json *d) {
    book(r, d);
    r->fail.code = hob_error_from(hob_json_get_str(d, "code"));
    r->fail.sub = small(d, "status", 0);
    r->fail.retryable = hob_json_get_bool(d, "retryable", false);
    r->fail.shown = hob_json_get_bool(d, "shown", false);
    r->fail.retry_after = hob_json_get(d, "retry_after_ms") ? number(d, "retry_after_ms", 0) : -1;
    r->fail.jitter = (unsigned)HOB_MIN(small(d, "jitter", 0), 1000);
    copyz(r->fail.message, sizeof r->fail.message, hob_json_get_str(d, "error"));
    r->phase = HOB_PHASE_FAILED;
}

static void turn_discarded(hob_run *r) {
    r->fail.shown = false;
    if (!r->lost_model) return;
    r->lost_model = false;
    r->redo = true;
}

static void threshold_said(hob_run *r, const hob_json *d) {
    r->thresholds |= hob_str_eqz(hob_json_get_str(d, "limit"), "tokens") ? 1 : 2;
}

/* ---- the table ----------------------------------------------------------------------------------------------- */

/* What an agent of a workflow does concerns its strand. */
static bool is_step(hob_event_type type) {
    switch ((int)type) {
    case HOB_EVENT_MODEL_CALL_STARTED:
    case HOB_EVENT_ASSISTANT_MESSAGE:
    case HOB_EVENT_MODEL_CALL_FAILED:
    case HOB_EVENT_RETRY_SCHEDULED:
    case HOB_EVENT_TURN_DISCARDED:
    case HOB_EVENT_TOOL_DECIDED:
    case HOB_EVENT_APPROVAL_REQUESTED:
    case HOB_EVENT_APPROVAL_RESOLVED:
    case HOB_EVENT_TOOL_STARTED:
    case HOB_EVENT_TOOL_FINISHED: return true;
    }
    return false;
}

static bool is_agents_own(const hob_json *d) {
    return hob_str_eqz(hob_json_get_str(d, "scope"), "agent");
}

/* Not settings, notes, messages copied from another session, steps of another run; and a run that has ended stays
 * ended, whatever comes later. */
static bool concerns(const hob_run *r, const hob_event *e, const hob_json *d) {
    if (!r->strand && is_step(e->type) && !hob_str_eq(e->agent, r->agent)) return false;
    if (!r->strand && e->type == HOB_EVENT_LIMIT_REACHED && is_agents_own(d)) return false;
    if (e->type == HOB_EVENT_RUN_STARTED) return e->run_id.n && hob_str_eq(e->branch, r->branch);
    if (!e->run_id.n) return false;
    if (!hob_str_eqz(e->run_id, r->id)) return false;
    return r->phase != HOB_PHASE_IDLE || e->type == HOB_EVENT_SETTLED ||
           e->type == HOB_EVENT_QUEUE_RETURNED || e->type == HOB_EVENT_FOLLOW_UP_DELIVERED;
}

int hob_run_apply(hob_run *r, const hob_event *e, const hob_json *d, hob_error *err) {
    if (!d)
        return hob_fail(err, HOB_EPARSE, 0, "event %llu has no data", (unsigned long long)e->seq);
    r->last_seq = e->seq;
    if (e->type == HOB_EVENT_BRANCH_MOVED) r->context_tokens = 0; /* another conversation */
    if (!concerns(r, e, d)) return HOB_OK;
    int rc = HOB_OK;
    switch ((int)e->type) {
    case HOB_EVENT_RUN_STARTED: run_started(r, e, d); break;
    case HOB_EVENT_RUN_FINISHED: run_finished(r, e, d); break;
    case HOB_EVENT_SETTLED: r->settled = true; break;
    case HOB_EVENT_CANCEL_REQUESTED: cancel_requested(r, d); break;
    case HOB_EVENT_RUN_PAUSED: r->paused = true; break;
    case HOB_EVENT_RUN_RESUMED: r->paused = false; break;
    case HOB_EVENT_TOOL_UPDATED: tool_updated(r, e, d); break;
    case HOB_EVENT_USER_MESSAGE:
        hob_run_narrow_by_content(r, e->seq, hob_json_get(d, "content"));
        message_added(r, d);
        break;
    case HOB_EVENT_STEER_QUEUED: enqueue(&r->steer, d); break;
    case HOB_EVENT_STEER_DELIVERED:
        hob_run_narrow_by_content(r, e->seq, hob_json_get(d, "content"));
        steer_delivered(r, d);
        break;
    case HOB_EVENT_FOLLOW_UP_QUEUED: enqueue(&r->follow, d); break;
    case HOB_EVENT_FOLLOW_UP_DELIVERED: follow_up_delivered(r, d); break;
    case HOB_EVENT_QUEUE_RETURNED:
        clear_queue(&r->steer);
        clear_queue(&r->follow);
        break;
    case HOB_EVENT_MODEL_CALL_STARTED: model_started(r, e, d); break;
    case HOB_EVENT_ASSISTANT_MESSAGE: rc = assistant_message(r, d, err); break;
    case HOB_EVENT_MODEL_CALL_FAILED: model_failed(r, d); break;
    case HOB_EVENT_RETRY_SCHEDULED:
        r->due = number(d, "due", e->ts);
        r->phase = HOB_PHASE_RETRY;
        break;
    case HOB_EVENT_TURN_DISCARDED: turn_discarded(r); break;
    case HOB_EVENT_LIMIT_REACHED:
        if (r->ending) break;
        end_with(r, HOB_ENDING_LIMIT, "");
        copyz(r->end_reason, sizeof r->end_reason, hob_json_get_str(d, "limit"));
        break;
    case HOB_EVENT_BUDGET_THRESHOLD: threshold_said(r, d); break;
    case HOB_EVENT_BUDGET_REQUESTED:
    case HOB_EVENT_BUDGET_RESOLVED: hob_run_budget_event(r, e, d); break;
    case HOB_EVENT_STATE_CHANGED: hob_run_state_changed(r, e, d); break;
    case HOB_EVENT_WARNING:
        if (hob_str_eqz(hob_json_get_str(d, "code"), "temp_lost")) r->temp_named = false;
        break;
    case HOB_EVENT_CHILD_FINISHED: book(r, d); /* fall through */
    case HOB_EVENT_CHILD_STARTED: hob_run_child_event(r, e, d); break;
    case HOB_EVENT_CHILD_REPORTED: child_reported(r, d); break;
    case HOB_EVENT_TOOL_DECIDED:
    case HOB_EVENT_APPROVAL_REQUESTED:
    case HOB_EVENT_APPROVAL_RESOLVED:
    case HOB_EVENT_TOOL_STARTED:
    case HOB_EVENT_TOOL_FINISHED: hob_run_call_event(r, e, d); break;
    }
    hob_run_update_clock(r, e->ts);
    r->last_ts = e->ts;
    return rc;
}
