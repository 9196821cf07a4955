#include "support/stores.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- answers ------------------------------------------------------------------------------- */

void answer_finish(answer *a) {
    hob_arena_destroy(a->mem);
    *a = (answer){0};
}

static answer *take(int code, const hob_error *err, void *user) {
    answer *a = user;
    int calls = a->calls;
    answer_finish(a);
    a->calls = calls + 1;
    a->code = code;
    a->mem = hob_arena_create(0);
    assert_true((err != NULL) == (code < 0));
    if (err) {
        a->err = *err;
        assert_int_equal(err->code, code);
        assert_true(strlen(err->message) > 10);
    }
    return a;
}

void on_done(int code, const hob_error *err, void *user) {
    take(code, err, user);
}

static void copy_row(answer *a, hob_store_session *to, const hob_store_session *from) {
    *to = *from;
    hob_str *all[] = {&to->id,    &to->cwd,   &to->title, &to->model, &to->parent,
                      &to->state, &to->owner, &to->app,   &to->user};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) *all[i] = hob_arena_dup(a->mem, *all[i]);
}

void on_own(int code, const hob_error *err, const hob_store_session *row, void *user) {
    answer *a = take(code, err, user);
    assert_true((row != NULL) == (code >= 0));
    a->rows = HOB_ARENA_NEW(a->mem, hob_store_session);
    if (row) copy_row(a, a->rows, row);
    a->n = row ? 1 : 0;
}

void on_events(int code, const hob_error *err, const hob_store_event *events, size_t n, int more,
               void *user) {
    answer *a = take(code, err, user);
    a->events = hob_arena_alloc(a->mem, (n + 1) * sizeof(*events));
    for (size_t i = 0; i < n; i++) {
        a->events[i] = events[i];
        a->events[i].json = hob_arena_dup(a->mem, events[i].json);
    }
    a->n = n;
    a->more = more;
}

void on_states(int code, const hob_error *err, const hob_store_state *rows, size_t n, void *user) {
    answer *a = take(code, err, user);
    a->states = hob_arena_alloc(a->mem, (n + 1) * sizeof(*rows));
    for (size_t i = 0; i < n; i++) {
        a->states[i] = rows[i];
        a->states[i].app = hob_arena_dup(a->mem, rows[i].app);
        a->states[i].user = hob_arena_dup(a->mem, rows[i].user);
        a->states[i].key = hob_arena_dup(a->mem, rows[i].key);
        a->states[i].value = hob_arena_dup(a->mem, rows[i].value);
    }
    a->n = n;
}

void on_recall(int code, const hob_error *err, const hob_store_snapshot *snapshot,
               const hob_store_event *events, size_t n, int more, void *user) {
    answer *a = user;
    on_events(code, err, events, n, more, user);
    if (!snapshot) return;
    a->snapshot = HOB_ARENA_NEW(a->mem, hob_store_snapshot);
    *a->snapshot = *snapshot;
    a->snapshot->head = hob_arena_dup(a->mem, snapshot->head);
    hob_str *parts = hob_arena_alloc(a->mem, (snapshot->nparts + 1) * sizeof(*parts));
    for (size_t i = 0; i < snapshot->nparts; i++)
        parts[i] = hob_arena_dup(a->mem, snapshot->parts[i]);
    a->snapshot->parts = parts;
}

void on_sessions(int code, const hob_error *err, const hob_store_session *rows, size_t n,
                 hob_str next, void *user) {
    answer *a = take(code, err, user);
    a->rows = hob_arena_alloc(a->mem, (n + 1) * sizeof(*rows));
    for (size_t i = 0; i < n; i++) copy_row(a, &a->rows[i], &rows[i]);
    a->n = n;
    a->next = hob_arena_dup(a->mem, next);
}

void on_runs(int code, const hob_error *err, const hob_store_run *rows, size_t n, hob_str next,
             void *user) {
    answer *a = take(code, err, user);
    a->runs = hob_arena_alloc(a->mem, (n + 1) * sizeof(*rows));
    for (size_t i = 0; i < n; i++) {
        hob_store_run *to = &a->runs[i];
        *to = rows[i];
        hob_str *all[] = {&to->id,     &to->session, &to->status, &to->reason,
                          &to->prompt, &to->owner,   &to->app,    &to->user};
        for (size_t k = 0; k < HOB_ARRAY_LEN(all); k++) *all[k] = hob_arena_dup(a->mem, *all[k]);
    }
    a->n = n;
    a->next = hob_arena_dup(a->mem, next);
}

void on_hits(int code, const hob_error *err, const hob_store_hit *hits, size_t n, hob_str next,
             void *user) {
    answer *a = take(code, err, user);
    a->hits = hob_arena_alloc(a->mem, (n + 1) * sizeof(*hits));
    for (size_t i = 0; i < n; i++) {
        hob_store_hit *to = &a->hits[i];
        *to = hits[i];
        copy_row(a, &to->session, &hits[i].session);
        to->role = hob_arena_dup(a->mem, to->role);
        to->snippet = hob_arena_dup(a->mem, to->snippet);
    }
    a->n = n;
    a->next = hob_arena_dup(a->mem, next);
}

