/*
 * flow.c - what each event changes in a workflow.
 */
#include "agent/flow.h"

/* ---- life ------------------------------------------------------------------------------------------- */

static size_t plant(hob_flow *f, const hob_agent *a, size_t parent, size_t at) {
    f->frames[at] = (hob_frame){.agent = a, .parent = parent, .slot = at, .holder = at};
    size_t next = at + 1;
    for (size_t i = 0; i < a->n; i++) next = plant(f, a->agents[i], at, next);
    return next;
}

hob_flow *hob_flow_create(hob_agent *root) {
    hob_flow *f = HOB_NEW(hob_flow);
    f->root = hob_agent_ref(root);
    f->n = root->total;
    f->frames = hob_alloc(f->n * sizeof *f->frames);
    plant(f, root, 0, 0);
    hob_buf_init(&f->conflicts, 1u << 16);
    return f;
}

static void drop_run(hob_frame *fr) {
    if (!fr->run) return;
    hob_run_finish(fr->run);
    hob_free(fr->run);
    fr->run = NULL;
}

static void clear(hob_frame *fr, size_t at) {
    drop_run(fr);
    hob_free(fr->branch);
    hob_free(fr->text);
    *fr = (hob_frame){.agent = fr->agent, .parent = fr->parent, .slot = at, .holder = at};
}

static void forget_writers(hob_flow *f) {
    hob_map_destroy(f->writers);
    hob_arena_destroy(f->branches);
    f->writers = NULL;
    f->branches = NULL;
}

static void clear_all(hob_flow *f) {
    for (size_t i = 0; i < f->n; i++) clear(&f->frames[i], i);
    f->begun = false;
    forget_writers(f);
    hob_buf_reset(&f->conflicts);
}

void hob_flow_destroy(hob_flow *f) {
    if (!f) return;
    clear_all(f);
    hob_buf_finish(&f->conflicts);
    hob_free(f->frames);
    hob_agent_unref(f->root);
    hob_free(f);
}

/* ---- looking ------------------------------------------------------------------------------------------ */

ptrdiff_t hob_flow_index(const hob_flow *f, hob_str agent) {
    for (size_t i = 0; i < f->n; i++)
        if (hob_agent_named(f->frames[i].agent, agent)) return (ptrdiff_t)i;
    return -1;
}

bool hob_flow_slot_vacant(const hob_flow *f, size_t slot) {
    return f->frames[f->frames[slot].holder].state == HOB_FRAME_IDLE;
}

bool hob_flow_slot_done(const hob_flow *f, size_t slot) {
    const hob_frame *h = &f->frames[f->frames[slot].holder];
    return h->state == HOB_FRAME_DONE && !h->transferred;
}

bool hob_flow_parked(const hob_flow *f, bool paused) {
    bool waiting = paused;
    for (size_t i = 0; i < f->n; i++) {
        const hob_frame *fr = &f->frames[i];
        if (fr->state != HOB_FRAME_ACTIVE) continue;
        if (fr->point && !(paused && fr->lost)) return false;
        if (fr->point || fr->agent->o.kind != HOB_AGENT_LLM) continue;
        if (!hob_run_parked(fr->run)) return false;
        waiting = true;
    }
    return waiting;
}

static bool is_child(const hob_flow *f, size_t i, size_t of) {
    return i != 0 && f->frames[i].parent == of;
}

static bool is_within(const hob_flow *f, size_t i, size_t of) {
    return i >= of && i < of + f->frames[of].agent->total;
}

/* To its own agents, to its parent, to the other agents of its parent, where these are LLM agents. */
bool hob_flow_may_transfer(const hob_flow *f, size_t from, size_t to) {
    const hob_agent *a = f->frames[from].agent;
    size_t parent = f->frames[from].parent;
    if (from == to || a->o.kind != HOB_AGENT_LLM) return false;
    if (is_child(f, to, from)) return true;
    if (from == 0 || f->frames[parent].agent->o.kind != HOB_AGENT_LLM) return false;
    if (to == parent) return !hob_agent_has(a, HOB_AGENT_NO_PARENT_TRANSFER);
    return is_child(f, to, parent) && !hob_agent_has(a, HOB_AGENT_NO_PEER_TRANSFER);
}

