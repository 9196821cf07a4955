/*
 * A sim in words: events as short lines, the conversation, the effects, the state.
 */
#include "support/sim.h"

#include <stdio.h>

enum { CUT = 28 }; /* bytes of a text that are shown */

/* What is shown of each kind: a value bare; with its name where = stands; only its name, if true, where ? stands. */
static const struct {
    hob_event_type type;
    const char *fields;
} lines[] = {
    {HOB_EVENT_RUN_STARTED, "@run origin continues="},
    {HOB_EVENT_USER_MESSAGE, "content"},
    {HOB_EVENT_STEER_QUEUED, "item content"},
    {HOB_EVENT_STEER_DELIVERED, "item content"},
    {HOB_EVENT_FOLLOW_UP_QUEUED, "item content"},
    {HOB_EVENT_FOLLOW_UP_DELIVERED, "item"},
    {HOB_EVENT_QUEUE_RETURNED, "reason items"},
    {HOB_EVENT_CANCEL_REQUESTED, "mode queue"},
    {HOB_EVENT_MODEL_CALL_STARTED, "message @turn attempt output_limit"},
    {HOB_EVENT_ASSISTANT_MESSAGE, "message stop content"},
    {HOB_EVENT_MODEL_CALL_FAILED, "message code retryable? shown?"},
    {HOB_EVENT_RETRY_SCHEDULED, "attempt delay_ms="},
    {HOB_EVENT_TURN_DISCARDED, "message"},
    {HOB_EVENT_TOOL_DECIDED, "call tool decision by invalid? warning? nobody_to_ask?"},
    {HOB_EVENT_APPROVAL_REQUESTED, "call tool"},
    {HOB_EVENT_APPROVAL_RESOLVED, "call approved by"},
    {HOB_EVENT_TOOL_STARTED, "call tool class again?"},
    {HOB_EVENT_TOOL_FINISHED, "call outcome content"},
    {HOB_EVENT_TOOL_UPDATED, "call outcome content"},
    {HOB_EVENT_STATE_CHANGED, "delta removed= temp= call="},
    {HOB_EVENT_WARNING, "code"},
    {HOB_EVENT_LIMIT_REACHED, "limit value= max= scope="},
    {HOB_EVENT_BUDGET_THRESHOLD, "limit value= max="},
    {HOB_EVENT_AGENT_STARTED, "kind slot= iteration="},
    {HOB_EVENT_AGENT_FINISHED, "status reason= transfer= escalate?"},
    {HOB_EVENT_CALLBACK_STARTED, "point again?"},
    {HOB_EVENT_CALLBACK_FINISHED, "point outcome spoke? escalate? transfer="},
    {HOB_EVENT_RUN_FINISHED, "status reason= turns= tool_calls="},
    {HOB_EVENT_SETTLED, "status"},
};

static void add_cut(hob_buf *b, hob_str text) {
    hob_str head = hob_str_first(text, hob_utf8_prefix(text, CUT));
    hob_buf_addf(b, "'%.*s%s'", HOB_FMT(head), head.n < text.n ? ".." : "");
}

/* 'text' tool(call) … */
static void add_content(hob_buf *b, const hob_json *content) {
    const char *gap = "";
    for (const hob_json *v = hob_json_first(content); v; v = hob_json_next(v)) {
        hob_buf_addz(b, gap);
        gap = " ";
        if (hob_str_eqz(hob_json_get_str(v, "type"), "tool_call"))
            hob_buf_addf(b, "%.*s(%.*s)", HOB_FMT(hob_json_get_str(v, "name")),
                         HOB_FMT(hob_json_get_str(v, "call")));
        else
            add_cut(b, hob_json_get_str(v, "text"));
    }
}

