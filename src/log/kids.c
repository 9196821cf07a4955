#include "log/kids.h"

#include "log/view.h"

static void drop_asks(hob_kid *c) {
    for (size_t i = 0; i < c->nasks; i++) {
        hob_free(c->asks[i].call);
        hob_event_unref(c->asks[i].event);
    }
    hob_free(c->asks);
    c->asks = NULL;
    c->nasks = 0;
}

static void free_kid(hob_kid *c) {
    drop_asks(c);
    hob_event_unref(c->started);
    hob_free(c);
}

void hob_kids_finish(hob_kids *k) {
    for (size_t i = 0; i < k->n; i++) free_kid(k->at[i]);
    hob_free(k->at);
    *k = (hob_kids){.at = NULL};
}

hob_kid *hob_kids_find(const hob_kids *k, hob_str id) {
    for (size_t i = k->n; i-- > 0;)
        if (hob_str_eqz(id, k->at[i]->id)) return k->at[i];
    return NULL;
}

int64_t hob_kids_in_all(const hob_kids *k) {
    int64_t n = (int64_t)k->forgotten;
    for (size_t i = 0; i < k->n; i++) n += 1 + k->at[i]->children;
    return n;
}

/* ---- the fold ------------------------------------------------------------------------------- */

static void forget_one(hob_kids *k) {
    for (size_t i = 0; i < k->n; i++) {
        if (k->at[i]->open) continue;
        k->forgotten += 1 + (size_t)k->at[i]->children;
        free_kid(k->at[i]);
        memmove(&k->at[i], &k->at[i + 1], (--k->n - i) * sizeof *k->at);
        return;
    }
}

static hob_kid *get(hob_kids *k, hob_str id) {
    hob_kid *c = hob_kids_find(k, id);
    if (c) return c;
    if (k->n >= HOB_KIDS_MAX) forget_one(k);
    if (k->n == k->cap) {
        k->cap = k->cap ? k->cap * 2 : 4;
        k->at = hob_realloc(k->at, k->cap * sizeof *k->at);
    }
    c = k->at[k->n++] = HOB_NEW(hob_kid);
    hob_str_out(id, c->id, sizeof c->id);
    c->cost_known = c->orphan = true;
    return c;
}

static void place(hob_kid *c, hob_str state) {
    static const char *const words[] = {[HOB_PLACE_MADE] = "made",
                                        [HOB_PLACE_UNCHANGED] = "unchanged",
                                        [HOB_PLACE_REMOVED] = "removed",
                                        [HOB_PLACE_KEPT] = "kept"};
    for (size_t i = HOB_PLACE_MADE; i < HOB_ARRAY_LEN(words); i++)
        if (hob_str_eqz(state, words[i])) c->place = (hob_kid_place)i;
}

static void start(hob_kid *c, const hob_event *e, const hob_json *d) {
    hob_str_out(hob_json_get_str(d, "agent"), c->agent, sizeof c->agent);
    hob_str_out(hob_json_get_str(d, "call"), c->call, sizeof c->call);
    hob_str_out(hob_json_get_str(d, "prompt"), c->prompt, sizeof c->prompt);
    hob_str_out(e->run_id, c->run, sizeof c->run);
    c->depth = (int)HOB_MIN(HOB_MAX(hob_json_get_int(d, "depth", 1), 0), 1000);
    c->turn = (int)HOB_MIN(HOB_MAX(hob_json_get_int(d, "turn", 0), 0), HOB_TURN_MAX);
    c->background = hob_json_get_bool(d, "background", false);
    c->host = hob_json_get_bool(d, "host", false);
    c->place = hob_json_get(d, "worktree") ? HOB_PLACE_WANTED : HOB_PLACE_NONE;
    if (!c->started_ts) c->started_ts = e->ts;
    if (c->orphan && c->ended_seq) { /* its end came first, and stays */
        c->orphan = false;
        return;
    }
    c->open = true;
    c->orphan = false;
    c->status[0] = c->text[0] = 0;
    memset(&c->more, 0, sizeof c->more);
    hob_event_unref(c->started);
    c->started = hob_event_ref((hob_event *)e);
    c->ended_seq = 0;
}

