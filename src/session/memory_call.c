/*
 * memory_call.c - the public calls on memory: from any thread, done on the loop, back when durable.
 */
#include "session/memory.h"

#include "agent/memory.h"

enum { PIECE = 100 }; /* items that are forgotten at a time */

typedef struct call {
    hob_op op;
    hob_memory *m;
    hob_arena *mem;
    hob_store_memory_query q;
    hob_store_memory_change change;
    hob_remember remember;
    hob_page *page;
    size_t found, waiting;
    int code; /* of the first change that failed */
    hob_error err;
} call;

static void call_init(call *c, hob_memory *m) {
    *c = (call){.m = m, .mem = hob_arena_create(1u << 20)};
    c->remember.mem = c->mem;
}

static int run(call *c, void (*start)(hob_op *), hob_error *err) {
    c->op = (hob_op){.start = start};
    return c->m->s ? hob_session_run(c->m->s, &c->op, err) : hob_op_run(c->m->rt, &c->op, err);
}

static void on_written(int code, const hob_error *err, void *user) {
    hob_op_done(&((call *)user)->op, code, err);
}

/* Strings that end with a NULL, as slices. */
static hob_str *slices(hob_arena *a, const char *const *list, size_t *n) {
    for (*n = 0; list && list[*n]; ++*n) {
        if (*n > HOB_MEMORY_TAGS_MAX * 4) break; /* far over the limit: refused later */
    }
    hob_str *out = hob_arena_alloc(a, (*n + 1) * sizeof *out);
    for (size_t i = 0; i < *n; i++) out[i] = hob_str_z(list[i]);
    return out;
}

/* A kind or an author: as a tag is written. */
static int read_word(call *c, const char *given, const char *otherwise, hob_str *out,
                     hob_error *err) {
    *out = hob_str_z(otherwise);
    if (!given) return HOB_OK;
    return hob_memory_tag(c->mem, hob_str_z(given), HOB_MEMORY_TAG_MAX, out, err);
}

/* ---- remember ------------------------------------------------------------------------------------------------- */

static void on_ready(hob_remember *r, int code, const hob_error *err) {
    call *c = HOB_CONTAINER(r, call, remember);
    if (code < 0)
        hob_op_done(&c->op, code, err);
    else
        hob_memory_write(c->m, &r->change, on_written, c);
}

static void start_remember(hob_op *op) {
    call *c = HOB_CONTAINER(op, call, op);
    c->remember.ready = on_ready;
    hob_remember_start(c->m, &c->remember);
}

static int read_item(call *c, const hob_memory_item *given, hob_error *err) {
    hob_memory_item o = HOB_MEMORY_ITEM_INIT;
    hob_store_memory *item = &c->remember.change.item;
    size_t n;
    int rc = hob_take_options(&o, sizeof o, given, given->size, err);
    if (rc >= 0) rc = hob_memory_check_text(o.text, HOB_MEMORY_TEXT_MAX, err);
    if (rc < 0) return rc;
    item->text = hob_str_trim(o.text);
    item->importance = o.importance == 0 ? 0.5 : o.importance;
    if (!(item->importance > 0 && item->importance <= 1))
        return hob_fail(err, HOB_EINVAL, 0, "importance goes from 0 to 1");
    if (o.key) item->id = hob_memory_id(c->mem, HOB_STR("key"), hob_str_z(o.key));
    if (c->m->s) item->session = hob_str_z(c->m->s->id);
    c->remember.renew_same = !o.key;
    const hob_str *tags = slices(c->mem, o.tags, &n);
    rc = read_word(c, o.kind, "note", &item->kind, err);
    if (rc >= 0) rc = read_word(c, o.by, "host", &item->by, err);
    return rc < 0 ? rc : hob_memory_tags(c->mem, tags, n, item, err);
}

int hob_memory_remember(hob_memory *m, const hob_memory_item *item, char id[HOB_MEMORY_ID_SIZE],
                        hob_error *err) {
    call c;
    call_init(&c, m);
    int rc = read_item(&c, item, err);
    if (rc >= 0) rc = run(&c, start_remember, err);
    if (rc >= 0 && id) hob_str_out(c.remember.change.item.id, id, HOB_MEMORY_ID_SIZE);
    if (rc >= 0) rc = !c.remember.known;
    hob_arena_destroy(c.mem);
    return rc;
}

