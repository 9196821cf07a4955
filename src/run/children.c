/*
 * children.c - the sub-agents that work for a run.
 *
 * A child is granted a part of what is left of the run's limits when it starts (child_started says how much). Until
 * it ends that part is not the run's to spend; at its end what it spent is booked and the rest is the run's again. So a
 * limit holds for the tree, however wide and deep it is. Time is not divided: it passes for all at once.
 *
 * One that has used its part up asks for more (budget_requested in its own log); what it gets is of what the run has left
 * then, and the run's log says so (budget_resolved with `child`).
 *
 * A run does not end while one of its children works: it waits for those in the background, whose results then enter
 * the conversation, and for those that were told to stop.
 */
#include "run/run.h"

#include <stdio.h>

static size_t find(const hob_run *r, hob_str id) {
    size_t i = 0;
    while (i < r->nkids && !hob_str_eqz(id, r->kids[i].id)) i++;
    return i;
}

static double share_of(const hob_json *d, const char *key) {
    double n = hob_json_get_double(d, key, 0);
    return n > 0 && n < 1e15 ? n : 0;
}

static void add_grant(hob_limits *to, const hob_json *part) {
    to->turns += (int64_t)share_of(part, "turns");
    to->tokens += (int64_t)share_of(part, "tokens");
    to->tool_calls += (int64_t)share_of(part, "tool_calls");
    to->cost_usd += share_of(part, "cost_usd");
}

static void started(hob_run *r, const hob_json *d) {
    const hob_json *part = hob_json_get(d, "allotment");
    hob_str id = hob_json_get_str(d, "child");
    if (r->nkids == HOB_RUN_CHILDREN_MAX || find(r, id) < r->nkids) return;
    r->kids = hob_realloc(r->kids, (r->nkids + 1) * sizeof *r->kids);
    hob_run_child *c = &r->kids[r->nkids++];
    *c = (hob_run_child){.background = hob_json_get_bool(d, "background", false),
                         .host = hob_json_get_bool(d, "host", false)};
    hob_str_out(id, c->id, sizeof c->id);
    hob_str_out(hob_json_get_str(d, "call"), c->call, sizeof c->call);
    add_grant(&c->granted, part);
}

static void report(hob_run *r, const hob_event *e, const hob_json *d) {
    char item[24];
    const hob_json *content = hob_json_get(d, "report");
    if (!hob_json_count(content)) return;
    int n = snprintf(item, sizeof item, "r%llu", (unsigned long long)e->seq);
    hob_run_enqueue(&r->reports, hob_str_n(item, (size_t)n), hob_json_raw(content));
}

static void ended(hob_run *r, const hob_event *e, const hob_json *d) {
    size_t i = find(r, hob_json_get_str(d, "child"));
    if (i == r->nkids) return; /* the first end wins */
    r->kids[i] = r->kids[--r->nkids];
    r->spent.turns += (int64_t)share_of(d, "turns");
    r->spent.tool_calls += (int64_t)share_of(d, "tool_calls");
    report(r, e, d);
}

void hob_run_child_event(hob_run *r, const hob_event *e, const hob_json *d) {
    size_t i = find(r, hob_json_get_str(d, "child"));
    if (e->type == HOB_EVENT_CHILD_STARTED) started(r, d);
    if (e->type == HOB_EVENT_CHILD_FINISHED) ended(r, e, d);
    if (i == r->nkids) return;
    if (e->type == HOB_EVENT_BUDGET_RESOLVED)
        add_grant(&r->kids[i].granted, hob_json_get(d, "more"));
    if (e->type == HOB_EVENT_APPROVAL_REQUESTED) r->kids[i].asks++;
    if (e->type == HOB_EVENT_APPROVAL_RESOLVED && r->kids[i].asks) r->kids[i].asks--;
}

void hob_run_forget_children(hob_run *r) {
    hob_free(r->kids);
    r->kids = NULL;
    r->nkids = 0;
}

void hob_run_forget_hosts(hob_run *r) {
    for (size_t i = r->nkids; i-- > 0;)
        if (r->kids[i].host) r->kids[i] = r->kids[--r->nkids];
}

/* ---- looking --------------------------------------------------------------------------------------- */

bool hob_run_child_waits(const hob_run *r, hob_str call) {
    for (size_t i = 0; i < r->nkids; i++)
        if (hob_str_eqz(call, r->kids[i].call)) return r->kids[i].asks > 0;
    return false;
}

bool hob_run_has_child(const hob_run *r, hob_str id) {
    return find(r, id) < r->nkids;
}

bool hob_run_has_children(const hob_run *r) {
    for (size_t i = 0; i < r->nkids; i++)
        if (!r->kids[i].host) return true;
    return false;
}

bool hob_run_children_wait(const hob_run *r) {
    for (size_t i = 0; i < r->nkids; i++)
        if (!r->kids[i].host && !r->kids[i].asks) return false;
    return hob_run_has_children(r);
}

