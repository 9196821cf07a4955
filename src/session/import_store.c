/*
 * import_store.c - an import that was read to its end goes into the store: all of it, or nothing.
 *
 * Sessions are made empty first, under ids that are free; then all events come in one commit, unless they are too many
 * for one: then in several, those of children before those of their parents. If one fails, what was made is removed.
 */
#include "session/import.h"

#define COMMIT_BYTES ((size_t)64 << 20)
enum { COMMIT_EVENTS = 20000, COMMIT_ARTIFACTS = 1000 };

/* ---- calls of the store that are waited for ------------------------------------------------------------------ */

typedef struct asking {
    hob_op op;
    hob_str id;
    int flags;
    uint64_t epoch;
    const hob_store_session *row;
    const hob_store_batch *batch;
} asking;

static void on_done(int code, const hob_error *err, void *user) {
    hob_op_done(&((asking *)user)->op, code, err);
}

static void on_own(int code, const hob_error *err, const hob_store_session *row, void *user) {
    asking *a = user;
    if (code >= 0) a->epoch = row->epoch;
    hob_op_done(&a->op, code, err);
}

static void start_own(hob_op *op) {
    asking *a = HOB_CONTAINER(op, asking, op);
    op->rt->store->ops->own(op->rt->store, a->id, a->flags, a->row, on_own, a);
}

static void start_commit(hob_op *op) {
    asking *a = HOB_CONTAINER(op, asking, op);
    op->rt->store->ops->commit(op->rt->store, a->batch, on_done, a);
}

static void start_release(hob_op *op) {
    asking *a = HOB_CONTAINER(op, asking, op);
    op->rt->store->ops->release(op->rt->store, a->id, a->epoch, on_done, a);
}

static void start_remove(hob_op *op) {
    asking *a = HOB_CONTAINER(op, asking, op);
    op->rt->store->ops->remove(op->rt->store, a->id, on_done, a);
}

static int ask(hob_import *im, asking *a, void (*start)(hob_op *), hob_error *err) {
    a->op.start = start;
    return hob_op_run(im->rt, &a->op, err);
}

/* ---- ids --------------------------------------------------------------------------------------------------------- */

static int choose_id(hob_import *im, hob_import_part *p, hob_error *err) {
    asking a = {.id = p->from, .flags = HOB_OWN_READ};
    snprintf(p->id, sizeof p->id, "%.*s", HOB_FMT(p->from));
    int rc = ask(im, &a, start_own, err);
    if (rc == HOB_ENOENT) return HOB_OK;
    if (rc >= 0) hob_uuid7_new(hob_clock_real(), p->id);
    return rc;
}

static int rewrite(hob_import *im, hob_import_part *p, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = 0; i < p->n && rc >= 0; i++) rc = hob_import_rewrite(im, p, &p->lines[i], err);
    return rc;
}

/* ---- what is stored ---------------------------------------------------------------------------------------------- */

static void fill_row(hob_import *im, const hob_import_part *p, hob_store_session *row) {
    hob_session_fill_row(p->view, hob_str_z(p->id), HOB_STR("idle"), row);
    row->app = hob_str_z(im->app);
    row->user = hob_str_z(im->user);
    uintptr_t parent = p->parent.n ? (uintptr_t)hob_map_get(im->ids, p->parent) : 0;
    if (!parent) return;
    row->parent = hob_str_z(im->parts[parent - 1].id);
    row->child = 1;
}

static int make(hob_import *im, hob_import_part *p, hob_error *err) {
    hob_store_session row;
    fill_row(im, p, &row);
    asking a = {.id = hob_str_z(p->id), .flags = HOB_OWN_CREATE, .row = &row};
    int rc = ask(im, &a, start_own, err);
    if (rc >= 0) p->epoch = a.epoch;
    return rc;
}

/* Events [first, first + n) of a session, and the runs that they tell of. */
static int fill_append(hob_import *im, const hob_import_part *p, size_t first,
                       hob_store_append *out, hob_error *err) {
    size_t n = out->nevents;
    hob_store_event *events = hob_arena_alloc(im->arena, n * sizeof *events);
    hob_store_run *runs = hob_arena_alloc(im->arena, n * sizeof *runs);
    hob_store_session *row = HOB_ARENA_NEW(im->arena, hob_store_session);
    fill_row(im, p, row);
    for (size_t i = 0; i < n; i++) {
        hob_event *e;
        events[i] = (hob_store_event){.seq = first + i + 1, .json = p->lines[first + i]};
        int rc = hob_event_decode(events[i].json, &e, err);
        if (rc < 0) return rc;
        hob_store_run *run = &runs[out->nruns];
        if (hob_session_fill_run(NULL, e, im->arena, run)) {
            run->id = hob_arena_dup(im->arena, run->id);
            out->nruns++;
        }
        hob_event_unref(e);
    }
    out->session = hob_str_z(p->id);
    out->epoch = p->epoch;
    out->after_seq = first;
    out->events = events;
    out->runs = runs;
    out->row = row;
    return HOB_OK;
}

