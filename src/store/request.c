/*
 * request.c - calls become requests: inputs checked and copied, answers delivered.
 *
 * Copying runs the same code twice: first with no memory, to count, then into the block. So the size
 * and the layout cannot disagree.
 */
#include "store/request.h"

#include <stdalign.h>

typedef hob_pack pack;

static void *pack_bytes(pack *p, const void *from, size_t n, size_t align) {
    p->n = (p->n + align - 1) & ~(align - 1);
    char *to = p->base ? p->base + p->n : NULL;
    if (to && n) memcpy(to, from, n);
    p->n += n;
    return to;
}

static void pack_str(pack *p, hob_str *s) {
    char *to = pack_bytes(p, s->p, s->n, 1);
    if (to) s->p = to;
}

void *hob_pack_bytes(hob_pack *p, const void *from, size_t n, size_t align) {
    return pack_bytes(p, from, n, align);
}

void hob_pack_str(hob_pack *p, hob_str *s) {
    pack_str(p, s);
}

static void pack_row(pack *p, hob_store_session *row) {
    hob_str *all[] = {&row->id,    &row->cwd,   &row->title, &row->model, &row->parent,
                      &row->state, &row->owner, &row->app,   &row->user};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) pack_str(p, all[i]);
}

static void pack_events(pack *p, hob_store_append *a) {
    hob_store_event *to =
        pack_bytes(p, a->events, a->nevents * sizeof(*to), alignof(hob_store_event));
    for (size_t i = 0; i < a->nevents; i++) {
        hob_store_event e = a->events[i];
        pack_str(p, to ? &to[i].json : &e.json);
    }
    if (to) a->events = to;
}

static void pack_runs(pack *p, hob_store_append *a) {
    hob_store_run *to = pack_bytes(p, a->runs, a->nruns * sizeof(*to), alignof(hob_store_run));
    for (size_t i = 0; i < a->nruns; i++) {
        hob_store_run copy = a->runs[i];
        hob_store_run *run = to ? &to[i] : &copy;
        hob_str *all[] = {&run->id,     &run->session, &run->status,
                          &run->reason, &run->prompt,  &run->continues};
        for (size_t k = 0; k < HOB_ARRAY_LEN(all); k++) pack_str(p, all[k]);
    }
    if (to) a->runs = to;
}

static void pack_states(pack *p, hob_store_append *a) {
    hob_store_state *to =
        pack_bytes(p, a->states, a->nstates * sizeof(*to), alignof(hob_store_state));
    for (size_t i = 0; i < a->nstates; i++) {
        hob_store_state copy = a->states[i];
        hob_store_state *state = to ? &to[i] : &copy;
        hob_str *all[] = {&state->app, &state->user, &state->key, &state->value};
        for (size_t k = 0; k < HOB_ARRAY_LEN(all); k++) pack_str(p, all[k]);
    }
    if (to) a->states = to;
}

static void pack_snapshot(pack *p, hob_store_append *a) {
    hob_store_snapshot copy = *a->snapshot;
    hob_store_snapshot *to = pack_bytes(p, a->snapshot, sizeof(*to), alignof(hob_store_snapshot));
    hob_store_snapshot *snap = to ? to : &copy;
    pack_str(p, &snap->head);
    hob_str *parts = pack_bytes(p, snap->parts, snap->nparts * sizeof(*parts), alignof(hob_str));
    for (size_t i = 0; i < snap->nparts; i++) {
        hob_str part = snap->parts[i];
        pack_str(p, parts ? &parts[i] : &part);
    }
    if (parts) snap->parts = parts;
    if (to) a->snapshot = to;
}

static void pack_append(pack *p, hob_store_append *a) {
    pack_str(p, &a->session);
    pack_events(p, a);
    pack_runs(p, a);
    pack_states(p, a);
    if (a->snapshot) pack_snapshot(p, a);
    hob_store_pack_artifacts(p, a);
    if (!a->row) return;
    hob_store_session copy = *a->row;
    hob_store_session *row = pack_bytes(p, a->row, sizeof(*row), alignof(hob_store_session));
    pack_row(p, row ? row : &copy);
    if (row) a->row = row;
}

