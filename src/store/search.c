/*
 * search.c - documents, their words, and what is shown of them.
 */
#include "store/search.h"

#include "log/event.h"

enum { SNIPPET_BEFORE = 60, SNIPPET_MAX = 200, KEY_BITS = 20 };

/* ---- documents ---------------------------------------------------------------------------- */

void hob_search_doc_init(hob_search_doc *d) {
    *d = (hob_search_doc){.ms = 0};
    hob_buf_init(&d->text, HOB_SEARCH_TEXT_MAX + 8);
}

void hob_search_doc_finish(hob_search_doc *d) {
    hob_buf_finish(&d->text);
}

static void add_text(hob_buf *out, hob_str text) {
    size_t room = HOB_SEARCH_TEXT_MAX - HOB_MIN(out->n, (size_t)HOB_SEARCH_TEXT_MAX);
    if (out->n && room) hob_buf_addc(out, '\n');
    hob_buf_add(out, hob_str_first(text, hob_utf8_prefix(text, room)));
}

static hob_str role_of(hob_event_type t) {
    if (t == HOB_EVENT_USER_MESSAGE || t == HOB_EVENT_STEER_DELIVERED) return HOB_STR("user");
    return t == HOB_EVENT_ASSISTANT_MESSAGE ? HOB_STR("assistant") : HOB_STR_NULL;
}

bool hob_search_read(hob_search_doc *d, hob_str json) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *data;
    hob_event *e;
    hob_buf_reset(&d->text);
    if (hob_event_read(json, a, &e, &data, NULL) < 0) { /* it is of use to nobody else either */
        hob_arena_destroy(a);
        return false;
    }
    d->ms = e->ts;
    d->role = role_of(e->type);
    const hob_json *b = d->role.n ? hob_json_first(hob_json_get(data, "content")) : NULL;
    for (; b; b = hob_json_next(b))
        if (hob_str_eqz(hob_json_get_str(b, "type"), "text"))
            add_text(&d->text, hob_json_get_str(b, "text"));
    hob_event_unref(e);
    hob_arena_destroy(a);
    return d->text.n > 0;
}

void hob_search_title(hob_search_doc *d, hob_str title, int64_t ms) {
    hob_buf_reset(&d->text);
    add_text(&d->text, title);
    d->ms = ms;
    d->role = HOB_STR("title");
}

/* A log that came from elsewhere may have any time in it. */
int64_t hob_search_key(int64_t ms, uint64_t seq) {
    const int64_t latest = ((int64_t)1 << (62 - KEY_BITS)) - 1;
    uint64_t low = seq & (((uint64_t)1 << KEY_BITS) - 1);
    return HOB_MIN(HOB_MAX(ms, (int64_t)0), latest) << KEY_BITS | (int64_t)low;
}

/* ---- queries ------------------------------------------------------------------------------ */

void hob_search_parse(hob_search_query *q, hob_str text) {
    hob_word_scan w;
    hob_str word;
    q->n = 0;
    hob_word_scan_init(&w, text);
    while (q->n < HOB_SEARCH_WORDS && hob_word_scan_next(&w, &word)) {
        memcpy(q->words[q->n], word.p, word.n);
        q->words[q->n++][word.n] = 0;
    }
}

/* Which word of the query this is; n = none. */
static size_t which(const hob_search_query *q, hob_str word) {
    for (size_t i = 0; i < q->n; i++) {
        bool last = i + 1 == q->n;
        hob_str wanted = hob_str_z(q->words[i]);
        if (last ? hob_str_starts(word, wanted) : hob_str_eq(word, wanted)) return i;
    }
    return q->n;
}

bool hob_search_fits(const hob_search_query *q, hob_str text) {
    unsigned found = 0, all = (1u << q->n) - 1;
    hob_word_scan w;
    hob_str word;
    hob_word_scan_init(&w, text);
    while (found != all && hob_word_scan_next(&w, &word)) {
        for (size_t i = 0; i < q->n; i++) {
            hob_str wanted = hob_str_z(q->words[i]);
            bool is = i + 1 == q->n ? hob_str_starts(word, wanted) : hob_str_eq(word, wanted);
            if (is) found |= 1u << i;
        }
    }
    return found == all;
}

static size_t find_first(const hob_search_query *q, hob_str text) {
    hob_word_scan w;
    hob_str word;
    size_t before = 0;
    hob_word_scan_init(&w, text);
    while (hob_word_scan_next(&w, &word)) {
        if (which(q, word) < q->n) return before;
        before = w.at;
    }
    return 0;
}

hob_str hob_search_snippet(const hob_search_query *q, hob_str text, hob_arena *mem) {
    size_t found = find_first(q, text);
    hob_str before = hob_str_first(text, found);
    size_t start = found - hob_utf8_suffix(before, SNIPPET_BEFORE);
    hob_str rest = hob_str_skip(text, start);
    hob_str shown = hob_str_first(rest, hob_utf8_prefix(rest, SNIPPET_MAX));
    hob_buf b;
    hob_buf_init(&b, SNIPPET_MAX + 16);
    if (start) hob_buf_addz(&b, "…");
    bool blank = true;
    for (size_t i = 0; i < shown.n; i++) {
        bool space = (unsigned char)shown.p[i] <= ' ';
        if (!space || !blank) hob_buf_addc(&b, space ? ' ' : shown.p[i]);
        blank = space;
    }
    if (shown.n < rest.n) hob_buf_addz(&b, "…");
    hob_str made = hob_arena_dup(mem, hob_buf_str(&b));
    hob_buf_finish(&b);
    return made;
}

void hob_search_terms(hob_buf *out, int64_t tenant, hob_str text) {
    hob_map *seen = hob_map_create();
    hob_word_scan w;
    hob_str word;
    hob_word_scan_init(&w, text);
    while (hob_word_scan_next(&w, &word)) {
        if (hob_map_put(seen, word, seen)) continue;
        hob_buf_addf(out, "%s%lldw", out->n ? " " : "", (long long)tenant);
        hob_buf_add(out, word);
    }
    hob_map_destroy(seen);
}

/* ---- the call ----------------------------------------------------------------------------- */

static void refuse(hob_store_req *r, int code, const char *why) {
    if (r->code >= 0) r->code = hob_fail(hob_store_req_err(r), code, 0, "%s", why);
}

void hob_store_front_search(hob_store *s, const hob_store_search *q, hob_store_hits_fn done,
                            void *user) {
    hob_store_req r = {.op = HOB_OP_SEARCH, .look = *q, .user = user};
    hob_search_query words;
    int64_t key, same;
    r.call.hits = done;
    r.limit = q->limit ? HOB_MIN(q->limit, (size_t)1000) : 20;
    int rc = hob_store_cursor_parse(q->cursor, &key, &same, hob_store_req_err(&r));
    if (rc < 0) r.code = rc;
    if (q->app.n > HOB_STORE_TEXT_MAX || q->user.n > HOB_STORE_TEXT_MAX)
        refuse(&r, HOB_ETOOBIG, "the name of an application or a user is over 64 KiB");
    if (!q->app.n || !q->user.n)
        refuse(&r, HOB_EINVAL, "whose sessions? an application and a user are needed");
    if (q->query.n > HOB_STORE_QUERY_MAX)
        refuse(&r, HOB_ETOOBIG, "what is looked for is over 4 KiB: a few words are enough");
    hob_search_parse(&words, hob_str_first(q->query, HOB_STORE_QUERY_MAX));
    if (!words.n) refuse(&r, HOB_EINVAL, "there is no word to look for: give one or more");
    hob_store_send(s, &r);
}
