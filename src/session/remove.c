/*
 * remove.c - a stored session and all that worked for it.
 *
 * First everything is found, and nothing is touched if one of them is open somewhere; then they are removed, children
 * before their parents, so that what an interrupted removal leaves is a whole, smaller tree. Before one goes, the git
 * worktrees of its children do, unless they have changes: those are kept.
 */
#include "session/place.h"

enum { DESCENDANTS_MAX = 100000 };

typedef struct removing {
    hob_op op;
    hob_store *store;
    hob_arena *arena;
    hob_str *ids; /* a parent stands before its children */
    size_t n, cap, at;
    hob_page *kept;       /* worktrees */
    hob_str parent;       /* of the first, if it is a child */
    hob_store_session of; /* whose it must be */
} removing;

static void find_children(removing *r, hob_str cursor);
static void remove_last(removing *r);

static void finish(removing *r, int code, const hob_error *err) {
    hob_op_done(&r->op, code, err);
}

static void push(removing *r, hob_str id) {
    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 8;
        r->ids = hob_realloc(r->ids, r->cap * sizeof *r->ids);
    }
    r->ids[r->n++] = hob_arena_dup(r->arena, id);
}

static int check_free(const hob_store_session *row, hob_error *err) {
    if (!row->owner.n) return HOB_OK;
    return hob_fail(err, HOB_EBUSY, 0,
                    "session %.*s is open (%.*s): close it first; nothing was removed",
                    HOB_FMT(row->id), HOB_FMT(row->owner));
}

/* ---- finding ------------------------------------------------------------------------------------------------ */

static void on_children(int code, const hob_error *err, const hob_store_session *rows, size_t n,
                        hob_str next, void *user) {
    removing *r = user;
    hob_error e;
    for (size_t i = 0; i < n && code >= 0; i++) {
        code = check_free(&rows[i], &e);
        if (code < 0) err = &e;
        if (code >= 0) push(r, rows[i].id);
    }
    if (code >= 0 && r->n > DESCENDANTS_MAX) {
        err = &e;
        code = hob_fail(&e, HOB_ETOOBIG, 0, "over %d sessions work for it", DESCENDANTS_MAX);
    }
    if (code < 0)
        finish(r, code, err);
    else if (next.n)
        find_children(r, next);
    else if (++r->at < r->n)
        find_children(r, HOB_STR_NULL);
    else
        remove_last(r);
}

static void find_children(removing *r, hob_str cursor) {
    hob_store_query q = {.parent = r->ids[r->at], .cursor = cursor, .limit = 1000};
    r->store->ops->sessions(r->store, &q, on_children, r);
}

static void on_row(int code, const hob_error *err, const hob_store_session *row, void *user) {
    removing *r = user;
    hob_error e;
    if (code >= 0 && (code = check_free(row, &e)) < 0) err = &e;
    if (code >= 0 && row->child) r->parent = hob_arena_dup(r->arena, row->parent);
    if (code < 0)
        finish(r, code, err);
    else
        find_children(r, HOB_STR_NULL);
}

/* ---- removing ----------------------------------------------------------------------------------------------- */

static void on_removed(int code, const hob_error *err, void *user) {
    removing *r = user;
    if (code < 0 || !--r->n)
        finish(r, code < 0 ? code : (int)hob_page_count(r->kept), err);
    else
        remove_last(r);
}

static void on_own_cleared(void *user) {
    removing *r = user;
    r->store->ops->remove(r->store, r->ids[r->n - 1], on_removed, r);
}

static void on_cleared(void *user) {
    removing *r = user;
    hob_places own = {.parent = r->parent, .child = r->ids[0], .kept = r->kept};
    if (r->n > 1 || !r->parent.n)
        on_own_cleared(r);
    else
        hob_places_clear(r->op.rt, &own, on_own_cleared, r);
}

static void remove_last(removing *r) {
    hob_places of = {.parent = r->ids[r->n - 1], .kept = r->kept};
    hob_places_clear(r->op.rt, &of, on_cleared, r);
}

static void start(hob_op *op) {
    removing *r = HOB_CONTAINER(op, removing, op);
    r->store = op->rt->store;
    r->store->ops->own(r->store, r->ids[0], HOB_OWN_READ, &r->of, on_row, r);
}

int hob_runtime_remove_session_of(hob_runtime *rt, const char *session, const hob_tenant *of,
                                  hob_page **kept, hob_error *err) {
    removing r = {.op = {.start = start}};
    int rc = hob_tenant_take(of, &r.of.app, &r.of.user, err);
    if (rc < 0) return rc;
    r.arena = hob_arena_create(0);
    r.kept = hob_page_create();
    push(&r, hob_str_z(session));
    rc = hob_op_run(rt, &r.op, err);
    hob_free(r.ids);
    hob_arena_destroy(r.arena);
    if (rc >= 0 && kept)
        *kept = r.kept;
    else
        hob_page_destroy(r.kept);
    return rc;
}

int hob_runtime_remove_session(hob_runtime *rt, const char *session, hob_error *err) {
    return hob_runtime_remove_session_of(rt, session, NULL, NULL, err);
}