static void pack_appends(pack *p, hob_store_req *r) {
    hob_store_append *to =
        pack_bytes(p, r->appends, r->nappends * sizeof(*to), alignof(hob_store_append));
    for (size_t i = 0; i < r->nappends; i++) {
        hob_store_append copy = r->appends[i];
        pack_append(p, to ? &to[i] : &copy);
    }
    if (to) r->appends = to;
}

static void pack_query(pack *p, hob_store_query *q) {
    hob_str *all[] = {&q->cwd,    &q->session, &q->status, &q->cursor,
                      &q->parent, &q->app,     &q->user,   &q->run};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) pack_str(p, all[i]);
}

static void pack_look(pack *p, hob_store_search *q) {
    hob_str *all[] = {&q->app, &q->user, &q->query, &q->cursor};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) pack_str(p, all[i]);
}

static void pack_request(pack *p, hob_store_req *r) {
    pack_bytes(p, r, sizeof(*r), alignof(max_align_t));
    if (p->base) r = (hob_store_req *)(void *)p->base;
    pack_str(p, &r->session);
    pack_query(p, &r->query);
    pack_look(p, &r->look);
    pack_str(p, &r->app);
    pack_str(p, &r->tenant);
    pack_row(p, &r->row);
    pack_appends(p, r);
    hob_store_pack_memory(p, r);
    hob_store_pack_shelf(p, r);
}

static size_t measure(const hob_store_req *r) {
    hob_store_req scratch = *r;
    pack p = {.base = NULL};
    pack_request(&p, &scratch);
    return p.n;
}

/* A request that will only be answered carries nothing but its address. */
static void strip(hob_store_req *r) {
    r->row = (hob_store_session){0};
    r->appends = NULL;
    r->nappends = r->nevents = r->bytes = 0;
    r->query = (hob_store_query){0};
    r->look = (hob_store_search){0};
    r->app = r->tenant = HOB_STR_NULL;
    r->changes = NULL;
    r->nchanges = 0;
    r->wanted = (hob_store_memory_query){0};
    r->shelf = (hob_store_artifact_query){0};
    r->names = NULL;
    r->nnames = 0;
    if (r->session.n > HOB_STORE_TEXT_MAX) r->session = HOB_STR_NULL;
}

/* Copies a request whose slices still point to the caller's memory, and hands it to the store. */
static void send(hob_store *s, hob_store_req *shallow) {
    hob_store_front *f = (hob_store_front *)s;
    if (shallow->code < 0) strip(shallow);
    size_t n = measure(shallow);
    if (shallow->code >= 0 && (f->load > HOB_STORE_LOAD_MAX || n > HOB_STORE_LOAD_MAX - f->load)) {
        shallow->code =
            hob_fail(hob_store_req_err(shallow), HOB_EAGAIN, 0,
                     "the store has %zu bytes waiting already: wait for its answers", f->load);
        strip(shallow);
        n = measure(shallow);
    }
    pack copy = {.base = hob_realloc(NULL, n)};
    pack_request(&copy, shallow);
    hob_store_req *r = (hob_store_req *)(void *)copy.base;
    r->front = f;
    r->load = n;
    hob_list_init(&r->link);
    hob_list_init(&r->order);
    f->load += n;
    f->submit(f, r);
}

void hob_store_send(hob_store *s, hob_store_req *shallow) {
    send(s, shallow);
}

/* ---- checks ------------------------------------------------------------------------------- */

static void check_id(hob_store_req *r, hob_str id, const char *what) {
    if (r->code >= 0 && !hob_id_valid(id))
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0,
                           "\"%.*s\" is no %s id: letters, digits and . _ - between them, at most "
                           "128 bytes",
                           (int)HOB_MIN(id.n, (size_t)160), id.p ? id.p : "", what);
}

static void check_size(hob_store_req *r, size_t n, size_t max, const char *what) {
    if (r->code >= 0 && n > max)
        r->code =
            hob_fail(hob_store_req_err(r), HOB_ETOOBIG, 0,
                     "%s: %zu is over the limit of %zu; make it smaller or split it", what, n, max);
}

