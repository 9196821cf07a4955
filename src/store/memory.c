/*
 * memory.c - a store that forgets everything when it is closed.
 *
 * Requests wait in a queue and are carried out on the loop, in the order of the calls, when the loop
 * comes round. Nothing changes while a callback runs, so answers may point into the store itself.
 */
#include "store/memory.h"

#include "store/store.h"

static const char owner_name[] = "this process";

static void set_str(hob_str *to, hob_str from) {
    if (from.n == 0) return;
    hob_free((void *)to->p);
    *to = hob_str_n(hob_dupz(from), from.n);
}

static void set_number(int64_t *to, int64_t from) {
    if (from >= 0) *to = from;
}

static void set_row(hob_store_session *to, const hob_store_session *from) {
    set_str(&to->cwd, from->cwd);
    set_str(&to->title, from->title);
    set_str(&to->model, from->model);
    set_str(&to->parent, from->parent);
    set_str(&to->state, from->state);
    set_number(&to->created_ms, from->created_ms);
    set_number(&to->updated_ms, from->updated_ms);
    set_number(&to->messages, from->messages);
}

/* ---- snapshots ---------------------------------------------------------------------------- */

static void drop_parts(hob_store_snapshot *snap) {
    for (size_t i = 0; i < snap->nparts; i++) hob_free((void *)snap->parts[i].p);
    hob_free((void *)snap->parts);
    snap->parts = NULL;
    snap->nparts = 0;
}

static void snapshot_destroy(hob_store_snapshot *snap) {
    if (!snap) return;
    drop_parts(snap);
    hob_free((void *)snap->head.p);
    hob_free(snap);
}

static void put_snapshot(hob_ram_log *g, const hob_store_snapshot *from) {
    if (!g->snapshot) g->snapshot = HOB_NEW(hob_store_snapshot);
    hob_store_snapshot *to = g->snapshot;
    if (from->restart) drop_parts(to);
    hob_str *parts = hob_realloc((void *)to->parts, (to->nparts + from->nparts) * sizeof(*parts));
    for (size_t i = 0; i < from->nparts; i++)
        parts[to->nparts++] = hob_str_n(hob_dupz(from->parts[i]), from->parts[i].n);
    to->parts = parts;
    to->seq = from->seq;
    to->after = from->after;
    hob_free((void *)to->head.p);
    to->head = hob_str_n(hob_dupz(from->head), from->head.n);
}

static int recall(hob_ram *m, hob_store_req *r) {
    hob_ram_log *g = hob_map_get(m->logs, r->session);
    r->snapshot = g ? g->snapshot : NULL;
    r->after = r->snapshot ? r->snapshot->after : 0;
    return hob_ram_read(m, r);
}

static void log_destroy(hob_ram_log *g) {
    const hob_str all[] = {g->row.id,     g->row.cwd,   g->row.title, g->row.model,
                           g->row.parent, g->row.state, g->row.app,   g->row.user};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) hob_free((void *)all[i].p);
    for (size_t i = 0; i < g->nevents; i++) hob_free((void *)g->events[i].json.p);
    hob_free(g->events);
    snapshot_destroy(g->snapshot);
    hob_free(g);
}

static void run_destroy(hob_ram_run *m) {
    hob_free((void *)m->run.id.p);
    hob_free((void *)m->run.status.p);
    hob_free((void *)m->run.reason.p);
    hob_free((void *)m->run.prompt.p);
    hob_free(m);
}

static bool is_owned(const hob_ram_log *g) {
    return g->row.owner.n > 0;
}

/* ---- own, release, remove ----------------------------------------------------------------- */

static hob_ram_log *create(hob_ram *m, const hob_store_req *r) {
    hob_ram_log *g = HOB_NEW(hob_ram_log);
    g->id = ++m->last_id;
    g->row.number = (uint64_t)g->id;
    set_str(&g->row.id, r->session);
    set_row(&g->row, &r->row);
    g->row.child = r->row.child;
    set_str(&g->row.app, r->row.app);
    set_str(&g->row.user, r->row.user);
    hob_map_put(m->logs, r->session, g);
    return g;
}

static int own(hob_ram *m, hob_store_req *r) {
    hob_ram_log *g = hob_map_get(m->logs, r->session);
    if (g && (r->flags & HOB_OWN_CREATE))
        return hob_store_say_exists(hob_store_req_err(r), r->session);
    if (!(r->flags & HOB_OWN_CREATE) && (!g || !hob_store_req_may(r, &g->row)))
        return hob_store_say_absent(hob_store_req_err(r), r->session);
    if (!g) g = create(m, r);
    if (!(r->flags & HOB_OWN_READ) && !is_owned(g)) {
        g->row.owner = hob_str_z(owner_name);
        g->row.epoch++;
    }
    r->rows = &g->row;
    r->n = 1;
    return 0;
}