/* ---- recall, get ---------------------------------------------------------------------------------------------- */

static void add_row(hob_page *p, const hob_store_memory *m) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1u << 20);
    hob_jsonw_init(&w, &b);
    hob_memory_write_row(&w, m, false);
    hob_page_add(p, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void on_page(int code, const hob_error *err, const hob_store_memory *items, size_t n,
                    const hob_store_tenant *numbers, hob_str next, void *user) {
    call *c = user;
    (void)numbers;
    for (size_t i = 0; code >= 0 && i < n; i++) add_row(c->page, &items[i]);
    if (code >= 0) hob_page_set_next(c->page, next);
    hob_op_done(&c->op, code, err);
}

static void start_page(hob_op *op) {
    call *c = HOB_CONTAINER(op, call, op);
    hob_memory_ask(c->m, &c->q, on_page, c);
}

static int read_query(call *c, const hob_memory_query *given, hob_error *err) {
    hob_memory_query o = HOB_MEMORY_QUERY_INIT;
    hob_store_memory tags;
    size_t n;
    int rc = given ? hob_take_options(&o, sizeof o, given, given->size, err) : HOB_OK;
    if (rc < 0) return rc;
    if (o.order > HOB_MEMORY_RECENT)
        return hob_fail(err, HOB_EINVAL, 0, "there is no order %d", (int)o.order);
    if (o.order == HOB_MEMORY_RECENT && o.text.n)
        return hob_fail(err, HOB_EINVAL, 0,
                        "what is searched for comes best first: leave out the "
                        "text, or the order");
    if (o.limit > HOB_MEMORY_LIMIT_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "at most %d rows at a time", HOB_MEMORY_LIMIT_MAX);
    const hob_str *list = slices(c->mem, o.tags, &n);
    c->q = (hob_store_memory_query){.query = o.text,
                                    .session = hob_str_z(o.session),
                                    .recent = o.order == HOB_MEMORY_RECENT,
                                    .cursor = hob_str_z(o.cursor),
                                    .limit = o.limit};
    rc = read_word(c, o.kind, "", &c->q.kind, err);
    if (rc >= 0) rc = read_word(c, o.by, "", &c->q.by, err);
    if (rc >= 0) rc = hob_memory_tags(c->mem, list, n, &tags, err);
    if (rc < 0) return rc;
    c->q.tags = tags.tags;
    c->q.ntags = tags.ntags;
    return HOB_OK;
}

static int get_page(call *c, hob_page **out, hob_error *err) {
    c->page = hob_page_create();
    int rc = run(c, start_page, err);
    if (rc < 0)
        hob_page_destroy(c->page);
    else
        *out = c->page;
    return rc;
}

int hob_memory_recall(hob_memory *m, const hob_memory_query *q, hob_page **out, hob_error *err) {
    call c;
    call_init(&c, m);
    int rc = read_query(&c, q, err);
    if (rc >= 0) rc = get_page(&c, out, err);
    hob_arena_destroy(c.mem);
    return rc;
}

static int check_id(const char *id, hob_error *err) {
    if (hob_id_valid(hob_str_z(id))) return HOB_OK;
    return hob_fail(err, HOB_ENOENT, 0, "there is no memory \"%.100s\"", id ? id : "");
}

int hob_memory_get(hob_memory *m, const char *id, hob_page **out, hob_error *err) {
    call c;
    int rc = check_id(id, err);
    if (rc < 0) return rc;
    call_init(&c, m);
    c.q.id = hob_str_z(id);
    rc = get_page(&c, out, err);
    hob_arena_destroy(c.mem);
    return rc;
}

/* ---- forget ----------------------------------------------------------------------------------------------------- */

static void on_one_forgotten(int code, const hob_error *err, void *user) {
    call *c = user;
    if (code < 0 && c->code >= 0) {
        c->code = code;
        c->err = *err;
    }
    if (--c->waiting == 0) hob_op_done(&c->op, c->code, &c->err);
}

/* All at once: the store makes groups of them. */
static void on_victims(int code, const hob_error *err, const hob_store_memory *items, size_t n,
                       const hob_store_tenant *numbers, hob_str next, void *user) {
    call *c = user;
    (void)numbers, (void)next;
    c->found = code < 0 ? 0 : n;
    c->waiting = c->found;
    if (!c->found) {
        hob_op_done(&c->op, code, err);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        hob_store_memory_change change = {.op = HOB_STORE_FORGET, .item = {.id = items[i].id}};
        hob_memory_write(c->m, &change, on_one_forgotten, c);
    }
}

static void start_forget(hob_op *op) {
    call *c = HOB_CONTAINER(op, call, op);
    hob_memory_ask(c->m, &c->q, on_victims, c);
}

int hob_memory_forget(hob_memory *m, const char *id, hob_error *err) {
    call c;
    int rc = check_id(id, err);
    if (rc < 0) return rc;
    call_init(&c, m);
    c.q.id = hob_str_z(id);
    rc = run(&c, start_forget, err);
    hob_arena_destroy(c.mem);
    return rc;
}

int hob_memory_forget_where(hob_memory *m, const hob_memory_query *q, hob_error *err) {
    call c;
    int64_t total = 0;
    call_init(&c, m);
    int rc = read_query(&c, q, err);
    if (rc >= 0 && (c.q.query.n || !(c.q.ntags || c.q.kind.n || c.q.by.n || c.q.session.n)))
        rc = hob_fail(err, HOB_EINVAL, 0,
                      "what is to be forgotten? tags, a kind, an author or a session, and no text; "
                      "hob_memory_clear forgets everything");
    c.q.recent = 1;
    c.q.limit = PIECE;
    c.q.cursor = HOB_STR_NULL;
    do {
        if (rc >= 0) rc = run(&c, start_forget, err);
        total += rc < 0 ? 0 : (int64_t)c.found;
    } while (rc >= 0 && c.found == PIECE && total < INT32_MAX);
    hob_arena_destroy(c.mem);
    return rc < 0 ? rc : (int)total;
}

static void start_clear(hob_op *op) {
    call *c = HOB_CONTAINER(op, call, op);
    c->change.op = HOB_STORE_CLEAR;
    hob_memory_write(c->m, &c->change, on_written, c);
}

int hob_memory_clear(hob_memory *m, hob_error *err) {
    call c;
    call_init(&c, m);
    int rc = run(&c, start_clear, err);
    hob_arena_destroy(c.mem);
    return rc;
}

/* ---- stats ------------------------------------------------------------------------------------------------------ */

static void write_ms(hob_jsonw *w, const char *key, int64_t ms) {
    char t[25];
    hob_time_format(ms, t);
    hob_jsonw_key(w, key);
    if (ms > 0)
        hob_jsonw_str(w, hob_str_n(t, 24));
    else
        hob_jsonw_null(w);
}

static void on_numbers(int code, const hob_error *err, const hob_store_memory *items, size_t n,
                       const hob_store_tenant *numbers, hob_str next, void *user) {
    call *c = user;
    hob_buf b;
    hob_jsonw w;
    (void)items, (void)n, (void)next;
    hob_buf_init(&b, 1u << 16);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "app_name", hob_str_z(c->m->app));
    hob_jsonw_kstr(&w, "user_id", hob_str_z(c->m->user));
    hob_jsonw_kint(&w, "items", numbers->items);
    hob_jsonw_kint(&w, "bytes", numbers->bytes);
    hob_jsonw_kint(&w, "max_items", (int64_t)c->m->max_items);
    write_ms(&w, "oldest", numbers->oldest_ms);
    write_ms(&w, "newest", numbers->newest_ms);
    hob_jsonw_object_end(&w);
    if (code >= 0) hob_page_add(c->page, hob_buf_str(&b));
    hob_buf_finish(&b);
    hob_op_done(&c->op, code, err);
}

static void start_stats(hob_op *op) {
    call *c = HOB_CONTAINER(op, call, op);
    c->q.recent = 1;
    c->q.limit = 1;
    hob_memory_ask(c->m, &c->q, on_numbers, c);
}

int hob_memory_stats(hob_memory *m, hob_page **out, hob_error *err) {
    call c;
    call_init(&c, m);
    c.page = hob_page_create();
    int rc = run(&c, start_stats, err);
    if (rc < 0)
        hob_page_destroy(c.page);
    else
        *out = c.page;
    hob_arena_destroy(c.mem);
    return rc;
}
