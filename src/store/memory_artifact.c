/*
 * memory_artifact.c - artifacts in the memory store.
 *
 * A shelf holds those of one session, or of one user, by name and version. A version that was claimed and not committed
 * yet stands there, too, so that nobody gets its number; nobody else sees it.
 */
#include "log/artifact.h"
#include "store/memory.h"

#include <stdio.h>

typedef struct shelf {
    const hob_ram_log *log;  /* whose it is; NULL = a user's */
    hob_store_artifact **at; /* blocks of their own; size SIZE_MAX = claimed */
    size_t n, cap;
} shelf;

static bool is_claim(const hob_store_artifact *a) {
    return a->size == SIZE_MAX;
}

/* ---- finding ------------------------------------------------------------------------------ */

static hob_str place_of(hob_buf *b, hob_str session, hob_str app, hob_str user) {
    hob_buf_init(b, 4 * HOB_STORE_TEXT_MAX);
    hob_buf_add(b, session);
    hob_buf_addc(b, '\0');
    hob_buf_add(b, app);
    hob_buf_addc(b, '\0');
    hob_buf_add(b, user);
    return hob_buf_str(b);
}

static shelf *find_shelf(const hob_ram *m, hob_str session, hob_str app, hob_str user) {
    hob_buf b;
    shelf *s = hob_map_get(m->shelves, place_of(&b, session, app, user));
    hob_buf_finish(&b);
    return s;
}

static hob_str owner_of(hob_str name, hob_str session) {
    return hob_artifact_is_shared(name) ? HOB_STR_NULL : session;
}

/* Nobody finds a shelf of a session that is gone: it went with it. */
static shelf *make_shelf(hob_ram *m, hob_ram_log *g, const hob_store_artifact *a) {
    hob_str session = g ? owner_of(a->name, g->row.id) : HOB_STR_NULL;
    shelf *s = find_shelf(m, session, a->app, a->user);
    hob_buf b;
    if (s) return s;
    s = HOB_NEW(shelf);
    s->log = session.n ? g : NULL;
    hob_map_put(m->shelves, place_of(&b, session, a->app, a->user), s);
    hob_buf_finish(&b);
    return s;
}