static void check_row(hob_store_req *r, const hob_store_session *row) {
    check_size(r, row->cwd.n, HOB_STORE_TEXT_MAX, "bytes of the folder of a session");
    check_size(r, row->title.n, HOB_STORE_TEXT_MAX, "bytes of the title of a session");
    check_size(r, row->model.n, HOB_STORE_TEXT_MAX, "bytes of the model of a session");
    check_size(r, row->parent.n, HOB_STORE_TEXT_MAX, "bytes of the parent of a session");
    check_size(r, row->state.n, HOB_STORE_TEXT_MAX, "bytes of the state of a session");
    check_size(r, row->app.n, HOB_STORE_TEXT_MAX, "bytes of the application of a session");
    check_size(r, row->user.n, HOB_STORE_TEXT_MAX, "bytes of the user of a session");
}

static void check_runs(hob_store_req *r, const hob_store_append *a) {
    check_size(r, a->nruns, HOB_STORE_COUNT_MAX, "runs in a commit");
    for (size_t i = 0; i < a->nruns && r->code >= 0; i++) {
        const hob_store_run *run = &a->runs[i];
        check_id(r, run->id, "run");
        check_size(r, run->continues.n, HOB_STORE_TEXT_MAX, "bytes of a run that is continued");
        check_size(r, run->status.n, HOB_STORE_TEXT_MAX, "bytes of the status of a run");
        check_size(r, run->reason.n, HOB_STORE_TEXT_MAX, "bytes of the reason of a run");
        check_size(r, run->prompt.n, HOB_STORE_TEXT_MAX, "bytes of the prompt of a run");
    }
}

static void check_events(hob_store_req *r, const hob_store_append *a) {
    check_size(r, r->nevents + a->nevents, HOB_STORE_COUNT_MAX, "events in a commit");
    for (size_t i = 0; i < a->nevents && r->code >= 0; i++) {
        const hob_store_event *e = &a->events[i];
        check_size(r, e->json.n, HOB_STORE_EVENT_MAX, "bytes of an event");
        check_size(r, r->bytes + e->json.n, HOB_STORE_BATCH_MAX, "bytes in a commit");
        if (r->code >= 0 && (a->after_seq > INT64_MAX / 2 || e->seq != a->after_seq + 1 + i))
            r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0,
                               "event %zu for session %.*s has seq %llu, not %llu", i,
                               HOB_FMT(a->session), (unsigned long long)e->seq,
                               (unsigned long long)(a->after_seq + 1 + i));
        r->nevents++;
        r->bytes += e->json.n;
    }
}

static void check_tenant(hob_store_req *r, hob_str app, hob_str user) {
    check_size(r, app.n, HOB_STORE_TEXT_MAX, "bytes of the name of an application");
    check_size(r, user.n, HOB_STORE_TEXT_MAX, "bytes of the id of a user");
    if (r->code >= 0 && !app.n)
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0, "which application? name it");
}

static void check_states(hob_store_req *r, const hob_store_append *a) {
    check_size(r, a->nstates, HOB_STORE_COUNT_MAX, "shared values in a commit");
    for (size_t i = 0; i < a->nstates && r->code >= 0; i++) {
        const hob_store_state *state = &a->states[i];
        check_tenant(r, state->app, state->user);
        check_size(r, state->key.n, HOB_STORE_TEXT_MAX, "bytes of the key of a shared value");
        check_size(r, state->value.n, HOB_STORE_EVENT_MAX, "bytes of a shared value");
        r->bytes += state->value.n;
        check_size(r, r->bytes, HOB_STORE_BATCH_MAX, "bytes in a commit");
    }
}