const char *hob_point_name(hob_point p) {
    static const char *const names[] = {"none", "before", "run", "after"};
    return names[p];
}

static hob_point point_from(hob_str name) {
    for (int p = HOB_POINT_BEFORE; p <= HOB_POINT_AFTER; p++)
        if (hob_str_eqz(name, hob_point_name((hob_point)p))) return (hob_point)p;
    return HOB_POINT_NONE;
}

static bool has(const hob_agent_callbacks *c, hob_point p) {
    return c && (p == HOB_POINT_BEFORE ? c->before_agent : c->after_agent);
}

bool hob_flow_calls(const hob_flow *f, const hob_frame *fr, hob_point p) {
    if (p == HOB_POINT_RUN) return fr->agent->o.run;
    return has(f->callbacks, p) || has(fr->agent->o.callbacks, p);
}

/* ---- who set what, while agents work side by side ------------------------------------------------------ */

static const char said[] = "*"; /* in the place of a branch: that several set it was noted */

/* "a.b" is on the way of "a.b.c", and of itself. */
static bool is_on_way(hob_str up, hob_str down) {
    if (!hob_str_starts(down, up)) return false;
    return !up.n || down.n == up.n || down.p[up.n] == '.';
}

/* A key that two branches set while they work side by side: the later one counts, and it is said once. */
static void note_writer(hob_flow *f, hob_str key, hob_str branch) {
    const char *was = f->writers ? hob_map_get(f->writers, key) : NULL;
    bool apart = was && was != said && !is_on_way(hob_str_z(was), branch) &&
                 !is_on_way(branch, hob_str_z(was));
    if (was == said) return;
    if (apart && f->conflicts.n) hob_buf_addc(&f->conflicts, ',');
    if (apart) hob_json_quote(&f->conflicts, key);
    if (!f->writers) f->writers = hob_map_create();
    if (!f->branches) f->branches = hob_arena_create(0);
    hob_map_put(f->writers, key, (void *)(apart ? said : hob_arena_dup(f->branches, branch).p));
}

/* What was set on branches of a parallel agent that ended was set before whatever its own branch does now. */
static void join_writers(hob_flow *f, hob_str branch) {
    hob_str key;
    void *was;
    if (!branch.n) forget_writers(f);
    for (size_t pos = 0; f->writers && hob_map_next(f->writers, &pos, &key, &was);)
        if (was != said && is_on_way(branch, hob_str_z(was)))
            hob_map_put(f->writers, key, (void *)hob_arena_dup(f->branches, branch).p);
}

/* ---- agents -------------------------------------------------------------------------------------------- */

/* Everything below begins anew. */
static void clear_below(hob_flow *f, size_t at) {
    for (size_t i = at + 1; i < at + f->frames[at].agent->total; i++) clear(&f->frames[i], i);
}

/* A loop's next round: its agents were there before. */
static void begin_round(hob_flow *f, size_t loop, int iteration) {
    if (f->frames[loop].agent->o.kind != HOB_AGENT_LOOP) return;
    if (iteration <= f->frames[loop].iteration) return;
    clear_below(f, loop);
    f->frames[loop].iteration = iteration;
}

static void agent_started(hob_flow *f, hob_run *root, size_t i, const hob_event *e,
                          const hob_json *d) {
    ptrdiff_t slot = hob_flow_index(f, hob_json_get_str(d, "slot"));
    hob_frame *fr = &f->frames[i];
    int iteration = (int)HOB_MIN(hob_json_get_int(d, "iteration", 0), INT32_MAX);
    if (iteration > 0) begin_round(f, fr->parent, iteration);
    size_t holder = fr->holder;
    int transfers = fr->transfers;
    clear_below(f, i);
    clear(fr, i);
    fr->holder = holder;
    fr->transfers = transfers;
    fr->slot = slot < 0 || !is_within(f, i, (size_t)slot) ? i : (size_t)slot;
    f->frames[fr->slot].holder = i;
    fr->state = HOB_FRAME_ACTIVE;
    fr->branch = hob_dupz(e->branch);
    fr->run = HOB_NEW(hob_run);
    hob_run_strand_begin(fr->run, root, hob_agent_name(fr->agent), hob_str_z(fr->branch));
    fr->run->limits.turns = fr->agent->o.max_turns;
    if (!f->begun) hob_run_agents_begin(root);
    f->begun = true;
}