static void copy_memory(answer *a, hob_store_memory *to, const hob_store_memory *from) {
    *to = *from;
    hob_str *all[] = {&to->id, &to->text, &to->kind, &to->by, &to->session, &to->run};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) *all[i] = hob_arena_dup(a->mem, *all[i]);
    hob_str *tags = hob_arena_alloc(a->mem, (to->ntags + 1) * sizeof(*tags));
    for (size_t i = 0; i < to->ntags; i++) tags[i] = hob_arena_dup(a->mem, to->tags[i]);
    to->tags = tags;
}

void on_memories(int code, const hob_error *err, const hob_store_memory *items, size_t n,
                 const hob_store_tenant *tenant, hob_str next, void *user) {
    answer *a = take(code, err, user);
    a->memories = hob_arena_alloc(a->mem, (n + 1) * sizeof(*items));
    for (size_t i = 0; i < n; i++) copy_memory(a, &a->memories[i], &items[i]);
    a->n = n;
    a->stats = *tenant;
    a->next = hob_arena_dup(a->mem, next);
}

void on_artifacts(int code, const hob_error *err, const hob_store_artifact *items, size_t n,
                  hob_str next, void *user) {
    answer *a = take(code, err, user);
    a->artifacts = hob_arena_alloc(a->mem, (n + 1) * sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        hob_store_artifact *to = &a->artifacts[i];
        *to = items[i];
        hob_str *all[] = {&to->app, &to->user, &to->name, &to->mime, &to->meta, &to->bytes};
        for (size_t k = 0; k < HOB_ARRAY_LEN(all); k++) *all[k] = hob_arena_dup(a->mem, *all[k]);
    }
    a->n = n;
    a->next = hob_arena_dup(a->mem, next);
}

void on_claim(int code, const hob_error *err, const int64_t *versions, size_t n, void *user) {
    answer *a = take(code, err, user);
    for (a->n = 0; a->n < n && a->n < HOB_ARRAY_LEN(a->versions); a->n++)
        a->versions[a->n] = versions[a->n];
}

/* ---- the rig ------------------------------------------------------------------------------- */

static void init_in(rig *r, const char *folder) {
    hob_error err;
    *r = (rig){0};
    snprintf(r->dir, sizeof(r->dir), "%s/hob-store-XXXXXX", folder);
    assert_non_null(mkdtemp(r->dir));
    snprintf(r->path, sizeof(r->path), "%s/hob.db", r->dir);
    assert_ok(hob_loop_create(NULL, &r->loop, &err), err);
    assert_ok(hob_pool_create(2, 64, &r->pool, &err), err);
}

void rig_init(rig *r) {
    const char *tmp = getenv("TMPDIR");
    init_in(r, tmp && strlen(tmp) < 40 ? tmp : "/tmp");
}

void rig_init_fast(rig *r) {
    if (access("/dev/shm", W_OK | X_OK) == 0)
        init_in(r, "/dev/shm");
    else
        rig_init(r);
}