static int release(hob_ram *m, hob_store_req *r) {
    hob_ram_log *g = hob_map_get(m->logs, r->session);
    if (!g) return hob_store_say_absent(hob_store_req_err(r), r->session);
    hob_store_append as = {.session = r->session, .epoch = r->epoch};
    if (!is_owned(g) || g->row.epoch != r->epoch)
        return hob_store_say_fenced(hob_store_req_err(r), &as, g->row.epoch);
    g->row.owner = HOB_STR_NULL;
    return 0;
}

static int erase(hob_ram *m, hob_store_req *r) {
    hob_ram_log *g = hob_map_get(m->logs, r->session);
    if (!g) return hob_store_say_absent(hob_store_req_err(r), r->session);
    if (is_owned(g))
        return hob_fail(hob_store_req_err(r), HOB_EBUSY, 0,
                        "session %.*s is open in %s: close it first", HOB_FMT(r->session),
                        owner_name);
    size_t at = 0;
    void *value;
    hob_str key;
    while (hob_map_next(m->runs, &at, &key, &value)) {
        if (((hob_ram_run *)value)->log == g) run_destroy(hob_map_take(m->runs, key));
    }
    hob_ram_drop_artifacts(m, g);
    hob_map_take(m->logs, r->session);
    log_destroy(g);
    return 0;
}

/* ---- commit ------------------------------------------------------------------------------- */

static int check_append(hob_ram *m, const hob_store_append *a, hob_error *err) {
    hob_ram_log *g = hob_map_get(m->logs, a->session);
    if (!g) return hob_store_say_absent(err, a->session);
    if (!is_owned(g) || g->row.epoch != a->epoch) return hob_store_say_fenced(err, a, g->row.epoch);
    if (g->row.last_seq != a->after_seq) return hob_store_say_seq(err, a, g->row.last_seq);
    for (size_t i = 0; i < a->nruns; i++) {
        hob_ram_run *known = hob_map_get(m->runs, a->runs[i].id);
        if (known && known->log != g) return hob_store_say_foreign_run(err, a->runs[i].id);
    }
    return hob_ram_check_artifacts(m, a, err);
}

static void add_events(hob_ram_log *g, const hob_store_append *a) {
    if (g->nevents + a->nevents > g->cap) {
        g->cap = HOB_MAX(g->cap * 2, g->nevents + a->nevents);
        g->events = hob_realloc(g->events, g->cap * sizeof(*g->events));
    }
    for (size_t i = 0; i < a->nevents; i++) {
        hob_str json = a->events[i].json;
        g->events[g->nevents++] =
            (hob_store_event){.seq = a->events[i].seq, .json = hob_str_n(hob_dupz(json), json.n)};
    }
    g->row.last_seq += a->nevents;
}

static void put_run(hob_ram *m, hob_ram_log *g, const hob_store_run *run) {
    hob_ram_run *known = hob_map_get(m->runs, run->id);
    if (!known) {
        const hob_ram_run *before = hob_map_get(m->runs, run->continues);
        known = HOB_NEW(hob_ram_run);
        known->id = ++m->last_id;
        known->log = g;
        set_str(&known->run.id, run->id);
        known->run.session = g->row.id;
        if (before && before->log == g) set_str(&known->run.prompt, before->run.prompt);
        hob_map_put(m->runs, run->id, known);
    }
    set_str(&known->run.status, run->status);
    set_str(&known->run.reason, run->reason);
    set_str(&known->run.prompt, run->prompt);
    set_number(&known->run.started_ms, run->started_ms);
    set_number(&known->run.finished_ms, run->finished_ms);
    if (run->first_seq) known->run.first_seq = run->first_seq;
    if (run->last_seq) known->run.last_seq = run->last_seq;
}