static void check_snapshot(hob_store_req *r, const hob_store_append *a) {
    const hob_store_snapshot *snap = a->snapshot;
    check_size(r, snap->head.n, HOB_STORE_HEAD_MAX, "bytes of the head of a snapshot");
    check_size(r, snap->nparts, HOB_STORE_COUNT_MAX, "parts of a snapshot");
    r->bytes += snap->head.n;
    for (size_t i = 0; i < snap->nparts && r->code >= 0; i++) {
        check_size(r, snap->parts[i].n, HOB_STORE_PART_MAX, "bytes of a part of a snapshot");
        r->bytes += snap->parts[i].n;
        check_size(r, r->bytes, HOB_STORE_BATCH_MAX, "bytes in a commit");
    }
    if (r->code >= 0 && (snap->seq > a->after_seq + a->nevents || snap->after > snap->seq))
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0,
                           "a snapshot for session %.*s stands at event %llu, which is not stored",
                           HOB_FMT(a->session), (unsigned long long)snap->seq);
}

/* A run is of one session. The first append that names it is remembered. */
static void check_run_once(hob_store_req *r, hob_map *seen, hob_store_append *a) {
    for (size_t i = 0; i < a->nruns && r->code >= 0; i++) {
        void *other = hob_map_put(seen, a->runs[i].id, a);
        if (other && other != a)
            r->code = hob_store_say_foreign_run(hob_store_req_err(r), a->runs[i].id);
    }
}

/* Each session once: the checks of a commit are made before its first write. */
static void check_append(hob_store_req *r, hob_map *sessions, hob_store_append *a) {
    check_id(r, a->session, "session");
    check_events(r, a);
    check_runs(r, a);
    check_states(r, a);
    hob_store_check_artifacts(r, a);
    if (a->row) check_row(r, a->row);
    if (a->snapshot && r->code >= 0) check_snapshot(r, a);
    if (sessions && r->code >= 0 && hob_map_put(sessions, a->session, a))
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0,
                           "session %.*s is in the commit twice", HOB_FMT(a->session));
}

static void check_appends(hob_store_req *r) {
    check_size(r, r->nappends, HOB_STORE_COUNT_MAX, "sessions in a commit");
    bool several = r->nappends > 1 && r->code >= 0;
    hob_map *sessions = several ? hob_map_create() : NULL;
    hob_map *runs = several ? hob_map_create() : NULL;
    for (size_t i = 0; i < r->nappends && r->code >= 0; i++) {
        check_append(r, sessions, &r->appends[i]);
        if (runs) check_run_once(r, runs, &r->appends[i]);
    }
    hob_map_destroy(sessions);
    hob_map_destroy(runs);
}

/* ---- the calls ---------------------------------------------------------------------------- */

/* A new session has a state and times, whatever the caller left out. */
static void complete_row(hob_store_req *r, const hob_store_session *row, hob_clock *clock) {
    if (row) {
        check_row(r, row);
        r->row = *row;
    }
    r->row.owner = HOB_STR_NULL;
    if (r->row.state.n == 0) r->row.state = HOB_STR("idle");
    if (r->row.created_ms <= 0) r->row.created_ms = clock->wall_ms(clock);
    if (r->row.updated_ms <= 0) r->row.updated_ms = r->row.created_ms;
    r->row.messages = HOB_MAX(r->row.messages, (int64_t)0);
}

void hob_store_front_own(hob_store *s, hob_str session, int flags, const hob_store_session *row,
                         hob_store_own_fn done, void *user) {
    hob_store_req r = {.op = HOB_OP_OWN, .session = session, .flags = flags, .user = user};
    r.call.own = done;
    check_id(&r, session, "session");
    if (flags & HOB_OWN_CREATE)
        complete_row(&r, row, ((hob_store_front *)s)->clock);
    else if (row)
        r.row = (hob_store_session){.app = row->app, .user = row->user};
    if (r.code >= 0 && flags != 0 && flags != HOB_OWN_CREATE && flags != HOB_OWN_READ)
        r.code = hob_fail(hob_store_req_err(&r), HOB_EINVAL, 0,
                          "flags %d: own, create or read a session, one of them", flags);
    send(s, &r);
}

void hob_store_front_release(hob_store *s, hob_str session, uint64_t epoch, hob_store_done_fn done,
                             void *user) {
    hob_store_req r = {.op = HOB_OP_RELEASE, .session = session, .epoch = epoch, .user = user};
    r.call.done = done;
    check_id(&r, session, "session");
    send(s, &r);
}