/* Where the first one stands that is not before this name and version. */
static size_t seek(const shelf *s, hob_str name, int64_t version) {
    size_t from = 0, to = s ? s->n : 0;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int order = hob_str_cmp(s->at[mid]->name, name);
        if (order < 0 || (order == 0 && s->at[mid]->version < version))
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static bool is_named(const shelf *s, size_t at, hob_str name) {
    return s && at < s->n && hob_str_eq(s->at[at]->name, name);
}

static bool is_there(const shelf *s, size_t at, hob_str name, int64_t version) {
    return is_named(s, at, name) && s->at[at]->version == version;
}

/* ---- changing ----------------------------------------------------------------------------- */

static void put(shelf *s, const hob_store_artifact *a) {
    size_t at = seek(s, a->name, a->version);
    if (is_there(s, at, a->name, a->version)) {
        hob_free(s->at[at]);
    } else {
        if (s->n == s->cap) {
            s->cap = s->cap ? 2 * s->cap : 8;
            s->at = hob_realloc(s->at, s->cap * sizeof(hob_store_artifact *));
        }
        memmove(s->at + at + 1, s->at + at, (s->n - at) * sizeof(hob_store_artifact *));
        s->n++;
    }
    s->at[at] = hob_store_artifact_dup(a);
}

static void drop_name(shelf *s, hob_str name) {
    size_t at = seek(s, name, 0), kept = at;
    for (; is_named(s, at, name); at++) {
        if (is_claim(s->at[at]))
            s->at[kept++] = s->at[at];
        else
            hob_free(s->at[at]);
    }
    memmove(s->at + kept, s->at + at, (s->n - at) * sizeof(hob_store_artifact *));
    s->n -= at - kept;
}

void hob_ram_put_artifact(hob_ram *m, hob_ram_log *g, const hob_store_artifact *a) {
    shelf *s = find_shelf(m, owner_of(a->name, g->row.id), a->app, a->user);
    hob_store_artifact kept = *a;
    kept.size = a->bytes.n;
    if (!a->removed)
        put(s ? s : make_shelf(m, g, a), &kept);
    else if (s)
        drop_name(s, a->name);
}

static void copy_shelf(shelf *to, const shelf *from, const hob_store_copy *c) {
    for (size_t i = 0; i < from->n; i++) {
        hob_store_artifact a = *from->at[i];
        if (is_claim(&a) || a.created_ms > c->until_ms) continue;
        a.app = c->app;
        a.user = c->user;
        put(to, &a);
    }
}

void hob_ram_copy_artifacts(hob_ram *m, hob_ram_log *g, const hob_store_copy *c) {
    const hob_ram_log *original = hob_map_get(m->logs, c->from);
    const hob_store_artifact any = {.app = c->app, .user = c->user, .name = HOB_STR("any")};
    shelf *to = make_shelf(m, g, &any);
    size_t at = 0;
    void *value;
    hob_str key;
    while (original && original != g && hob_map_next(m->shelves, &at, &key, &value)) {
        if (((shelf *)value)->log == original) copy_shelf(to, value, c);
    }
}

int hob_ram_check_artifacts(hob_ram *m, const hob_store_append *a, hob_error *err) {
    for (size_t i = 0; i < a->nartifacts; i++) {
        const hob_store_artifact *x = &a->artifacts[i];
        const shelf *s = find_shelf(m, owner_of(x->name, a->session), x->app, x->user);
        size_t at = seek(s, x->name, x->version);
        if (!x->removed && is_there(s, at, x->name, x->version) && !is_claim(s->at[at]))
            return hob_store_say_version_there(err, x);
    }
    return 0;
}

void hob_ram_shelf_destroy(void *value) {
    shelf *s = value;
    for (size_t i = 0; i < s->n; i++) hob_free(s->at[i]);
    hob_free(s->at);
    hob_free(s);
}

void hob_ram_drop_artifacts(hob_ram *m, const hob_ram_log *g) {
    size_t at = 0;
    void *value;
    hob_str key;
    while (hob_map_next(m->shelves, &at, &key, &value)) {
        if (((shelf *)value)->log == g) hob_ram_shelf_destroy(hob_map_take(m->shelves, key));
    }
}

/* ---- claiming ----------------------------------------------------------------------------- */

static int64_t claim(hob_ram *m, hob_ram_log *g, const hob_store_artifact_query *q, hob_str name) {
    hob_store_artifact a = {.app = q->app, .user = q->user, .name = name, .size = SIZE_MAX};
    shelf *s = make_shelf(m, g, &a);
    size_t end = seek(s, name, INT64_MAX);
    a.version = end > 0 && is_named(s, end - 1, name) ? s->at[end - 1]->version + 1 : 0;
    put(s, &a);
    return a.version;
}

int hob_ram_claim(hob_ram *m, hob_store_req *r) {
    const hob_store_artifact_query *q = &r->shelf;
    hob_ram_log *g = hob_map_get(m->logs, q->session);
    if (q->session.n && !g) return hob_store_say_absent(hob_store_req_err(r), q->session);
    for (size_t i = 0; i < r->nnames; i++) {
        const shelf *s = find_shelf(m, owner_of(r->names[i], q->session), q->app, q->user);
        if ((s ? s->n : 0) + r->nnames > HOB_STORE_SHELF_MAX)
            return hob_store_say_shelf_full(hob_store_req_err(r), r->names[i]);
    }
    r->versions = hob_arena_alloc(hob_store_req_mem(r), (r->nnames + 1) * sizeof(*r->versions));
    for (; r->n < r->nnames; r->n++) r->versions[r->n] = claim(m, g, q, r->names[r->n]);
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

static void show(hob_store_req *r, const hob_store_artifact *a) {
    hob_store_artifact *to = &r->artifacts[r->n++];
    *to = *a;
    if (r->shelf.want != HOB_STORE_ARTIFACT) to->bytes = HOB_STR_NULL;
}

/* The newest that is no claim, of the name that begins at `at`; *next: where the name after it begins. */
static const hob_store_artifact *newest(const shelf *s, size_t at, size_t *next) {
    const hob_store_artifact *found = NULL;
    hob_str name = s->at[at]->name;
    for (; is_named(s, at, name); at++) {
        if (!is_claim(s->at[at])) found = s->at[at];
    }
    *next = at;
    return found;
}

/* True: there is no room for all. */
static bool list_names(hob_store_req *r, const shelf *s, hob_str after) {
    size_t at = after.n ? seek(s, after, INT64_MAX) : 0;
    while (s && at < s->n) {
        const hob_store_artifact *a = newest(s, at, &at);
        if (!a) continue;
        if (r->n == r->limit) return true;
        show(r, a);
    }
    return false;
}

static int names(hob_ram *m, hob_store_req *r) {
    const hob_store_artifact_query *q = &r->shelf;
    bool shared_only = hob_artifact_is_shared(q->cursor);
    bool more = false;
    if (q->session.n && !shared_only)
        more = list_names(r, find_shelf(m, q->session, q->app, q->user), q->cursor);
    if (!more)
        more = list_names(r, find_shelf(m, HOB_STR_NULL, q->app, q->user),
                          shared_only ? q->cursor : HOB_STR_NULL);
    if (more) r->next = r->artifacts[r->n - 1].name;
    return 0;
}

static void make_cursor(hob_store_req *r) {
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)r->artifacts[r->n - 1].version);
    r->next = hob_arena_dup(hob_store_req_mem(r), hob_str_n(text, (size_t)n));
}