static int commit(hob_ram *m, hob_store_req *r) {
    for (size_t i = 0; i < r->nappends; i++) {
        int rc = check_append(m, &r->appends[i], hob_store_req_err(r));
        if (rc < 0) return rc;
    }
    int rc = hob_ram_check_changes(m, r);
    if (rc < 0) return rc;
    for (size_t i = 0; i < r->nappends; i++) {
        const hob_store_append *a = &r->appends[i];
        hob_ram_log *g = hob_map_get(m->logs, a->session);
        add_events(g, a);
        if (a->row) set_row(&g->row, a->row);
        for (size_t k = 0; k < a->nstates; k++) hob_ram_put_state(m, &a->states[k]);
        for (size_t k = 0; k < a->nruns; k++) put_run(m, g, &a->runs[k]);
        if (a->snapshot) put_snapshot(g, a->snapshot);
        if (a->copy) hob_ram_copy_artifacts(m, g, a->copy);
        for (size_t k = 0; k < a->nartifacts; k++) hob_ram_put_artifact(m, g, &a->artifacts[k]);
    }
    for (size_t i = 0; i < r->nchanges; i++) hob_ram_change(m, &r->changes[i]);
    return 0;
}

/* ---- the queue ---------------------------------------------------------------------------- */

static int carry_out(hob_ram *m, hob_store_req *r) {
    switch (r->op) {
    case HOB_OP_OWN: return own(m, r);
    case HOB_OP_RELEASE: return release(m, r);
    case HOB_OP_COMMIT: return commit(m, r);
    case HOB_OP_READ: return hob_ram_read(m, r);
    case HOB_OP_RECALL: return recall(m, r);
    case HOB_OP_STATES: return hob_ram_states(m, r);
    case HOB_OP_SESSIONS: return hob_ram_sessions(m, r);
    case HOB_OP_RUNS: return hob_ram_runs(m, r);
    case HOB_OP_SEARCH: return hob_ram_search(m, r);
    case HOB_OP_REMOVE: return erase(m, r);
    case HOB_OP_MEMORIES: return hob_ram_memories(m, r);
    case HOB_OP_ARTIFACTS: return hob_ram_artifacts(m, r);
    case HOB_OP_CLAIM: return hob_ram_claim(m, r);
    }
    return HOB_EINVAL;
}

static void destroy_values(hob_map *map, void (*destroy)(void *)) {
    size_t at = 0;
    void *value;
    while (hob_map_next(map, &at, NULL, &value)) destroy(value);
    hob_map_destroy(map);
}

static void destroy_log(void *value) {
    log_destroy(value);
}

static void destroy_run(void *value) {
    run_destroy(value);
}

static void destroy_state(void *value) {
    hob_state_destroy(value);
}

static void destroy(hob_ram *m) {
    hob_wake_destroy(m->wake);
    destroy_values(m->states, destroy_state);
    destroy_values(m->runs, destroy_run);
    destroy_values(m->logs, destroy_log);
    destroy_values(m->tenants, hob_ram_tenant_destroy);
    destroy_values(m->shelves, hob_ram_shelf_destroy);
    hob_free(m);
}

/* Carries out what waits now; what callbacks add comes when the loop comes round again. A callback may
 * close the store: then the queue is empty, and the outermost call takes the rest away. */
static void drain(void *owner) {
    hob_ram *m = owner;
    hob_list *last = m->queue.prev;
    bool end = hob_list_empty(&m->queue);
    m->depth++;
    while (!end && !m->closed) {
        hob_store_req *r = HOB_LIST_FIRST(&m->queue, hob_store_req, link);
        end = &r->link == last;
        hob_list_remove(&r->link);
        if (r->code >= 0) r->code = carry_out(m, r);
        hob_store_req_finish(r);
    }
    if (--m->depth == 0 && m->closed) destroy(m);
}

static void submit(hob_store_front *f, hob_store_req *r) {
    hob_ram *m = (hob_ram *)f;
    hob_list_push(&m->queue, &r->link);
    hob_wake_ring(m->wake);
}

static void close_store(hob_store *s) {
    hob_ram *m = (hob_ram *)s;
    while (!hob_list_empty(&m->queue)) drain(m);
    if (m->depth > 0)
        m->closed = true;
    else
        destroy(m);
}

static const hob_store_ops ops = {
    .size = sizeof(ops), .name = "memory", HOB_STORE_FRONT_OPS, .close = close_store};

int hob_store_memory_open(hob_loop *l, hob_store **out, hob_error *err) {
    (void)err; /* nothing here can fail */
    hob_ram *m = HOB_NEW(hob_ram);
    m->front.base.ops = &ops;
    m->front.submit = submit;
    m->front.clock = hob_loop_clock(l);
    m->logs = hob_map_create();
    m->runs = hob_map_create();
    m->states = hob_map_create();
    m->tenants = hob_map_create();
    m->shelves = hob_map_create();
    hob_list_init(&m->queue);
    m->wake = hob_wake_create(l, drain, m);
    *out = &m->front.base;
    return 0;
}
