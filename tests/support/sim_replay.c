/*
 * The log again, from the inputs that it contains: each event must follow from the ones before it and from the input in
 * it, or from nothing new, byte for byte.
 */
#include "support/sim.h"

#include "log/branch.h"
#include "support/check.h"

#include <stdio.h>

static int code_of(hob_str name) {
#define HOB_X(id, value, text, retryable)                                                          \
    if (hob_str_eqz(name, "HOB_" #id)) return HOB_##id;
    HOB_ERRORS(HOB_X)
#undef HOB_X
    return HOB_OK;
}

static double cost_of(const hob_json *d) {
    const hob_json *cost = hob_json_get(d, "cost_usd");
    return hob_json_is(cost, HOB_JSON_NUMBER) ? hob_json_double(cost) : -1;
}

static void answer_in(const hob_json *d, hob_input *in) {
    in->stop = hob_stop_from(hob_json_get_str(d, "stop"));
    in->kind = HOB_INPUT_MODEL_FINISHED;
    in->content = hob_json_raw(hob_json_get(d, "content"));
    in->response_id = hob_json_get_str(d, "response_id");
    if (in->stop != HOB_STOP_NONE) return;
    in->kind = HOB_INPUT_MODEL_FAILED;
    in->code = HOB_ECANCELLED;
}

static void failure_in(const hob_json *d, hob_input *in) {
    in->kind = HOB_INPUT_MODEL_FAILED;
    in->code = code_of(hob_json_get_str(d, "code"));
    in->sub = (int)hob_json_get_int(d, "status", 0);
    in->text = hob_json_get_str(d, "error");
    in->retryable = hob_json_get_bool(d, "retryable", false);
    in->shown = hob_json_get_bool(d, "shown", false);
    in->retry_after = hob_json_get_int(d, "retry_after_ms", -1);
    in->jitter = (unsigned)hob_json_get_int(d, "jitter", 0);
}

/* The last block is the loop's own word of warning. */
static hob_str without_warning(const hob_json *content, hob_arena *a) {
    hob_str raw = hob_json_raw(content);
    const hob_json *last = hob_json_at(content, hob_json_count(content) - 1);
    size_t n = (size_t)(hob_json_raw(last).p - raw.p);
    char *copy = hob_arena_bytes(a, n + 1);
    memcpy(copy, raw.p, n);
    while (n > 1 && copy[n - 1] == ',') n--;
    copy[n] = ']';
    return hob_str_n(copy, n + 1);
}

static void result_in(const hob_json *d, hob_arena *a, hob_input *in) {
    const hob_json *content = hob_json_get(d, "content");
    in->kind = HOB_INPUT_TOOL_FINISHED;
    in->call = hob_json_get_str(d, "call");
    in->outcome = hob_outcome_from(hob_json_get_str(d, "outcome"));
    in->content = hob_json_raw(content);
    in->exit_code = (int)hob_json_get_int(d, "exit_code", -1);
    in->duration_ms = hob_json_get_int(d, "duration_ms", 0);
    in->truncated = hob_json_get_bool(d, "truncated", false);
    in->actions = hob_json_raw(hob_json_get(d, "actions"));
    in->pending = hob_json_get_bool(d, "pending", false);
    if (hob_json_get_bool(d, "warning", false)) in->content = without_warning(content, a);
}

static void update_in(const hob_event *e, const hob_json *d, hob_input *in) {
    in->kind = HOB_INPUT_TOOL_UPDATED;
    in->call = hob_json_get_str(d, "call");
    in->tool = hob_json_get_str(d, "tool");
    in->outcome = hob_outcome_from(hob_json_get_str(d, "outcome"));
    in->final = hob_json_get_bool(d, "final", false);
    in->held = in->final && !e->run_id.n;
    in->by = e->agent;
}

static void cancel_in(const hob_json *d, hob_input *in) {
    hob_str mode = hob_json_get_str(d, "mode"), queue = hob_json_get_str(d, "queue");
    in->kind = HOB_INPUT_CANCEL;
    in->ending = hob_str_eqz(mode, "abort")    ? HOB_ENDING_ABORT
                 : hob_str_eqz(mode, "settle") ? HOB_ENDING_SETTLE
                                               : HOB_ENDING_CANCEL;
    in->fate = hob_str_eqz(queue, "keep")   ? HOB_QUEUE_KEEP
               : hob_str_eqz(queue, "drop") ? HOB_QUEUE_DROP
                                            : HOB_QUEUE_RETURN;
}

/* One that only the host knows of; the others follow from the state. */
static void quota_in(const hob_event *e, const hob_json *d, hob_input *in) {
    in->text = hob_json_get_str(d, "limit");
    if (!hob_str_starts(in->text, HOB_STR("quota_"))) return;
    in->kind = HOB_INPUT_QUOTA;
    in->call = e->run_id;
    in->value = hob_json_double(hob_json_get(d, "value"));
    in->max = hob_json_double(hob_json_get(d, "max"));
}

static void verdict_in(const hob_json *d, hob_input *in) {
    in->kind = HOB_INPUT_VERDICT;
    in->call = hob_json_get_str(d, "call");
    in->approved = hob_json_get_bool(d, "approved", false);
    in->text = hob_json_get_str(d, "reason");
    in->answer = hob_json_raw(hob_json_get(d, "answer"));
    in->by = hob_json_get_str(d, "by");
}

/* The input that may have led to this event; NEXT if only the state can have. */
static hob_input input_in(const hob_event *e, const hob_json *d, hob_arena *a) {
    hob_input in = {.kind = HOB_INPUT_NEXT, .content = hob_json_raw(hob_json_get(d, "content"))};
    hob_str origin = hob_json_get_str(d, "origin");
    in.cost_usd = cost_of(d);
    hob_usage_read(hob_json_get(d, "usage"), &in.usage);
    switch ((int)e->type) {
    case HOB_EVENT_RUN_STARTED:
        if (hob_str_eqz(origin, "prompt")) in.kind = HOB_INPUT_PROMPT;
        if (hob_str_eqz(origin, "resume")) in.kind = HOB_INPUT_RESUME;
        if (hob_str_eqz(origin, "update")) in.kind = HOB_INPUT_TOOL_UPDATED;
        in.final = true;
        in.content = HOB_STR("[{\"type\":\"text\",\"text\":\"?\"}]");
        break;
    case HOB_EVENT_RUN_FINISHED: in.kind = HOB_INPUT_RESUME; break;
    case HOB_EVENT_USER_MESSAGE: in.kind = HOB_INPUT_PROMPT; break;
    case HOB_EVENT_STEER_QUEUED: in.kind = HOB_INPUT_STEER; break;
    case HOB_EVENT_FOLLOW_UP_QUEUED: in.kind = HOB_INPUT_FOLLOW_UP; break;
    case HOB_EVENT_CANCEL_REQUESTED: cancel_in(d, &in); break;
    case HOB_EVENT_LIMIT_REACHED: quota_in(e, d, &in); break;
    case HOB_EVENT_RUN_PAUSED: in.kind = HOB_INPUT_PAUSE; break;
    case HOB_EVENT_RUN_RESUMED: in.kind = HOB_INPUT_UNPAUSE; break;
    case HOB_EVENT_APPROVAL_RESOLVED: verdict_in(d, &in); break;
    case HOB_EVENT_ASSISTANT_MESSAGE: answer_in(d, &in); break;
    case HOB_EVENT_MODEL_CALL_FAILED: failure_in(d, &in); break;
    case HOB_EVENT_TOOL_FINISHED: result_in(d, a, &in); break;
    case HOB_EVENT_TOOL_UPDATED: update_in(e, d, &in); break;
    }
    return in;
}

/* The change in the event: values of temp: keys were not written, their names are enough. */
static void change_in(const hob_json *d, hob_state *to) {
    const hob_json *delta = hob_json_get(d, "delta"), *removed = hob_json_get(d, "removed");
    const hob_json *temp = hob_json_get(d, "temp");
    for (const hob_json *v = hob_json_first(delta); v; v = hob_json_next(v))
        hob_state_assign(to, hob_json_key(v), hob_json_raw(v));
    for (const hob_json *v = hob_json_first(temp); v; v = hob_json_next(v))
        hob_state_assign(to, hob_json_str(v), HOB_STR("null"));
    for (const hob_json *v = hob_json_first(removed); v; v = hob_json_next(v)) {
        hob_pair *p = hob_pair_create(hob_json_str(v), HOB_STR_NULL);
        hob_state_put(to, p);
        hob_pair_unref(p);
    }
}

/* An answer of a function of the host is written in up to three events, each with its part of it. */
static hob_flow_answer answer_part(const hob_event *e, const hob_json *d, hob_state *changes) {
    hob_flow_answer part = {.outcome = HOB_OUTCOME_OK, .changes = changes};
    switch ((int)e->type) {
    case HOB_EVENT_STATE_CHANGED: change_in(d, changes); break;
    case HOB_EVENT_ASSISTANT_MESSAGE:
        part.content = hob_json_raw(hob_json_get(d, "content"));
        break;
    case HOB_EVENT_CALLBACK_FINISHED:
        part.outcome = hob_outcome_from(hob_json_get_str(d, "outcome"));
        part.escalate = hob_json_get_bool(d, "escalate", false);
        part.transfer = hob_json_get_str(d, "transfer");
        part.text = hob_json_get_str(d, "reason");
        break;
    }
    return part;
}

/* Is this draft exactly this event? */
static bool is_event(sim *s, const sim_entry *to, hob_draft *d) {
    hob_event *e;
    hob_error err;
    char parent[24];
    uint64_t leaf = hob_history_leaf(s->view->history);
    if (d->is_entry && leaf) {
        snprintf(parent, sizeof(parent), "e%llu", (unsigned long long)leaf);
        d->parent_entry = hob_str_z(parent);
    }
    assert_ok(hob_event_encode(d, sim_session(), s->run.last_seq + 1, to->env.now, &e, &err), err);
    hob_draft_finish(d);
    bool same = hob_str_eq(e->json, to->event->json);
    hob_event_unref(e);
    return same;
}

/* Does this input lead to exactly this event? */
static bool leads_to(sim *s, const sim_entry *to, const hob_input *in) {
    hob_draft d;
    return sim_decide(s, in, &d) > 0 && is_event(s, to, &d);
}

static bool was_answered(sim *s, const sim_entry *to, const hob_json *data) {
    hob_state changes = {.count = 0};
    hob_draft d;
    if (s->who < 0) return false;
    hob_flow_answer part = answer_part(to->event, data, &changes);
    part.frame = (size_t)s->who;
    int said = hob_flow_answered(s->flow, &s->run, &part, &d, &s->err);
    hob_state_finish(&changes);
    return said > 0 && is_event(s, to, &d);
}

/* Every call that the one who asks sees has a result. */
static void check_history(const sim *s, const hob_event *asks) {
    const hob_history *h = s->view->history;
    for (size_t i = 0; i < h->npath; i++) {
        const hob_node *n = &h->nodes[h->path[i]];
        if (!hob_branch_sees(asks->branch, n->event->branch)) continue;
        for (size_t k = 0; k < n->nresults; k++) assert_non_null(n->results[k].event);
    }
}

static void replay_one(sim *s, const sim_entry *entry) {
    const hob_input next = {.kind = HOB_INPUT_NEXT};
    hob_arena *a = hob_arena_create(0);
    const hob_event *e = entry->event;
    const hob_json *data = hob_event_parse(e, a);
    hob_input in = input_in(e, data, a);
    s->env = entry->env;
    s->who = s->flow && e->agent.n ? hob_flow_index(s->flow, e->agent) : -1;
    if (s->who >= 0 && s->flow->frames[s->who].state != HOB_FRAME_ACTIVE) s->who = -1;
    if (!leads_to(s, entry, &in) && !leads_to(s, entry, &next) && !was_answered(s, entry, data))
        fail_msg("does not follow: %.*s", HOB_FMT(e->json));
    if (e->type == HOB_EVENT_MODEL_CALL_STARTED) check_history(s, e);
    sim_fold(s, e, data);
    hob_arena_destroy(a);
}

void sim_replay(sim *s) {
    sim again = {.view = hob_view_create(), .who = -1};
    hob_run_init(&again.run, sim_session());
    if (s->flow) again.flow = hob_flow_create(s->flow->root);
    for (size_t i = 0; i < s->n; i++) replay_one(&again, &s->log[i]);
    hob_flow_destroy(again.flow);
    hob_run_finish(&again.run);
    hob_view_destroy(again.view);
}
