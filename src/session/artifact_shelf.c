/*
 * artifact_shelf.c - artifacts that wait for the event they are stored with.
 */
#include "session/artifact.h"

/* ---- waiting ---------------------------------------------------------------------------------------------------- */

hob_shelved *hob_session_shelve(hob_session *s, hob_save *const *saves, const int64_t *versions,
                                size_t n) {
    hob_shelved *x = HOB_NEW(hob_shelved);
    x->saves = hob_alloc((n + 1) * sizeof(hob_save *));
    x->versions = hob_alloc((n + 1) * sizeof *x->versions);
    for (; x->n < n; x->n++) {
        x->saves[x->n] = hob_save_ref(saves[x->n]);
        x->versions[x->n] = versions[x->n];
    }
    hob_list_push(&s->shelved, &x->link);
    return x;
}

static void drop(hob_shelved *x) {
    hob_list_remove(&x->link);
    for (size_t i = 0; i < x->n; i++) hob_save_unref(x->saves[i]);
    hob_free(x->saves);
    hob_free(x->versions);
    hob_free((char *)x->removed.p);
    hob_free(x);
}

void hob_shelves_drop(hob_list *shelves) {
    HOB_LIST_EACH_SAFE (it, shelves) drop(HOB_CONTAINER(it, hob_shelved, link));
}

static hob_shelved *find(hob_session *s, hob_str call, uint64_t seq) {
    HOB_LIST_EACH (it, &s->shelved) {
        hob_shelved *x = HOB_CONTAINER(it, hob_shelved, link);
        if (x->call[0] ? hob_str_eqz(call, x->call) : x->seq == seq) return x;
    }
    return NULL;
}

void hob_session_unshelve(hob_session *s, const char *call, uint64_t seq) {
    hob_shelved *x = find(s, hob_str_z(call), seq);
    if (x) drop(x);
}

/* ---- with their event --------------------------------------------------------------------------------------------- */

void hob_shelf_rows_init(hob_shelf_rows *rows) {
    *rows = (hob_shelf_rows){.n = 0};
    hob_list_init(&rows->taken);
}

static hob_store_artifact *add_row(hob_shelf_rows *rows, hob_arena *a) {
    if (rows->n == rows->cap) {
        rows->cap = rows->cap ? 2 * rows->cap : 8;
        hob_store_artifact *more = hob_arena_alloc(a, rows->cap * sizeof *more);
        if (rows->n) memcpy(more, rows->at, rows->n * sizeof *more);
        rows->at = more;
    }
    return &rows->at[rows->n++];
}

static void add_rows(const hob_session *s, const hob_shelved *x, const hob_event *e, hob_arena *a,
                     hob_shelf_rows *rows) {
    hob_store_artifact row = {
        .app = hob_str_z(s->app_name), .user = hob_str_z(s->user_id), .created_ms = e->ts};
    for (size_t i = 0; i < x->n; i++) {
        const hob_save *save = x->saves[i];
        row.name = save->name;
        row.mime = save->mime;
        row.meta = save->meta;
        row.bytes = save->bytes;
        row.version = x->versions[i];
        *add_row(rows, a) = row;
    }
    if (!x->removed.n) return;
    row = (hob_store_artifact){.app = row.app, .user = row.user, .name = x->removed, .removed = 1};
    *add_row(rows, a) = row;
}

void hob_session_take_shelved(hob_session *s, const hob_event *e, hob_arena *a,
                              hob_shelf_rows *rows) {
    if (hob_list_empty(&s->shelved)) return;
    hob_str call = HOB_STR_NULL;
    if (e->type == HOB_EVENT_TOOL_FINISHED)
        call = hob_json_get_str(hob_event_parse(e, a), "call");
    else if (e->type != HOB_EVENT_ARTIFACT_CHANGED)
        return;
    hob_shelved *x = find(s, call, e->seq);
    if (!x) return;
    add_rows(s, x, e, a, rows);
    hob_list_remove(&x->link);
    hob_list_push(&rows->taken, &x->link);
}

/* ---- numbers --------------------------------------------------------------------------------------------------------- */

void hob_session_claim(hob_session *s, hob_save *const *saves, size_t n, hob_store_claim_fn done,
                       void *user) {
    const hob_store_artifact_query where = {
        .app = hob_str_z(s->app_name), .user = hob_str_z(s->user_id), .session = hob_str_z(s->id)};
    hob_str *names = hob_alloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = saves[i]->name;
    s->store->ops->claim(s->store, &where, names, n, done, user);
    hob_free(names);
}
