/*
 * request_memory.c - the parts of a request that are about memory: copied and checked.
 */
#include "store/request.h"

#include <stdalign.h>

/* ---- copying ------------------------------------------------------------------------------ */

static void pack_tags(hob_pack *p, const hob_str **tags, size_t n) {
    hob_str *to = hob_pack_bytes(p, *tags, n * sizeof(*to), alignof(hob_str));
    for (size_t i = 0; i < n; i++) {
        hob_str copy = (*tags)[i];
        hob_pack_str(p, to ? &to[i] : &copy);
    }
    if (to) *tags = to;
}

static void pack_item(hob_pack *p, hob_store_memory *m) {
    hob_str *all[] = {&m->id, &m->text, &m->kind, &m->by, &m->session, &m->run};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) hob_pack_str(p, all[i]);
    pack_tags(p, &m->tags, m->ntags);
}

static hob_store_memory *pack_whole(hob_pack *p, const hob_store_memory *m) {
    hob_store_memory copy = *m;
    hob_store_memory *to = hob_pack_bytes(p, m, sizeof(*m), alignof(hob_store_memory));
    pack_item(p, to ? to : &copy);
    return to;
}

hob_store_memory *hob_store_memory_dup(const hob_store_memory *m) {
    hob_pack count = {.base = NULL};
    pack_whole(&count, m);
    hob_pack copy = {.base = hob_realloc(NULL, count.n)};
    return pack_whole(&copy, m);
}

static void pack_change(hob_pack *p, hob_store_memory_change *c) {
    hob_pack_str(p, &c->app);
    hob_pack_str(p, &c->user);
    pack_item(p, &c->item);
}

static void pack_query(hob_pack *p, hob_store_memory_query *q) {
    hob_str *all[] = {&q->app,  &q->user, &q->id,      &q->same,  &q->query,
                      &q->kind, &q->by,   &q->session, &q->cursor};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) hob_pack_str(p, all[i]);
    pack_tags(p, &q->tags, q->ntags);
}

void hob_store_pack_memory(hob_pack *p, hob_store_req *r) {
    hob_store_memory_change *to =
        hob_pack_bytes(p, r->changes, r->nchanges * sizeof(*to), alignof(hob_store_memory_change));
    for (size_t i = 0; i < r->nchanges; i++) {
        hob_store_memory_change copy = r->changes[i];
        pack_change(p, to ? &to[i] : &copy);
    }
    if (to) r->changes = to;
    pack_query(p, &r->wanted);
}

/* ---- checking ----------------------------------------------------------------------------- */

static void check_size(hob_store_req *r, size_t n, size_t max, const char *what) {
    if (r->code >= 0 && n > max)
        r->code = hob_fail(hob_store_req_err(r), HOB_ETOOBIG, 0,
                           "%s: %zu is over the limit of %zu; make it shorter", what, n, max);
}

static void check_text(hob_store_req *r, hob_str s, size_t max, const char *what) {
    check_size(r, s.n, max, what);
    if (r->code >= 0 && (!hob_utf8_valid(s) || (s.n && memchr(s.p, '\0', s.n))))
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0,
                           "%s: text in UTF-8 is wanted, without NUL", what);
}

static void check_tags(hob_store_req *r, const hob_str *tags, size_t n) {
    check_size(r, n, HOB_STORE_TAGS_MAX, "tags of a memory");
    for (size_t i = 0; i < n && r->code >= 0; i++) {
        check_text(r, tags[i], HOB_STORE_TAG_MAX, "bytes of a tag");
        if (r->code >= 0 && (!tags[i].n || memchr(tags[i].p, '\n', tags[i].n)))
            r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0,
                               "a tag is one line with something in it");
    }
}

static void check_tenant(hob_store_req *r, hob_str app, hob_str user) {
    check_text(r, app, HOB_STORE_NAME_MAX, "bytes of an application's name");
    check_text(r, user, HOB_STORE_NAME_MAX, "bytes of a user's id");
    if (r->code >= 0 && (!app.n || !user.n))
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0,
                           "whose memory? an application and a user are needed");
}

static void check_labels(hob_store_req *r, hob_str kind, hob_str by, hob_str session) {
    check_text(r, kind, HOB_STORE_TAG_MAX, "bytes of the kind of a memory");
    check_text(r, by, HOB_STORE_TAG_MAX, "bytes of the author of a memory");
    check_text(r, session, HOB_STORE_NAME_MAX, "bytes of the session of a memory");
}

static void check_item(hob_store_req *r, const hob_store_memory *m) {
    check_text(r, m->text, HOB_STORE_MEMORY_MAX, "bytes of a memory");
    check_labels(r, m->kind, m->by, m->session);
    check_text(r, m->run, HOB_STORE_NAME_MAX, "bytes of the run of a memory");
    check_tags(r, m->tags, m->ntags);
    if (r->code >= 0 && !m->text.n)
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0, "there is nothing to remember");
    if (r->code >= 0 && !(m->importance >= 0 && m->importance <= 1))
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0,
                           "importance goes from 0 to 1, not to %g", m->importance);
}

static void check_id(hob_store_req *r, hob_str id) {
    if (r->code >= 0 && !hob_id_valid(id))
        r->code = hob_fail(hob_store_req_err(r), HOB_EINVAL, 0, "\"%.*s\" is no id of a memory",
                           (int)HOB_MIN(id.n, (size_t)160), id.p ? id.p : "");
}

void hob_store_check_changes(hob_store_req *r) {
    check_size(r, r->nchanges, HOB_STORE_COUNT_MAX, "changes of memory in a commit");
    for (size_t i = 0; i < r->nchanges && r->code >= 0; i++) {
        const hob_store_memory_change *c = &r->changes[i];
        check_tenant(r, c->app, c->user);
        if (c->op != HOB_STORE_CLEAR) check_id(r, c->item.id);
        if (c->op == HOB_STORE_REMEMBER) check_item(r, &c->item);
        r->bytes += c->item.text.n;
    }
}

void hob_store_front_memories(hob_store *s, const hob_store_memory_query *q,
                              hob_store_memories_fn done, void *user) {
    hob_store_req r = {.op = HOB_OP_MEMORIES, .wanted = *q, .user = user};
    int64_t ms, num;
    r.call.memories = done;
    r.limit = q->limit ? HOB_MIN(q->limit, (size_t)1000) : 10;
    int rc = hob_store_cursor_parse(q->cursor, &ms, &num, hob_store_req_err(&r));
    if (rc < 0) r.code = rc;
    check_tenant(&r, q->app, q->user);
    if (q->id.n) check_id(&r, q->id);
    check_text(&r, q->query, HOB_STORE_QUERY_MAX, "bytes of what is looked for");
    check_text(&r, q->same, HOB_STORE_MEMORY_MAX, "bytes of a memory");
    check_labels(&r, q->kind, q->by, q->session);
    check_tags(&r, q->tags, q->ntags);
    hob_store_send(s, &r);
}