static int versions(hob_store_req *r, const shelf *s) {
    int64_t after = -1;
    if (r->shelf.cursor.n) hob_str_int(r->shelf.cursor, &after); /* checked when it came in */
    for (size_t at = seek(s, r->shelf.name, after + 1); is_named(s, at, r->shelf.name); at++) {
        if (is_claim(s->at[at])) continue;
        if (r->n == r->limit) {
            make_cursor(r);
            return 0;
        }
        show(r, s->at[at]);
    }
    return r->n || r->shelf.cursor.n ? 0
                                     : hob_store_say_no_artifact(hob_store_req_err(r), &r->shelf);
}

static int one(hob_store_req *r, const shelf *s) {
    const hob_store_artifact_query *q = &r->shelf;
    const hob_store_artifact *a = NULL;
    size_t at = seek(s, q->name, HOB_MAX(q->version, (int64_t)0)), next;
    if (q->version < 0 && is_named(s, at, q->name)) a = newest(s, at, &next);
    if (q->version >= 0 && is_there(s, at, q->name, q->version)) a = s->at[at];
    if (!a || is_claim(a)) return hob_store_say_no_artifact(hob_store_req_err(r), q);
    show(r, a);
    return 0;
}

int hob_ram_artifacts(hob_ram *m, hob_store_req *r) {
    const hob_store_artifact_query *q = &r->shelf;
    if (q->session.n && !hob_map_get(m->logs, q->session))
        return hob_store_say_absent(hob_store_req_err(r), q->session);
    r->artifacts = hob_arena_alloc(hob_store_req_mem(r), (r->limit + 1) * sizeof(*r->artifacts));
    hob_str session = owner_of(q->name, q->session);
    bool nobodys = !session.n && !hob_artifact_is_shared(q->name);
    const shelf *s = nobodys ? NULL : find_shelf(m, session, q->app, q->user);
    switch (q->want) {
    case HOB_STORE_NAMES: return names(m, r);
    case HOB_STORE_VERSIONS: return versions(r, s);
    case HOB_STORE_ARTIFACT: return one(r, s);
    }
    return HOB_EINVAL;
}