static void grant(hob_kid *c, const hob_json *d) {
    const hob_json *m = hob_json_get(d, "more");
    c->more.request = (uint64_t)HOB_MAX(hob_json_get_int(d, "request", 0), 0);
    c->more.granted = hob_json_get_bool(d, "granted", false);
    c->more.turns += HOB_MAX(hob_json_get_int(m, "turns", 0), 0);
    c->more.tokens += HOB_MAX(hob_json_get_int(m, "tokens", 0), 0);
    c->more.tool_calls += HOB_MAX(hob_json_get_int(m, "tool_calls", 0), 0);
    c->more.cost_usd += HOB_MAX(hob_json_get_double(m, "cost_usd", 0), 0);
}

static void book(hob_kid *c, const hob_json *d) {
    const hob_json *cost = hob_json_get(d, "cost_usd");
    hob_usage u;
    hob_usage_read(hob_json_get(d, "usage"), &u);
    hob_usage_add(&c->usage, &u);
    if (hob_json_is(cost, HOB_JSON_NUMBER))
        c->cost_usd += hob_json_double(cost);
    else if (hob_usage_total(&u))
        c->cost_known = false;
    c->turns += HOB_MAX(hob_json_get_int(d, "turns", 0), 0);
    c->tool_calls += HOB_MAX(hob_json_get_int(d, "tool_calls", 0), 0);
    int64_t children = hob_json_get_int(d, "children", 0);
    c->children = HOB_MIN(HOB_MAX(c->children, children), (int64_t)1000000);
}

static void end(hob_kid *c, const hob_event *e, const hob_json *d) {
    if (c->ended_seq) return; /* the first end wins */
    hob_str_out(hob_json_get_str(d, "text"), c->text, sizeof c->text);
    hob_str_out(hob_json_get_str(d, "status"), c->status, sizeof c->status);
    if (!c->agent[0]) hob_str_out(hob_json_get_str(d, "agent"), c->agent, sizeof c->agent);
    book(c, d);
    place(c, hob_json_get_str(hob_json_get(d, "worktree"), "state"));
    memset(&c->more, 0, sizeof c->more);
    c->open = false;
    c->ended_ts = e->ts;
    c->ended_seq = e->seq;
    hob_event_unref(c->started);
    c->started = NULL;
    drop_asks(c);
}

static void ask(hob_kid *c, const hob_event *e, hob_str call) {
    if (!c->open || c->nasks == HOB_KID_ASKS_MAX) return;
    c->asks = hob_realloc(c->asks, (c->nasks + 1) * sizeof *c->asks);
    c->asks[c->nasks++] =
        (hob_kid_ask){.call = hob_dupz(call), .event = hob_event_ref((hob_event *)e)};
}

static void answer(hob_kid *c, hob_str call) {
    for (size_t i = 0; i < c->nasks; i++) {
        if (!hob_str_eqz(call, c->asks[i].call)) continue;
        hob_free(c->asks[i].call);
        hob_event_unref(c->asks[i].event);
        memmove(&c->asks[i], &c->asks[i + 1], (--c->nasks - i) * sizeof *c->asks);
        return;
    }
}

static bool concerns(hob_event_type t) {
    return t == HOB_EVENT_CHILD_STARTED || t == HOB_EVENT_CHILD_FINISHED ||
           t == HOB_EVENT_APPROVAL_REQUESTED || t == HOB_EVENT_APPROVAL_RESOLVED ||
           t == HOB_EVENT_CHILD_PLACED || t == HOB_EVENT_BUDGET_RESOLVED;
}

void hob_kids_apply(hob_kids *k, const hob_event *e, const hob_json *d) {
    hob_kid *c;
    if (!concerns(e->type)) return;
    hob_str id = hob_json_get_str(d, "child");
    if (!id.n || id.n >= sizeof c->id) return;
    switch ((int)e->type) {
    case HOB_EVENT_CHILD_STARTED: start(get(k, id), e, d); break;
    case HOB_EVENT_CHILD_FINISHED: end(get(k, id), e, d); break;
    case HOB_EVENT_BUDGET_RESOLVED:
        if ((c = hob_kids_find(k, id)) && c->open) grant(c, d);
        break;
    case HOB_EVENT_CHILD_PLACED:
        if ((c = hob_kids_find(k, id)) && c->open) place(c, hob_json_get_str(d, "state"));
        break;
    case HOB_EVENT_APPROVAL_REQUESTED:
        if ((c = hob_kids_find(k, id))) ask(c, e, hob_json_get_str(d, "call"));
        break;
    case HOB_EVENT_APPROVAL_RESOLVED:
        if ((c = hob_kids_find(k, id))) answer(c, hob_json_get_str(d, "call"));
        break;
    }
}