static void note_failure(hob_frame *fr, const hob_json *d) {
    const hob_json *error = hob_json_get(d, "error");
    hob_run *r = fr->run;
    hob_str_out(hob_json_get_str(d, "reason"), r->end_reason, sizeof r->end_reason);
    if (!error) return;
    r->fail = (hob_fault){.code = hob_error_from(hob_json_get_str(error, "code")),
                          .sub = (int)hob_json_get_int(error, "status", 0),
                          .retryable = hob_json_get_bool(error, "retryable", false)};
    hob_str_out(hob_json_get_str(error, "message"), r->fail.message, sizeof r->fail.message);
}

/* A slot is held by itself or by one below it, so that looking for who works always leads down. */
static void hand_over(hob_flow *f, hob_frame *fr, hob_str to) {
    ptrdiff_t target = hob_flow_index(f, to);
    if (target < 0 || !is_within(f, (size_t)target, fr->slot)) return;
    fr->transferred = true;
    f->frames[fr->slot].holder = (size_t)target;
    f->frames[fr->slot].transfers++;
    f->frames[target].state = HOB_FRAME_IDLE;
}

static void agent_finished(hob_flow *f, hob_run *root, size_t i, const hob_json *d) {
    hob_frame *fr = &f->frames[i];
    hob_str status = hob_json_get_str(d, "status");
    if (fr->state != HOB_FRAME_ACTIVE) return;
    fr->state = HOB_FRAME_DONE;
    fr->completed = hob_str_eqz(status, "completed");
    fr->escalated = hob_json_get_bool(d, "escalate", false);
    fr->point = HOB_POINT_NONE;
    note_failure(fr, d);
    if (hob_str_eqz(status, "transferred")) hand_over(f, fr, hob_json_get_str(d, "transfer"));
    if (fr->agent->o.kind == HOB_AGENT_PARALLEL) join_writers(f, hob_str_z(fr->branch));
    if (!hob_flow_slot_done(f, 0)) return;
    const hob_frame *last = &f->frames[f->frames[0].holder];
    hob_run_agents_end(root, last->completed ? NULL : last->run);
    f->begun = false;
}

/* ---- functions of the host ------------------------------------------------------------------------------- */

static void callback_started(hob_frame *fr, const hob_event *e, const hob_json *d) {
    fr->point = point_from(hob_json_get_str(d, "point"));
    fr->point_seq = e->seq;
    fr->lost = fr->said_state = fr->spoke = false;
}

static void callback_finished(hob_frame *fr, const hob_json *d) {
    hob_str outcome = hob_json_get_str(d, "outcome");
    if (!fr->point) return;
    fr->passed |= 1u << fr->point;
    if (fr->point == HOB_POINT_BEFORE) fr->replaced = hob_json_get_bool(d, "spoke", false);
    if (hob_json_get_bool(d, "escalate", false)) fr->escalated = true;
    fr->run->transfer = hob_arena_dup(fr->run->arena, hob_json_get_str(d, "transfer"));
    fr->point = HOB_POINT_NONE;
    if (hob_str_eqz(outcome, "ok") || fr->run->ending) return;
    fr->faulted = true;
    fr->run->ending = HOB_ENDING_FAILED;
    fr->run->fail = (hob_fault){.code = HOB_EAGENT};
    hob_str_out(hob_json_get_str(d, "reason"), fr->run->fail.message, sizeof fr->run->fail.message);
}

/* ---- answers and state ---------------------------------------------------------------------------------------- */