static void add_items(hob_buf *b, const hob_json *items) {
    for (const hob_json *v = hob_json_first(items); v; v = hob_json_next(v)) {
        hob_buf_addf(b, "%s%.*s:%.*s:", v == hob_json_first(items) ? "" : " ",
                     HOB_FMT(hob_json_get_str(v, "kind")), HOB_FMT(hob_json_get_str(v, "item")));
        add_content(b, hob_json_get(v, "content"));
    }
}

static void add_value(hob_buf *b, const hob_json *v) {
    hob_str s = hob_json_is(v, HOB_JSON_STRING) ? hob_json_str(v) : hob_json_raw(v);
    hob_buf_add(b, s);
}

/* Numbers that are what they nearly always are say nothing. */
static bool is_usual(hob_str key, const hob_json *v) {
    int64_t n = 0;
    if (hob_json_int(v, &n) < 0) return false;
    return (hob_str_eqz(key, "attempt") && n == 1) ||
           (hob_str_eqz(key, "output_limit") && n == 1000);
}

static void add_member(hob_buf *b, hob_str field, const hob_json *data) {
    char last = field.p[field.n - 1];
    bool marked = last == '=' || last == '?';
    hob_str key = hob_str_first(field, field.n - marked);
    const hob_json *v = hob_json_get_n(data, key);
    if (!v || is_usual(key, v) || (last == '?' && !hob_json_bool(v))) return;
    hob_buf_addc(b, ' ');
    if (last == '?') {
        hob_buf_add(b, key);
    } else if (hob_str_eqz(key, "content")) {
        add_content(b, v);
    } else if (hob_str_eqz(key, "items")) {
        add_items(b, v);
    } else {
        bool number = hob_json_is(v, HOB_JSON_NUMBER);
        if (last == '=' || number) hob_buf_addf(b, "%.*s=", HOB_FMT(key));
        add_value(b, v);
    }
}

static void add_field(hob_buf *b, hob_str field, const hob_event *e, const hob_json *data) {
    if (hob_str_eqz(field, "@run"))
        hob_buf_addf(b, " %.*s", HOB_FMT(e->run_id));
    else if (hob_str_eqz(field, "@turn"))
        hob_buf_addf(b, " turn=%d", e->turn);
    else
        add_member(b, field, data);
}

static void add_line(hob_buf *b, const hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *data = hob_event_parse(e, a);
    hob_buf_addf(b, "%llu %.*s", (unsigned long long)e->seq, HOB_FMT(e->name));
    if (e->agent.n) hob_buf_addf(b, " [%.*s]", HOB_FMT(e->agent));
    if (e->branch.n) hob_buf_addf(b, " on %.*s", HOB_FMT(e->branch));
    for (size_t i = 0; i < HOB_ARRAY_LEN(lines); i++) {
        hob_str rest = hob_str_z(lines[i].fields), field;
        if (lines[i].type != e->type) continue;
        while (hob_str_split(&rest, ' ', &field)) add_field(b, field, e, data);
    }
    hob_arena_destroy(a);
}

const char *sim_log(sim *s) {
    hob_buf_reset(&s->text);
    for (; s->shown < s->n; s->shown++) {
        add_line(&s->text, s->log[s->shown].event);
        hob_buf_addc(&s->text, '\n');
    }
    return hob_buf_z(&s->text);
}

const char *sim_line(sim *s, size_t i) {
    hob_buf_reset(&s->text);
    add_line(&s->text, s->log[i].event);
    return hob_buf_z(&s->text);
}

const char *sim_json(sim *s, size_t i) {
    hob_buf_reset(&s->text);
    hob_buf_add(&s->text, s->log[i].event->data);
    return hob_buf_z(&s->text);
}

/* ---- the conversation ----------------------------------------------------------------------- */

static void add_blocks(hob_buf *b, hob_str json) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    if (hob_json_parse(a, json, NULL, &v, NULL) >= 0) add_content(b, v);
    hob_arena_destroy(a);
}

const char *sim_history(sim *s) {
    return sim_told(s, s->view->history);
}