static int commit(hob_import *im, const hob_store_append *appends, size_t n, hob_error *err) {
    hob_store_batch batch = {.appends = appends, .nappends = n};
    asking a = {.batch = &batch};
    return ask(im, &a, start_commit, err);
}

static int store_at_once(hob_import *im, hob_error *err) {
    hob_store_append *all = hob_arena_alloc(im->arena, im->nparts * sizeof *all);
    int rc = HOB_OK;
    for (size_t i = 0; i < im->nparts && rc >= 0; i++) {
        all[i] = (hob_store_append){.nevents = im->parts[i].n,
                                    .artifacts = im->parts[i].shelf,
                                    .nartifacts = im->parts[i].nshelf};
        rc = fill_append(im, &im->parts[i], 0, &all[i], err);
    }
    return rc < 0 ? rc : commit(im, all, im->nparts, err);
}

static int store_in_pieces(hob_import *im, const hob_import_part *p, hob_error *err) {
    int rc = HOB_OK;
    for (size_t first = 0; first < p->n && rc >= 0;) {
        hob_store_append a = {.nevents = 0};
        size_t bytes = 0;
        while (first + a.nevents < p->n && a.nevents < COMMIT_EVENTS && bytes < COMMIT_BYTES)
            bytes += p->lines[first + a.nevents++].n;
        rc = fill_append(im, p, first, &a, err);
        if (rc >= 0) rc = commit(im, &a, 1, err);
        first += a.nevents;
    }
    return rc;
}

static int store_shelf(hob_import *im, const hob_import_part *p, hob_error *err) {
    int rc = HOB_OK;
    for (size_t first = 0; first < p->nshelf && rc >= 0;) {
        hob_store_append a = {.session = hob_str_z(p->id),
                              .epoch = p->epoch,
                              .after_seq = p->n,
                              .artifacts = &p->shelf[first]};
        size_t bytes = 0;
        while (first < p->nshelf && a.nartifacts < COMMIT_ARTIFACTS && bytes < COMMIT_BYTES) {
            bytes += p->shelf[first++].bytes.n;
            a.nartifacts++;
        }
        rc = commit(im, &a, 1, err);
    }
    return rc;
}

static int store_all(hob_import *im, hob_error *err) {
    int rc = HOB_OK;
    if (im->bytes <= COMMIT_BYTES && im->events <= COMMIT_EVENTS &&
        im->artifacts <= COMMIT_ARTIFACTS)
        return store_at_once(im, err);
    for (size_t i = im->nparts; i-- > 0 && rc >= 0;) {
        rc = store_in_pieces(im, &im->parts[i], err);
        if (rc >= 0) rc = store_shelf(im, &im->parts[i], err);
    }
    return rc;
}

/* Everything is let go of; after a failure nothing of it stays. */
static void let_go(hob_import *im, bool keep) {
    for (size_t i = 0; i < im->nparts; i++) {
        hob_import_part *p = &im->parts[i];
        hob_error err;
        asking release = {.id = hob_str_z(p->id), .epoch = p->epoch}, remove = release;
        if (!p->epoch) continue;
        p->epoch = 0;
        int rc = ask(im, &release, start_release, &err);
        if (rc >= 0 && !keep) rc = ask(im, &remove, start_remove, &err);
        if (rc < 0) hob_log(HOB_LOG_WARN, "import", "%s: %s", p->id, err.message);
    }
}

static void add_row(hob_page *page, const hob_import_part *p) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 4096);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "id", hob_str_z(p->id));
    if (!hob_str_eqz(p->from, p->id)) hob_jsonw_kstr(&w, "from", p->from);
    hob_jsonw_kstr_opt(&w, "parent", p->parent);
    hob_jsonw_kint(&w, "events", (int64_t)p->n);
    if (p->nshelf) hob_jsonw_kint(&w, "artifacts", (int64_t)p->nshelf);
    hob_jsonw_object_end(&w);
    hob_page_add(page, hob_buf_str(&b));
    hob_buf_finish(&b);
}

int hob_import_commit(hob_import *im, hob_page **out, hob_error *err) {
    int rc = HOB_OK;
    if (im->stage != HOB_IMPORT_ENDED)
        return hob_fail(err, HOB_EPARSE, 0,
                        "line %lld: the export is not whole: its end is missing",
                        (long long)im->line + 1);
    im->stage = HOB_IMPORT_FAILED; /* once only */
    for (size_t i = 0; i < im->nparts && rc >= 0; i++) rc = choose_id(im, &im->parts[i], err);
    for (size_t i = 0; i < im->nparts && rc >= 0; i++) rc = rewrite(im, &im->parts[i], err);
    for (size_t i = 0; i < im->nparts && rc >= 0; i++) rc = make(im, &im->parts[i], err);
    if (rc >= 0) rc = store_all(im, err);
    let_go(im, rc >= 0);
    if (rc < 0) return rc;
    hob_page *page = hob_page_create();
    for (size_t i = 0; i < im->nparts; i++) add_row(page, &im->parts[i]);
    *out = page;
    return HOB_OK;
}