void rig_fork(rig *r) {
    hob_error err;
    assert_ok(hob_loop_create(NULL, &r->loop, &err), err);
    assert_ok(hob_pool_create(2, 64, &r->pool, &err), err);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

void rig_finish(rig *r) {
    hob_pool_destroy(r->pool);
    hob_loop_destroy(r->loop);
    answer_finish(&r->last);
    nftw(r->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

hob_store *rig_sqlite(rig *r, const char *owner_name) {
    hob_error err;
    hob_store *s;
    hob_sqlite_opts o = {.path = hob_str_z(r->path), .pool = r->pool};
    o.owner_name = hob_str_z(owner_name);
    assert_ok(hob_store_sqlite_open(r->loop, &o, &s, &err), err);
    return s;
}

hob_store *rig_memory(rig *r, const char *owner_name) {
    hob_error err;
    hob_store *s;
    (void)owner_name;
    assert_ok(hob_store_memory_open(r->loop, &s, &err), err);
    return s;
}

/* ---- calls --------------------------------------------------------------------------------- */

void rig_wait(rig *r, const answer *a) {
    while (a->calls == 0) hob_loop_run_once(r->loop, -1);
}

static int wait_last(rig *r) {
    assert_int_equal(r->last.calls, 0); /* never from inside the call */
    rig_wait(r, &r->last);
    return r->last.code;
}

int rig_own(rig *r, hob_store *s, const char *session, int flags) {
    hob_store_session row = {.id = hob_str_z(session), .cwd = HOB_STR("/w"), .messages = -1};
    return rig_own_row(r, s, flags, &row);
}

int rig_own_row(rig *r, hob_store *s, int flags, const hob_store_session *row) {
    answer_finish(&r->last);
    s->ops->own(s, row->id, flags, row, on_own, &r->last);
    return wait_last(r);
}

int rig_release(rig *r, hob_store *s, const char *session, uint64_t epoch) {
    answer_finish(&r->last);
    s->ops->release(s, hob_str_z(session), epoch, on_done, &r->last);
    return wait_last(r);
}

int rig_commit(rig *r, hob_store *s, const hob_store_append *appends, size_t n) {
    hob_store_batch b = {.appends = appends, .nappends = n};
    answer_finish(&r->last);
    s->ops->commit(s, &b, on_done, &r->last);
    return wait_last(r);
}

int rig_append(rig *r, hob_store *s, const char *session, uint64_t after, hob_str json) {
    hob_store_event e = {.seq = after + 1, .json = json};
    hob_store_append a = {.session = hob_str_z(session), .epoch = 1, .after_seq = after};
    a.events = &e;
    a.nevents = 1;
    return rig_commit(r, s, &a, 1);
}

int rig_read(rig *r, hob_store *s, const char *session, uint64_t after) {
    return rig_read_some(r, s, session, after, 0, 0);
}

int rig_read_some(rig *r, hob_store *s, const char *session, uint64_t after, size_t limit,
                  size_t max_bytes) {
    answer_finish(&r->last);
    s->ops->read(s, hob_str_z(session), after, limit, max_bytes, on_events, &r->last);
    return wait_last(r);
}

int rig_recall(rig *r, hob_store *s, const char *session, size_t limit) {
    answer_finish(&r->last);
    s->ops->recall(s, hob_str_z(session), limit, on_recall, &r->last);
    return wait_last(r);
}

int rig_states(rig *r, hob_store *s, const char *app, const char *user) {
    answer_finish(&r->last);
    s->ops->states(s, hob_str_z(app), hob_str_z(user), on_states, &r->last);
    return wait_last(r);
}

int rig_sessions(rig *r, hob_store *s, const hob_store_query *q) {
    answer before = r->last; /* the cursor may be of the page before */
    r->last = (answer){0};
    s->ops->sessions(s, q, on_sessions, &r->last);
    answer_finish(&before);
    return wait_last(r);
}

int rig_runs(rig *r, hob_store *s, const hob_store_query *q) {
    answer before = r->last; /* the cursor may be of the page before */
    r->last = (answer){0};
    s->ops->runs(s, q, on_runs, &r->last);
    answer_finish(&before);
    return wait_last(r);
}

int rig_search(rig *r, hob_store *s, const hob_store_search *q) {
    answer before = r->last; /* the cursor may be of the page before */
    r->last = (answer){0};
    s->ops->search(s, q, on_hits, &r->last);
    answer_finish(&before);
    return wait_last(r);
}

int rig_remove(rig *r, hob_store *s, const char *session) {
    answer_finish(&r->last);
    s->ops->remove(s, hob_str_z(session), on_done, &r->last);
    return wait_last(r);
}

/* ---- memory -------------------------------------------------------------------------------- */

int rig_change(rig *r, hob_store *s, const hob_store_memory_change *changes, size_t n) {
    hob_store_batch b = {.memory = changes, .nmemory = n};
    answer_finish(&r->last);
    s->ops->commit(s, &b, on_done, &r->last);
    return wait_last(r);
}

int rig_remember(rig *r, hob_store *s, const char *user, const hob_store_memory *m) {
    hob_store_memory_change c = {HOB_STORE_REMEMBER, HOB_STR("app"), hob_str_z(user), *m, 0};
    return rig_change(r, s, &c, 1);
}

int rig_remember_text(rig *r, hob_store *s, const char *id, const char *text) {
    hob_store_memory m = {.id = hob_str_z(id),
                          .text = hob_str_z(text),
                          .importance = 0.5,
                          .created_ms = 1000,
                          .updated_ms = 1000};
    return rig_remember(r, s, "u", &m);
}

int rig_forget(rig *r, hob_store *s, const char *user, const char *id) {
    hob_store_memory_change c = {.op = HOB_STORE_FORGET, .app = HOB_STR("app")};
    c.user = hob_str_z(user);
    c.item.id = hob_str_z(id);
    return rig_change(r, s, &c, 1);
}

int rig_memories(rig *r, hob_store *s, const hob_store_memory_query *q) {
    answer before = r->last; /* the cursor may be of the page before */
    r->last = (answer){0};
    s->ops->memories(s, q, on_memories, &r->last);
    answer_finish(&before);
    return wait_last(r);
}

int rig_recall_text(rig *r, hob_store *s, const char *query) {
    hob_store_memory_query q = {.app = HOB_STR("app"), .user = HOB_STR("u"), .now_ms = 1000};
    q.query = hob_str_z(query);
    return rig_memories(r, s, &q);
}

/* ---- artifacts ------------------------------------------------------------------------------ */

int rig_artifacts(rig *r, hob_store *s, const hob_store_artifact_query *q) {
    answer before = r->last; /* the cursor may be of the page before */
    r->last = (answer){0};
    s->ops->artifacts(s, q, on_artifacts, &r->last);
    answer_finish(&before);
    return wait_last(r);
}

int rig_claim(rig *r, hob_store *s, const hob_store_artifact_query *where, const hob_str *names,
              size_t n) {
    answer_finish(&r->last);
    s->ops->claim(s, where, names, n, on_claim, &r->last);
    return wait_last(r);
}