const char *sim_told(sim *s, const hob_history *h) {
    hob_buf *b = &s->text;
    hob_buf_reset(b);
    for (size_t i = 0; i < hob_history_count(h); i++) {
        bool user = hob_history_role(h, i) == HOB_ROLE_USER;
        hob_buf_addf(b, "%s%s ", i ? " | " : "", user ? "user" : "model");
        add_blocks(b, hob_history_content(h, i));
        for (size_t k = 0; k < hob_history_results(h, i); k++) {
            hob_buf_addz(b, hob_history_result_failed(h, i, k) ? " !" : " >");
            add_blocks(b, hob_history_result_content(h, i, k));
        }
    }
    return hob_buf_z(b);
}

/* ---- effects -------------------------------------------------------------------------------- */

static void add_effect(sim *s, const char *who, const hob_effect *e) {
    static const char *const names[] = {
#define HOB_X(NAME, name) #name,
        HOB_EFFECTS(HOB_X)
#undef HOB_X
    };
    static const char *const stops[] = {
        [HOB_ENDING_NONE] = "",         [HOB_ENDING_CANCEL] = " !cancel",
        [HOB_ENDING_ABORT] = " !abort", [HOB_ENDING_SETTLE] = " !settle",
        [HOB_ENDING_LIMIT] = " !limit", [HOB_ENDING_FAILED] = " !failed",
    };
    hob_buf_addz(&s->text, s->text.n ? ", " : "");
    if (who) hob_buf_addf(&s->text, "[%s] ", who);
    hob_buf_addz(&s->text, names[e->kind]);
    if (e->kind == HOB_EFFECT_TIMER)
        hob_buf_addf(&s->text, " %+lld", (long long)(e->due - s->env.now));
    else
        hob_buf_addf(&s->text, " %.*s", HOB_FMT(e->key));
    if (e->after_seq) hob_buf_addf(&s->text, " after %llu", (unsigned long long)e->after_seq);
    hob_buf_addz(&s->text, stops[e->stop]);
}

const char *sim_pending(sim *s) {
    hob_effect list[HOB_EFFECTS_MAX];
    size_t n = hob_run_pending(&s->run, list);
    hob_buf_reset(&s->text);
    for (size_t i = 0; i < n; i++) add_effect(s, NULL, &list[i]);
    for (size_t k = 0; s->flow && k < s->flow->n; k++) {
        n = hob_flow_pending(s->flow, k, &s->run, list);
        for (size_t i = 0; i < n; i++) add_effect(s, s->flow->frames[k].agent->o.name, &list[i]);
    }
    return hob_buf_z(&s->text);
}

/* ---- the state ------------------------------------------------------------------------------ */

static void add_queue(hob_buf *b, const char *name, const hob_queue *q) {
    hob_buf_addf(b, " %s[", name);
    for (size_t i = 0; i < q->n; i++) hob_buf_addf(b, "%s=%s,", q->at[i].item, q->at[i].content);
    hob_buf_addc(b, ']');
}

static void add_calls(hob_buf *b, const hob_run *r) {
    for (size_t i = 0; i < r->ncalls; i++) {
        const hob_call *c = &r->calls[i];
        hob_buf_addf(b, " %.*s:%.*s%.*s:%d:%d:%llu:%d%d%d:%.*s", HOB_FMT(c->call), HOB_FMT(c->name),
                     HOB_FMT(c->args), c->state, c->class_, (unsigned long long)c->started_seq,
                     c->warn, c->invalid, c->approved, HOB_FMT(c->reason));
        if (c->question) hob_buf_addf(b, ":%d:%.*s", c->declined, HOB_FMT(c->answer));
    }
}

