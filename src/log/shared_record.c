#include "log/shared.h"

void hob_record_unref(hob_record *r) {
    if (!r || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1) return;
    hob_free(atomic_load_explicit(&r->told, memory_order_relaxed));
    hob_free(r);
}

/* ---- checking ---------------------------------------------------------------------------------- */

static int check_name(const char *what, hob_str s, hob_error *err) {
    if (s.n > HOB_SHARED_NAME_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "the event's %s has %zu bytes, at most %d", what, s.n,
                        HOB_SHARED_NAME_MAX);
    if (s.n && (memchr(s.p, 0, s.n) || !hob_utf8_valid(s)))
        return hob_fail(err, HOB_EINVAL, 0, "the event's %s is not UTF-8 text without NUL", what);
    return HOB_OK;
}

static int check_branch(hob_str branch, hob_error *err) {
    hob_str rest = branch, part;
    while (branch.n && hob_str_split(&rest, '.', &part))
        if (!part.n)
            return hob_fail(err, HOB_EINVAL, 0,
                            "the branch '%.*s' has an empty part: names with single dots between",
                            HOB_FMT(branch));
    return HOB_OK;
}

static int check_names(const hob_shared_event *e, hob_error *err) {
    const struct {
        const char *what;
        hob_str s;
    } names[] = {{"id", e->id},
                 {"invocation", e->invocation},
                 {"author", e->author},
                 {"branch", e->branch},
                 {"transfer", e->transfer},
                 {"compaction agent", e->compaction.agent},
                 {"compaction branch", e->compaction.branch}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++) {
        int rc = check_name(names[i].what, names[i].s, err);
        if (rc < 0) return rc;
    }
    if (!e->author.n)
        return hob_fail(err, HOB_EINVAL, 0, "the event has no author: \"user\" or an agent's name");
    int rc = check_branch(e->branch, err);
    return rc < 0 ? rc : check_branch(e->compaction.branch, err);
}

static int parse(hob_arena *a, hob_str text, hob_json_type type, const char *what,
                 const hob_json **out, hob_error *err) {
    *out = NULL;
    if (!text.n) return HOB_OK;
    int rc = hob_json_parse(a, text, NULL, out, err);
    if (rc < 0 || hob_json_is(*out, type)) return rc;
    return hob_fail(err, HOB_EPARSE, 0, "the event's %s is not %s", what,
                    type == HOB_JSON_ARRAY ? "an array" : "an object");
}

static int check_rest(const hob_shared_event *e, hob_arena *a, hob_error *err) {
    const hob_json *v;
    const hob_shared_compaction *c = &e->compaction;
    int rc = parse(a, e->artifact_delta, HOB_JSON_OBJECT, "artifact_delta", &v, err);
    if (rc >= 0) rc = parse(a, c->content, HOB_JSON_ARRAY, "summary", &v, err);
    if (rc < 0 || !c->end) return rc;
    if (c->start < 1 || c->start > c->end || !c->content.n)
        return hob_fail(err, HOB_EINVAL, 0,
                        "a compaction needs a first event of at least 1, a last one not before it, "
                        "and a summary");
    return HOB_OK;
}

/* ---- indexing ----------------------------------------------------------------------------------- */

static hob_part_kind kind_of(const hob_json *block) {
    static const char *const names[] = {"text", "thinking", "tool_call", "tool_result"};
    hob_str type = hob_json_get_str(block, "type");
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++)
        if (hob_str_eqz(type, names[i])) return (hob_part_kind)i;
    return HOB_PART_OTHER;
}

/* Without its quotes. */
static hob_str inside(const hob_json *v) {
    hob_str raw = hob_json_raw(v);
    return hob_json_is(v, HOB_JSON_STRING) ? hob_str_n(raw.p + 1, raw.n - 2) : HOB_STR_NULL;
}

static int index_block(hob_part *b, const hob_json *v, hob_error *err) {
    if (!hob_json_is(v, HOB_JSON_OBJECT) || !hob_json_get_str(v, "type").n)
        return hob_fail(err, HOB_EPARSE, 0, "a content block is not an object with a type");
    b->kind = kind_of(v);
    b->raw = hob_json_raw(v);
    if (b->kind == HOB_PART_OTHER) return HOB_OK;
    if (b->kind == HOB_PART_TEXT || b->kind == HOB_PART_THINKING) {
        const hob_json *text = hob_json_get(v, "text");
        if (hob_json_is(text, HOB_JSON_STRING)) b->body = hob_json_raw(text);
        return HOB_OK;
    }
    const hob_json *name = hob_json_get(v, "name"), *args = hob_json_get(v, "args");
    if (hob_json_is(name, HOB_JSON_STRING)) b->name = hob_json_raw(name);
    b->call = inside(hob_json_get(v, "call"));
    if (!b->call.n) b->call = inside(hob_json_get(v, "id"));
    b->body = hob_json_raw(b->kind == HOB_PART_RESULT ? hob_json_get(v, "content")
                           : args                     ? args
                                                      : hob_json_get(v, "args_text"));
    if (b->call.n) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, 0, "a %s block names no call: give it \"call\" or \"id\"",
                    b->kind == HOB_PART_CALL ? "tool_call" : "tool_result");
}

