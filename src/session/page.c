/*
 * page.c - rows handed to the host: JSON objects, owned by the page.
 */
#include "session/session.h"

struct hob_page {
    hob_arena *arena;
    hob_str *rows;
    size_t n, cap;
    hob_str next;
};

hob_page *hob_page_create(void) {
    hob_page *p = HOB_NEW(hob_page);
    p->arena = hob_arena_create(0);
    return p;
}

void hob_page_add(hob_page *p, hob_str row) {
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 16;
        p->rows = hob_realloc(p->rows, p->cap * sizeof *p->rows);
    }
    p->rows[p->n++] = hob_arena_dup(p->arena, row);
}

void hob_page_set_next(hob_page *p, hob_str next) {
    p->next = hob_arena_dup(p->arena, next);
}

size_t hob_page_count(const hob_page *p) {
    return p->n;
}

hob_str hob_page_row(const hob_page *p, size_t i) {
    return i < p->n ? p->rows[i] : HOB_STR_NULL;
}

hob_str hob_page_next(const hob_page *p) {
    return p->next;
}

void hob_page_destroy(hob_page *p) {
    if (!p) return;
    hob_free(p->rows);
    hob_arena_destroy(p->arena);
    hob_free(p);
}

/* ---- index rows as JSON ------------------------------------------------------------------------------- */

static void write_time(hob_jsonw *w, const char *key, int64_t ms) {
    char t[25];
    if (ms <= 0) return;
    hob_time_format(ms, t);
    hob_jsonw_kstr(w, key, hob_str_n(t, 24));
}

void hob_page_add_session(hob_page *p, const hob_store_session *r) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "id", r->id);
    hob_jsonw_kstr_opt(&w, "title", r->title);
    hob_jsonw_kstr(&w, "cwd", r->cwd);
    hob_jsonw_kstr(&w, "model", r->model);
    hob_jsonw_kstr(&w, "state", r->state);
    hob_jsonw_kstr_opt(&w, "owner", r->owner);
    hob_jsonw_kstr_opt(&w, r->child ? "parent" : "forked_from", r->parent);
    hob_jsonw_kstr(&w, "app", r->app);
    hob_jsonw_kstr(&w, "user", r->user);
    write_time(&w, "created", r->created_ms);
    write_time(&w, "updated", r->updated_ms);
    hob_jsonw_kint(&w, "messages", r->messages);
    hob_jsonw_kint(&w, "last_seq", (int64_t)r->last_seq);
    hob_jsonw_object_end(&w);
    hob_page_add(p, hob_buf_str(&b));
    hob_buf_finish(&b);
}

void hob_page_add_run(hob_page *p, const hob_store_run *r) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "id", r->id);
    hob_jsonw_kstr(&w, "session", r->session);
    hob_jsonw_kstr(&w, "status", r->status);
    hob_jsonw_kstr_opt(&w, "reason", r->reason);
    hob_jsonw_kstr_opt(&w, "prompt", r->prompt);
    hob_jsonw_kstr_opt(&w, "owner", r->owner);
    hob_jsonw_kstr(&w, "app", r->app);
    hob_jsonw_kstr(&w, "user", r->user);
    write_time(&w, "started", r->started_ms);
    write_time(&w, "finished", r->finished_ms);
    if (r->first_seq) hob_jsonw_kint(&w, "first_seq", (int64_t)r->first_seq);
    if (r->last_seq) hob_jsonw_kint(&w, "last_seq", (int64_t)r->last_seq);
    hob_jsonw_object_end(&w);
    hob_page_add(p, hob_buf_str(&b));
    hob_buf_finish(&b);
}