static void add_run(hob_buf *b, const hob_run *r) {
    hob_buf_addf(b, "phase=%d seq=%llu id=%s<%s unfinished=%d left=%d settled=%d", r->phase,
                 (unsigned long long)r->last_seq, r->id, r->continues, r->unfinished, r->left,
                 r->settled);
    hob_buf_addf(b, " limits=%lld,%lld,%lld,%lld,%g", (long long)r->limits.turns,
                 (long long)r->limits.tokens, (long long)r->limits.tool_calls,
                 (long long)r->limits.ms, r->limits.cost_usd);
    hob_buf_addf(b, " spent=%lld,%lld,%lld,%lld,%g,%d", (long long)r->spent.turns,
                 (long long)r->spent.tool_calls, (long long)r->spent.ms,
                 (long long)hob_usage_total(&r->spent.usage), r->spent.cost_usd,
                 r->spent.cost_known);
    hob_buf_addf(b, " ts=%lld,%lld,%lld last=%s turn=%d attempt=%d message=%s model=%s",
                 (long long)r->last_ts, (long long)r->started_ts, (long long)r->active_since,
                 r->last_status, r->turn, r->attempt, r->message, r->model);
    hob_buf_addf(b, " agent=%.*s on %.*s parked=%d reserved=%lld,%g unheard=%d", HOB_FMT(r->agent),
                 HOB_FMT(r->branch), r->agents_parked, (long long)r->reserved.tokens,
                 r->reserved.usd, r->unheard);
    hob_buf_addf(b, " flags=%d%d%d%d%d due=%lld context=%lld+%zu repeats=%d:%llx", r->want_model,
                 r->steered, r->lost_model, r->redo, r->cut, (long long)r->due,
                 (long long)r->context_tokens, r->fresh_bytes, r->repeats,
                 (unsigned long long)r->repeat_hash);
    hob_buf_addf(b, " paused=%d", r->paused);
    hob_buf_addf(b, " stuck=%d hard=%d state=%d temp=%d escalate=%d transfer=%.*s", r->stuck,
                 r->hard, r->state_due, r->temp_named, r->escalate, HOB_FMT(r->transfer));
    hob_buf_addf(b, " ending=%d,%d,%s fail=%d,%d,%d,%d,%lld,%u,%s thresholds=%d", r->ending,
                 r->fate, r->end_reason, r->fail.code, r->fail.sub, r->fail.retryable,
                 r->fail.shown, (long long)r->fail.retry_after, r->fail.jitter, r->fail.message,
                 r->thresholds);
    add_queue(b, "steer", &r->steer);
    add_queue(b, "follow", &r->follow);
    if (r->next_prompt.content)
        hob_buf_addf(b, " next=%s=%s", r->next_prompt.item, r->next_prompt.content);
    add_calls(b, r);
}

static void add_frame(hob_buf *b, const hob_frame *fr) {
    hob_buf_addf(b, "\n%s: state=%d slot=%zu holder=%zu transfers=%d iteration=%d",
                 fr->agent->o.name, fr->state, fr->slot, fr->holder, fr->transfers, fr->iteration);
    hob_buf_addf(b, " flags=%d%d%d%d%d%d%d%d%d point=%d,%llu passed=%x", fr->escalated,
                 fr->transferred, fr->completed, fr->lost, fr->said_state, fr->spoke, fr->replaced,
                 fr->faulted, fr->stored, fr->point, (unsigned long long)fr->point_seq, fr->passed);
    hob_buf_addf(b, " on=%s text=%s ", fr->branch ? fr->branch : "-", fr->text ? fr->text : "-");
    if (fr->run) add_run(b, fr->run);
}

const char *sim_state(sim *s) {
    hob_buf *b = &s->text;
    hob_buf_reset(b);
    add_run(b, &s->run);
    if (!s->flow) return hob_buf_z(b);
    hob_buf_addf(b, "\nbegun=%d conflicts=%.*s", s->flow->begun,
                 HOB_FMT(hob_buf_str(&s->flow->conflicts)));
    for (size_t i = 0; i < s->flow->n; i++) add_frame(b, &s->flow->frames[i]);
    return hob_buf_z(b);
}