/* The text of the last answer, when the state is to have it. */
static void keep_text(hob_frame *fr, const hob_json *d) {
    hob_buf text;
    if (!fr->agent->o.output_key && !fr->agent->schema) return;
    hob_buf_init(&text, HOB_EVENT_MAX);
    for (const hob_json *b = hob_json_first(hob_json_get(d, "content")); b; b = hob_json_next(b))
        if (hob_str_eqz(hob_json_get_str(b, "type"), "text"))
            hob_buf_add(&text, hob_json_get_str(b, "text"));
    hob_free(fr->text);
    fr->text = hob_dupz(hob_buf_str(&text));
    fr->text_n = text.n;
    fr->stored = false;
    hob_buf_finish(&text);
}

static void state_changed(hob_flow *f, const hob_event *e, const hob_json *d) {
    ptrdiff_t i = hob_flow_index(f, e->agent);
    const hob_frame *fr = i < 0 ? NULL : &f->frames[i];
    if (fr && fr->point) f->frames[i].said_state = true;
    if (fr && hob_json_get_bool(d, "output", false)) f->frames[i].stored = true;
    if (!e->branch.n) return;
    for (const hob_json *v = hob_json_first(hob_json_get(d, "delta")); v; v = hob_json_next(v))
        note_writer(f, hob_json_key(v), e->branch);
    static const char *const lists[] = {"removed", "temp"};
    for (size_t k = 0; k < HOB_ARRAY_LEN(lists); k++)
        for (const hob_json *v = hob_json_first(hob_json_get(d, lists[k])); v; v = hob_json_next(v))
            note_writer(f, hob_json_str(v), e->branch);
}

/* ---- strands ----------------------------------------------------------------------------------------------- */

static void release(hob_run *root, hob_run *strand) {
    root->reserved.tokens -= strand->reserved.tokens;
    root->reserved.usd -= strand->reserved.usd;
    strand->reserved.tokens = 0;
    strand->reserved.usd = 0;
}

static void reserve(hob_run *root, const hob_json *d, hob_run *strand) {
    strand->reserved.tokens = HOB_MAX(hob_json_get_int(d, "reserved_tokens", 0), 0);
    strand->reserved.usd = HOB_MAX(hob_json_get_double(d, "reserved_usd", 0), 0);
    root->reserved.tokens += strand->reserved.tokens;
    root->reserved.usd += strand->reserved.usd;
}

static int strand_event(hob_frame *fr, hob_run *root, const hob_event *e, const hob_json *d,
                        hob_error *err) {
    hob_spent before = fr->run->spent;
    switch ((int)e->type) {
    case HOB_EVENT_MODEL_CALL_STARTED:
    case HOB_EVENT_ASSISTANT_MESSAGE:
    case HOB_EVENT_MODEL_CALL_FAILED: release(root, fr->run);
    }
    if (e->type == HOB_EVENT_MODEL_CALL_STARTED) reserve(root, d, fr->run);
    bool books_itself = e->type == HOB_EVENT_CHILD_FINISHED; /* sub-agents are the whole run's */
    int rc = hob_run_apply(fr->run, e, d, err);
    if (!books_itself) hob_run_agents_book(root, &before, &fr->run->spent);
    if (fr->run->escalate) fr->escalated = true;
    return rc;
}

/* What concerns the whole run concerns every strand. */
static int tell_all(hob_flow *f, const hob_event *e, const hob_json *d, hob_error *err) {
    for (size_t i = 0; i < f->n; i++) {
        hob_frame *fr = &f->frames[i];
        if (fr->state != HOB_FRAME_ACTIVE) continue;
        int rc = hob_run_apply(fr->run, e, d, err);
        if (rc < 0) return rc;
        if (e->type == HOB_EVENT_CANCEL_REQUESTED && fr->run->ending == HOB_ENDING_SETTLE)
            fr->lost = fr->point != HOB_POINT_NONE;
    }
    return HOB_OK;
}