bool hob_run_stops_children(const hob_run *r) {
    return r->ending || r->phase == HOB_PHASE_FAILED;
}

hob_limits hob_run_granted(const hob_run *r) {
    hob_limits sum = {0};
    for (size_t i = 0; i < r->nkids; i++) {
        const hob_limits *g = &r->kids[i].granted;
        sum.turns += g->turns;
        sum.tokens += g->tokens;
        sum.tool_calls += g->tool_calls;
        sum.cost_usd += g->cost_usd;
    }
    return sum;
}

/* ---- granting ---------------------------------------------------------------------------------------- */

static bool has_child(const hob_run *r, const hob_call *c) {
    for (size_t i = 0; i < r->nkids; i++)
        if (hob_str_eqz(c->call, r->kids[i].call)) return true;
    return false;
}

/* Calls of this batch that are about to start a child, and the run itself, share what is left. */
static int64_t sharers(const hob_run *r) {
    int64_t n = 1;
    for (size_t i = 0; i < r->ncalls && r->phase == HOB_PHASE_TOOLS; i++) {
        const hob_call *c = &r->calls[i];
        bool to_come = c->state == HOB_CALL_ALLOWED || c->state == HOB_CALL_STARTED;
        n += c->beside && to_come && !has_child(r, c);
    }
    return HOB_MAX(n, 2);
}

typedef struct room {
    const char *limit;
    int64_t max, used, granted, *out;
} room;

/* 0 = no limit, so that something must be left to be granted. */
static bool grant(const room *m, int64_t n) {
    if (!m->max) return true;
    *m->out = (m->max - m->used - m->granted) / n;
    return *m->out > 0;
}

static bool grant_cost(const hob_run *r, double granted, int64_t n, hob_limits *out) {
    if (r->limits.cost_usd <= 0) return true;
    out->cost_usd = (r->limits.cost_usd - r->spent.cost_usd - granted) / (double)n;
    return r->spent.cost_known && out->cost_usd > 0;
}

const char *hob_run_grant(const hob_run *r, int64_t now, hob_limits *out) {
    const hob_limits *max = &r->limits, used = hob_run_granted(r);
    int64_t n = sharers(r), tokens = hob_usage_total(&r->spent.usage);
    *out = (hob_limits){0};
    const room rooms[] = {
        {"turns", max->turns, r->spent.turns, used.turns, &out->turns},
        {"tokens", max->tokens, tokens, used.tokens, &out->tokens},
        {"tool_calls", max->tool_calls, r->spent.tool_calls, used.tool_calls, &out->tool_calls},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(rooms); i++)
        if (!grant(&rooms[i], n)) return rooms[i].limit;
    if (!grant_cost(r, used.cost_usd, n, out)) return "cost";
    if (max->ms) out->ms = max->ms - hob_run_elapsed(r, now);
    return max->ms && out->ms <= 0 ? "time" : NULL;
}

/* A part of what is left, as at its start, but as much as it needs; the run itself must be able to go on. */
bool hob_run_grant_more(const hob_run *r, hob_str limit, double need, hob_limits *out) {
    const hob_limits *max = &r->limits, used = hob_run_granted(r);
    int64_t tokens = hob_usage_total(&r->spent.usage) + r->reserved.tokens;
    *out = (hob_limits){0};
    const room rooms[] = {
        {"turns", max->turns, r->spent.turns, used.turns, &out->turns},
        {"tokens", max->tokens, tokens, used.tokens, &out->tokens},
        {"tool_calls", max->tool_calls, r->spent.tool_calls, used.tool_calls, &out->tool_calls},
    };
    if (r->ending || !(need > 0 && need < 1e15)) return false;
    for (size_t i = 0; i < HOB_ARRAY_LEN(rooms); i++) {
        int64_t left = rooms[i].max - rooms[i].used - rooms[i].granted - 1;
        if (!hob_str_eqz(limit, rooms[i].limit)) continue;
        *rooms[i].out = HOB_MAX(left / 2, (int64_t)need);
        return rooms[i].max && (int64_t)need <= left;
    }
    double left = max->cost_usd - r->spent.cost_usd - used.cost_usd - r->reserved.usd;
    out->cost_usd = HOB_MAX(left / 2, need);
    return hob_str_eqz(limit, "cost") && r->spent.cost_known && need < left;
}

/* ---- what ended in the background enters the conversation --------------------------------------------- */

int hob_run_say_report(const hob_run *r, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_CHILD_REPORTED, out);
    out->is_entry = true;
    out->author = HOB_STR("child");
    hob_jsonw_kstr(&w, "item", hob_str_z(r->reports.at[0].item));
    hob_jsonw_kraw(&w, "content", hob_str_z(r->reports.at[0].content));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}
