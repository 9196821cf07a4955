/*
 * memory.c - a tenant's memory: where it is kept, how a text gets into it.
 */
#include "session/memory.h"

#include "agent/memory.h"

#include <sodium.h>

enum { ID_HEX = 20 };

/* ---- the handle --------------------------------------------------------------------------------------------------- */

hob_memory *hob_memory_create(hob_runtime *rt, hob_session *s, hob_str app, hob_str user) {
    hob_memory *m = HOB_NEW(hob_memory);
    m->rt = rt;
    m->s = s;
    m->store = rt->host_memory ? NULL : rt->memory_store ? rt->memory_store : rt->store;
    m->app = hob_dupz(app);
    m->user = hob_dupz(user);
    m->max_items = (size_t)hob_config_int(rt->config, "memory.max_items", 10000);
    return m;
}

void hob_memory_destroy(hob_memory *m) {
    if (!m) return;
    hob_free(m->app);
    hob_free(m->user);
    hob_free(m);
}

int64_t hob_memory_now(const hob_memory *m) {
    hob_clock *c = hob_loop_clock(m->rt->loop);
    return m->s ? hob_session_now(m->s) : c->wall_ms(c);
}

void hob_memory_ask(hob_memory *m, hob_store_memory_query *q, hob_store_memories_fn done,
                    void *user) {
    q->app = hob_str_z(m->app);
    q->user = hob_str_z(m->user);
    q->now_ms = hob_memory_now(m);
    if (m->store)
        m->store->ops->memories(m->store, q, done, user);
    else
        hob_memory_host_find(m->rt, q, done, user);
}

void hob_memory_write(hob_memory *m, hob_store_memory_change *c, hob_store_done_fn done,
                      void *user) {
    hob_store_batch batch = {.memory = c, .nmemory = 1};
    c->app = hob_str_z(m->app);
    c->user = hob_str_z(m->user);
    if (m->store)
        m->store->ops->commit(m->store, &batch, done, user);
    else
        hob_memory_host_change(m->rt, c, done, user);
}

/* ---- items -------------------------------------------------------------------------------------------------------- */

hob_str hob_memory_id(hob_arena *a, hob_str one, hob_str two) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    char hex[2 * sizeof hash + 1], id[ID_HEX + 3];
    hob_buf b;
    hob_buf_init(&b, 1u << 20);
    hob_buf_add(&b, one);
    hob_buf_addc(&b, '\0');
    hob_buf_add(&b, two);
    crypto_hash_sha256(hash, (const unsigned char *)b.p, b.n);
    hob_buf_finish(&b);
    if (!one.n && !two.n) hob_random(hash, sizeof hash);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    int n = snprintf(id, sizeof id, "m-%.*s", ID_HEX, hex);
    return hob_arena_dup(a, hob_str_n(id, (size_t)n));
}

static bool has_tag(const hob_str *tags, size_t n, hob_str tag) {
    for (size_t i = 0; i < n; i++) {
        if (hob_str_eq(tags[i], tag)) return true;
    }
    return false;
}

int hob_memory_tags(hob_arena *a, const hob_str *given, size_t n, hob_store_memory *out,
                    hob_error *err) {
    hob_str *tags = hob_arena_alloc(a, HOB_MEMORY_TAGS_MAX * sizeof *tags), tag;
    out->tags = tags;
    out->ntags = 0;
    for (size_t i = 0; i < n; i++) {
        int rc = hob_memory_tag(a, given[i], HOB_MEMORY_TAG_MAX, &tag, err);
        if (rc < 0) return rc;
        if (has_tag(tags, out->ntags, tag)) continue;
        if (out->ntags == HOB_MEMORY_TAGS_MAX)
            return hob_fail(err, HOB_ETOOBIG, 0, "at most %d tags", HOB_MEMORY_TAGS_MAX);
        tags[out->ntags++] = tag;
    }
    return HOB_OK;
}

/* ---- remembering -------------------------------------------------------------------------------------------------- */

/* The item that has this text stays: more important if that was said, with the new tags while there is room. */
static void renew(hob_remember *r, const hob_store_memory *old) {
    hob_store_memory *m = &r->change.item;
    hob_str *tags = hob_arena_alloc(r->mem, HOB_MEMORY_TAGS_MAX * sizeof *tags);
    size_t n = 0;
    for (size_t i = 0; i < old->ntags && n < HOB_MEMORY_TAGS_MAX; i++)
        tags[n++] = hob_arena_dup(r->mem, old->tags[i]);
    for (size_t i = 0; i < m->ntags && n < HOB_MEMORY_TAGS_MAX; i++)
        if (!has_tag(tags, n, m->tags[i])) tags[n++] = m->tags[i];
    m->id = hob_arena_dup(r->mem, old->id);
    m->tags = tags;
    m->ntags = n;
    m->importance = HOB_MAX(m->importance, old->importance);
    r->known = true;
}

static void on_looked(int code, const hob_error *err, const hob_store_memory *items, size_t n,
                      const hob_store_tenant *numbers, hob_str next, void *user) {
    hob_remember *r = user;
    hob_error e;
    (void)next;
    if (code >= 0 && n && r->renew_same)
        renew(r, &items[0]);
    else if (code >= 0 && n)
        r->known = true; /* the one with its id */
    else if (code == HOB_ENOENT)
        code = HOB_OK;
    if (code >= 0 && !r->known && (size_t)numbers->items >= r->change.max_items) {
        err = &e;
        code = hob_fail(&e, HOB_ELIMIT, 0,
                        "the memory is full (%zu items): forget something first, or raise "
                        "memory.max_items",
                        r->change.max_items);
    }
    r->ready(r, code, err);
}

void hob_remember_start(hob_memory *m, hob_remember *r) {
    hob_store_memory *item = &r->change.item;
    hob_store_memory_query q = {.limit = 1};
    r->change.op = HOB_STORE_REMEMBER;
    r->change.max_items = m->max_items;
    item->created_ms = item->updated_ms = hob_memory_now(m);
    if (!item->id.n) item->id = hob_memory_id(r->mem, HOB_STR_NULL, HOB_STR_NULL);
    if (r->renew_same)
        q.same = item->text;
    else
        q.id = item->id;
    hob_memory_ask(m, &q, on_looked, r);
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

static void write_time(hob_jsonw *w, const char *key, int64_t ms) {
    char t[25];
    if (ms <= 0) return;
    hob_time_format(ms, t);
    hob_jsonw_kstr(w, key, hob_str_n(t, 24));
}

void hob_memory_write_row(hob_jsonw *w, const hob_store_memory *m, bool for_model) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "id", m->id);
    hob_jsonw_kstr(w, "text", m->text);
    hob_jsonw_kstr_opt(w, "kind", m->kind);
    hob_jsonw_key(w, "tags");
    hob_jsonw_array(w);
    for (size_t i = 0; i < m->ntags; i++) hob_jsonw_str(w, m->tags[i]);
    hob_jsonw_array_end(w);
    hob_jsonw_key(w, "importance");
    hob_jsonw_double(w, m->importance);
    hob_jsonw_kstr_opt(w, "by", m->by);
    hob_jsonw_kstr_opt(w, "session", m->session);
    if (!for_model) {
        hob_jsonw_kstr_opt(w, "run", m->run);
        write_time(w, "created", m->created_ms);
    }
    write_time(w, "updated", m->updated_ms);
    if (!for_model && m->score > 0) {
        hob_jsonw_key(w, "relevance");
        hob_jsonw_double(w, m->relevance);
        hob_jsonw_key(w, "score");
        hob_jsonw_double(w, m->score);
    }
    hob_jsonw_object_end(w);
}