void hob_store_front_commit(hob_store *s, const hob_store_batch *batch, hob_store_done_fn done,
                            void *user) {
    hob_store_req r = {.op = HOB_OP_COMMIT, .nappends = batch->nappends, .user = user};
    r.appends = (hob_store_append *)batch->appends; /* replaced by the copy */
    r.call.done = done;
    r.changes = (hob_store_memory_change *)batch->memory;
    r.nchanges = batch->nmemory;
    check_appends(&r);
    hob_store_check_changes(&r);
    send(s, &r);
}

void hob_store_front_read(hob_store *s, hob_str session, uint64_t after, size_t limit,
                          size_t max_bytes, hob_store_events_fn done, void *user) {
    hob_store_req r = {.op = HOB_OP_READ, .session = session, .user = user};
    r.after = HOB_MIN(after, (uint64_t)INT64_MAX);
    r.limit = limit ? HOB_MIN(limit, HOB_STORE_COUNT_MAX) : 1000;
    r.max_bytes = max_bytes ? HOB_MIN(max_bytes, HOB_STORE_READ_MAX) : (size_t)4 << 20;
    r.call.events = done;
    check_id(&r, session, "session");
    send(s, &r);
}

void hob_store_front_recall(hob_store *s, hob_str session, size_t limit, hob_store_recall_fn done,
                            void *user) {
    hob_store_req r = {.op = HOB_OP_RECALL, .session = session, .user = user};
    r.limit = limit ? HOB_MIN(limit, HOB_STORE_COUNT_MAX) : 1000;
    r.max_bytes = (size_t)4 << 20;
    r.call.recall = done;
    check_id(&r, session, "session");
    send(s, &r);
}

static void take_query(hob_store_req *r, const hob_store_query *q) {
    r->query = *q;
    r->limit = q->limit ? HOB_MIN(q->limit, (size_t)1000) : 50;
    int64_t ms, id;
    int rc = hob_store_cursor_parse(q->cursor, &ms, &id, hob_store_req_err(r));
    if (rc < 0) r->code = rc;
    check_size(r, q->cwd.n, HOB_STORE_TEXT_MAX, "bytes of a folder");
    check_size(r, q->status.n, HOB_STORE_TEXT_MAX, "bytes of a status");
    check_size(r, q->parent.n, HOB_STORE_TEXT_MAX, "bytes of a parent");
    check_size(r, q->app.n, HOB_STORE_TEXT_MAX, "bytes of the name of an application");
    check_size(r, q->user.n, HOB_STORE_TEXT_MAX, "bytes of the id of a user");
    if (r->code >= 0 && q->user.n && !q->app.n)
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0,
                           "the user of which application? name it, too");
}

void hob_store_front_sessions(hob_store *s, const hob_store_query *q, hob_store_sessions_fn done,
                              void *user) {
    hob_store_req r = {.op = HOB_OP_SESSIONS, .user = user};
    r.call.sessions = done;
    take_query(&r, q);
    send(s, &r);
}

void hob_store_front_runs(hob_store *s, const hob_store_query *q, hob_store_runs_fn done,
                          void *user) {
    hob_store_req r = {.op = HOB_OP_RUNS, .session = q->session, .user = user};
    r.call.runs = done;
    take_query(&r, q);
    if (q->session.n) check_id(&r, q->session, "session");
    if (q->run.n) check_id(&r, q->run, "run");
    send(s, &r);
}

void hob_store_front_states(hob_store *s, hob_str app, hob_str user, hob_store_states_fn done,
                            void *ctx) {
    hob_store_req r = {.op = HOB_OP_STATES, .app = app, .tenant = user, .user = ctx};
    r.call.states = done;
    check_tenant(&r, app, user);
    send(s, &r);
}

void hob_store_front_remove(hob_store *s, hob_str session, hob_store_done_fn done, void *user) {
    hob_store_req r = {.op = HOB_OP_REMOVE, .session = session, .user = user};
    r.call.done = done;
    check_id(&r, session, "session");
    send(s, &r);
}