/* ---- making --------------------------------------------------------------------------------------- */

/* The texts of an event in the order in which they are laid out. */
enum { TEXTS = 13 };

static void texts_of(hob_shared_event *e, hob_str *texts[TEXTS]) {
    hob_str *all[TEXTS] = {&e->content,
                           &e->id,
                           &e->invocation,
                           &e->author,
                           &e->branch,
                           &e->state_delta,
                           &e->removed,
                           &e->artifact_delta,
                           &e->transfer,
                           &e->compaction.content,
                           &e->compaction.agent,
                           &e->compaction.branch,
                           NULL};
    memcpy(texts, all, sizeof all);
}

static void rebase(hob_str *s, const char *from, const char *to) {
    if (s->p) s->p = to + (s->p - from);
}

static hob_record *lay_out(const hob_shared_event *e, const hob_part *blocks, size_t nblocks,
                           size_t bytes) {
    hob_str *texts[TEXTS];
    hob_record *r = hob_alloc(sizeof *r + nblocks * sizeof *blocks + bytes);
    atomic_init(&r->refs, 1);
    atomic_init(&r->told, NULL);
    r->event = *e;
    r->event.size = sizeof r->event;
    r->blocks = (hob_part *)(r + 1);
    r->nblocks = (uint32_t)nblocks;
    r->bytes = sizeof *r + nblocks * sizeof *blocks + bytes;
    char *at = (char *)(r->blocks + nblocks);
    texts_of(&r->event, texts);
    for (size_t i = 0; texts[i]; i++) {
        if (texts[i]->n) memcpy(at, texts[i]->p, texts[i]->n);
        texts[i]->p = at;
        at += texts[i]->n;
    }
    if (nblocks) memcpy(r->blocks, blocks, nblocks * sizeof *blocks);
    for (size_t i = 0; i < nblocks; i++) {
        hob_part *b = &r->blocks[i];
        hob_str *slices[] = {&b->raw, &b->body, &b->name, &b->call};
        for (size_t k = 0; k < HOB_ARRAY_LEN(slices); k++)
            rebase(slices[k], e->content.p, r->event.content.p);
        r->ncalls += b->kind == HOB_PART_CALL;
        r->nresults += b->kind == HOB_PART_RESULT;
    }
    return r;
}

static int build(hob_shared_event *e, hob_arena *a, hob_record **out, hob_error *err) {
    const hob_json *content;
    int rc = parse(a, e->content, HOB_JSON_ARRAY, "content", &content, err);
    if (rc < 0) return rc;
    size_t n = hob_json_count(content), i = 0, bytes = 0;
    hob_part *blocks = n ? hob_arena_alloc(a, n * sizeof *blocks) : NULL;
    if (n && !blocks) return hob_fail(err, HOB_ETOOBIG, 0, "the event has too many blocks");
    for (const hob_json *v = hob_json_first(content); v; v = hob_json_next(v)) {
        rc = index_block(&blocks[i++], v, err);
        if (rc < 0) return rc;
    }
    hob_str *texts[TEXTS];
    texts_of(e, texts);
    for (i = 0; texts[i]; i++) bytes += texts[i]->n;
    if (bytes > HOB_SHARED_EVENT_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "the event has %zu bytes, at most %zu", bytes,
                        HOB_SHARED_EVENT_MAX);
    *out = lay_out(e, blocks, n, bytes);
    return HOB_OK;
}

int hob_record_create(const hob_shared_event *in, const hob_change *c, hob_arena *a,
                      hob_record **out, hob_error *err) {
    hob_shared_event e = {0};
    hob_buf delta, removed;
    memcpy(&e, in, HOB_MIN(in->size, sizeof e));
    int rc = check_names(&e, err);
    if (rc >= 0 && (e.artifact_delta.n || e.compaction.end)) rc = check_rest(&e, a, err);
    if (rc < 0) return rc;
    hob_buf_init(&delta, HOB_SHARED_EVENT_MAX);
    hob_buf_init(&removed, HOB_SHARED_EVENT_MAX);
    if (c->temp) {
        hob_change_write(c, &delta, &removed);
        e.state_delta = hob_buf_str(&delta);
        e.removed = hob_buf_str(&removed);
    }
    if (delta.err || removed.err)
        rc = hob_fail(err, HOB_ETOOBIG, 0, "the event's change of state is too large");
    else
        rc = build(&e, a, out, err);
    hob_buf_finish(&delta);
    hob_buf_finish(&removed);
    return rc;
}
