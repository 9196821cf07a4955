#include "serve/slab.h"

#include "serve/outlet.h"

#include <hob/event.h>
#include <pthread.h>
#include <stdio.h>

enum { SHELF_BYTES = 16 << 20, SLAB_BYTES = 1 << 20 }; /* all that is kept; the largest kept */

/* ---- a slab ------------------------------------------------------------------------------------------------- */

static void note_state(hob_slab *s, hob_str name) {
    if (hob_str_eqz(name, "settled")) s->settled = 1;
    if (hob_str_eqz(name, "run_started")) s->settled = 0;
}

/* An event that is not written as below, by another hand: through the decoder. */
static int add_foreign(hob_slab *s, hob_str row) {
    hob_event *e;
    int rc = hob_event_from_json(row, &e, NULL);
    if (rc < 0) return rc;
    rc = hob_event_seq(e) == s->last + 1 ? HOB_OK : HOB_EPROTO;
    note_state(s, hob_event_name(e));
    hob_sse_add(&s->text, s->last + 1, hob_event_name(e), hob_event_json(e));
    hob_event_unref(e);
    return rc;
}

static bool skip(hob_str *at, hob_str what) {
    if (!hob_str_starts(*at, what)) return false;
    *at = hob_str_skip(*at, what.n);
    return true;
}

static hob_str skip_while(hob_str *at, const char *set) {
    hob_str s = {at->p, 0};
    while (s.n < at->n && strchr(set, at->p[s.n])) s.n++;
    *at = hob_str_skip(*at, s.n);
    return s;
}

/* {"v":1,"seq":7,"ts":"2026-01-01T00:00:00.000Z","type":"run_started",… in one line: the store has seen that it is what
 * was written, so its head is enough. */
static bool read_head(hob_str row, hob_str *seq, hob_str *name) {
    if (!skip(&row, HOB_STR("{\"v\":1,\"seq\":"))) return false;
    *seq = skip_while(&row, "0123456789");
    if (!skip(&row, HOB_STR(",\"ts\":\"")) || row.n < 24) return false;
    row = hob_str_skip(row, 24);
    if (!skip(&row, HOB_STR("\",\"type\":\""))) return false;
    *name = skip_while(&row, "abcdefghijklmnopqrstuvwxyz_");
    return name->n && hob_str_starts(row, HOB_STR("\"")) && !memchr(row.p, '\n', row.n);
}

static int add_row(hob_slab *s, hob_str row) {
    hob_str text, name;
    int64_t seq;
    if (!read_head(row, &text, &name)) return add_foreign(s, row);
    if (hob_str_int(text, &seq) < 0 || (uint64_t)seq != s->last + 1) return HOB_EPROTO;
    note_state(s, name);
    hob_sse_add(&s->text, s->last + 1, name, row);
    return HOB_OK;
}

/* Enough for what stands around each of them. */
static size_t text_size(const hob_page *page) {
    size_t n = 0;
    for (size_t i = 0; i < hob_page_count(page); i++) n += hob_page_row(page, i).n + 48;
    return n;
}

int hob_slab_create(const hob_page *page, uint64_t after, hob_slab **out) {
    hob_slab *s = HOB_NEW(hob_slab);
    int rc = HOB_OK;
    s->refs = 1;
    s->last = after;
    s->settled = -1;
    hob_list_init(&s->link);
    hob_buf_init(&s->text, HOB_OUTLET_MAX);
    hob_buf_reserve(&s->text, text_size(page));
    for (size_t i = 0; rc >= 0 && i < hob_page_count(page); i++)
        if ((rc = add_row(s, hob_page_row(page, i))) >= 0) s->last++;
    if (rc >= 0) rc = s->text.err;
    if (rc < 0)
        hob_slab_unref(s);
    else
        *out = s;
    return rc;
}

hob_slab *hob_slab_ref(hob_slab *s) {
    atomic_fetch_add(&s->refs, 1);
    return s;
}

void hob_slab_unref(hob_slab *s) {
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1) return;
    hob_buf_finish(&s->text);
    hob_free(s->key);
    hob_free(s);
}

/* ---- the shelf ---------------------------------------------------------------------------------------------- */

struct hob_shelf {
    pthread_mutex_t lock;
    hob_map *slabs;  /* "log\nafter" -> hob_slab */
    hob_list by_use; /* the one used longest ago first */
    size_t bytes;
};

hob_shelf *hob_shelf_create(void) {
    hob_shelf *f = HOB_NEW(hob_shelf);
    pthread_mutex_init(&f->lock, NULL);
    f->slabs = hob_map_create();
    hob_list_init(&f->by_use);
    return f;
}

static size_t weight(const hob_slab *s) {
    return sizeof *s + s->text.cap;
}

static void drop(hob_shelf *f, hob_slab *s) {
    hob_map_take(f->slabs, hob_str_z(s->key));
    hob_list_remove(&s->link);
    f->bytes -= weight(s);
    hob_slab_unref(s);
}

static hob_slab *oldest(hob_shelf *f) {
    return HOB_CONTAINER(f->by_use.next, hob_slab, link);
}

void hob_shelf_destroy(hob_shelf *f) {
    if (!f) return;
    while (!hob_list_empty(&f->by_use)) drop(f, oldest(f));
    hob_map_destroy(f->slabs);
    pthread_mutex_destroy(&f->lock);
    hob_free(f);
}

static hob_str make_key(char *buf, size_t cap, hob_str log, uint64_t after) {
    int n = snprintf(buf, cap, "%.*s\n%llu", HOB_FMT(log), (unsigned long long)after);
    return hob_str_n(buf, (size_t)n);
}

enum { KEY = 256 };

hob_slab *hob_shelf_find(hob_shelf *f, hob_str log, uint64_t after) {
    char key[KEY];
    if (after % HOB_SLAB_EVENTS) return NULL;
    pthread_mutex_lock(&f->lock);
    hob_slab *s = hob_map_get(f->slabs, make_key(key, sizeof key, log, after));
    if (s) {
        hob_list_remove(&s->link);
        hob_list_push(&f->by_use, &s->link);
        hob_slab_ref(s);
    }
    pthread_mutex_unlock(&f->lock);
    return s;
}

/* Two may have made the same: the first is kept, unless the second has more. */
void hob_shelf_put(hob_shelf *f, hob_str log, uint64_t after, hob_slab *s) {
    char buf[KEY];
    if (after % HOB_SLAB_EVENTS || weight(s) > SLAB_BYTES) return;
    pthread_mutex_lock(&f->lock);
    hob_str key = make_key(buf, sizeof buf, log, after);
    hob_slab *old = hob_map_get(f->slabs, key);
    bool better = !old || old->last < s->last;
    if (better && old) drop(f, old);
    if (better) {
        s->key = hob_dupz(key);
        hob_map_put(f->slabs, key, hob_slab_ref(s));
        hob_list_push(&f->by_use, &s->link);
        f->bytes += weight(s);
    }
    while (f->bytes > SHELF_BYTES) drop(f, oldest(f));
    pthread_mutex_unlock(&f->lock);
}