static void run_started(hob_flow *f, hob_run *root, const hob_json *d) {
    if (!hob_str_eqz(hob_json_get_str(d, "origin"), "resume")) {
        clear_all(f);
        return;
    }
    for (size_t i = 0; i < f->n; i++) {
        hob_frame *fr = &f->frames[i];
        if (fr->state != HOB_FRAME_ACTIVE) continue;
        release(root, fr->run);
        hob_run_strand_resume(fr->run, root);
        fr->lost = fr->point != HOB_POINT_NONE;
    }
}

/* An answer of a function of the host is an answer of its agent, but not of its model. */
static bool is_models(const hob_frame *fr, const hob_json *d) {
    return fr->agent->o.kind == HOB_AGENT_LLM && !hob_json_get(d, "by");
}

static int agents_event(hob_flow *f, hob_run *root, size_t i, const hob_event *e, const hob_json *d,
                        hob_error *err) {
    hob_frame *fr = &f->frames[i];
    if (e->type == HOB_EVENT_AGENT_STARTED) agent_started(f, root, i, e, d);
    if (fr->state != HOB_FRAME_ACTIVE) return HOB_OK; /* it has ended: the first end counts */
    switch ((int)e->type) {
    case HOB_EVENT_AGENT_STARTED: return HOB_OK;
    case HOB_EVENT_AGENT_FINISHED: agent_finished(f, root, i, d); return HOB_OK;
    case HOB_EVENT_CALLBACK_STARTED: callback_started(fr, e, d); return HOB_OK;
    case HOB_EVENT_CALLBACK_FINISHED: callback_finished(fr, d); return HOB_OK;
    case HOB_EVENT_STATE_CHANGED: break;         /* also its strand's: the deltas of a batch */
    case HOB_EVENT_LIMIT_REACHED: return HOB_OK; /* told to all, below */
    case HOB_EVENT_ASSISTANT_MESSAGE:
        keep_text(fr, d);
        if (fr->point) fr->spoke = true;
        if (!is_models(fr, d)) return HOB_OK;
        break;
    }
    return strand_event(fr, root, e, d, err);
}

int hob_flow_apply(hob_flow *f, hob_run *root, const hob_event *e, const hob_json *d,
                   hob_error *err) {
    bool at_work = root->phase != HOB_PHASE_IDLE && hob_str_eqz(e->run_id, root->id);
    ptrdiff_t i = at_work && e->agent.n ? hob_flow_index(f, e->agent) : -1;
    bool own = hob_str_eqz(hob_json_get_str(d, "scope"), "agent");
    int rc = HOB_OK;
    for (size_t k = 0; k < f->n; k++)
        if (f->frames[k].run) f->frames[k].run->last_seq = e->seq; /* ids come from it */
    if (i >= 0) rc = agents_event(f, root, (size_t)i, e, d, err);
    if (rc < 0) return rc;
    switch ((int)e->type) {
    case HOB_EVENT_RUN_STARTED: run_started(f, root, d); break;
    case HOB_EVENT_STATE_CHANGED: state_changed(f, e, d); break;
    case HOB_EVENT_WARNING:
        if (hob_str_eqz(hob_json_get_str(d, "code"), "state_conflict"))
            hob_buf_reset(&f->conflicts);
        break;
    case HOB_EVENT_CANCEL_REQUESTED:
    case HOB_EVENT_RUN_PAUSED:
    case HOB_EVENT_RUN_RESUMED:
    case HOB_EVENT_STEER_DELIVERED: rc = tell_all(f, e, d, err); break;
    case HOB_EVENT_LIMIT_REACHED:
        rc = own && i >= 0 ? hob_run_apply(f->frames[i].run, e, d, err) : tell_all(f, e, d, err);
        break;
    }
    if (root->phase == HOB_PHASE_AGENTS && root->ending && hob_flow_slot_vacant(f, 0)) {
        hob_run_agents_end(root, NULL); /* handed over to one that will not begin any more */
        f->begun = false;
    }
    if (root->phase == HOB_PHASE_AGENTS)
        hob_run_agents_park(root, hob_flow_parked(f, root->paused), e->ts);
    return rc;
}
