/*
 * request_artifact.c - the parts of a request that are about artifacts: copied and checked.
 */
#include "log/artifact.h"
#include "store/request.h"

#include <stdalign.h>

/* ---- copying ------------------------------------------------------------------------------ */

static void pack_item(hob_pack *p, hob_store_artifact *a) {
    hob_str *all[] = {&a->app, &a->user, &a->name, &a->mime, &a->meta, &a->bytes};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) hob_pack_str(p, all[i]);
}

static hob_store_artifact *pack_items(hob_pack *p, const hob_store_artifact *from, size_t n) {
    hob_store_artifact *to = hob_pack_bytes(p, from, n * sizeof(*to), alignof(hob_store_artifact));
    for (size_t i = 0; i < n; i++) {
        hob_store_artifact copy = from[i];
        pack_item(p, to ? &to[i] : &copy);
    }
    return to;
}

static void pack_copy(hob_pack *p, hob_store_append *a) {
    hob_store_copy *to = hob_pack_bytes(p, a->copy, sizeof(*to), alignof(hob_store_copy));
    hob_store_copy copy = *a->copy, *c = to ? to : &copy;
    hob_str *all[] = {&c->from, &c->app, &c->user};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) hob_pack_str(p, all[i]);
    if (to) a->copy = to;
}

void hob_store_pack_artifacts(hob_pack *p, hob_store_append *a) {
    hob_store_artifact *to = pack_items(p, a->artifacts, a->nartifacts);
    if (to) a->artifacts = to;
    if (a->copy) pack_copy(p, a);
}

hob_store_artifact *hob_store_artifact_dup(const hob_store_artifact *a) {
    hob_pack count = {.base = NULL};
    pack_items(&count, a, 1);
    hob_pack copy = {.base = hob_realloc(NULL, count.n)};
    return pack_items(&copy, a, 1);
}

void hob_store_pack_shelf(hob_pack *p, hob_store_req *r) {
    hob_store_artifact_query *q = &r->shelf;
    hob_str *all[] = {&q->app, &q->user, &q->session, &q->name, &q->cursor};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) hob_pack_str(p, all[i]);
    hob_str *names = hob_pack_bytes(p, r->names, r->nnames * sizeof(*names), alignof(hob_str));
    for (size_t i = 0; i < r->nnames; i++) {
        hob_str name = r->names[i];
        hob_pack_str(p, names ? &names[i] : &name);
    }
    if (names) r->names = names;
}

/* ---- checking ----------------------------------------------------------------------------- */

static void take(hob_store_req *r, int rc) {
    if (r->code >= 0 && rc < 0) r->code = rc;
}

static void refuse(hob_store_req *r, int code, const char *why) {
    if (r->code >= 0) r->code = hob_fail(hob_store_req_err(r), code, 0, "%s", why);
}

static void check_tenant(hob_store_req *r, hob_str app, hob_str user) {
    if (app.n > HOB_STORE_TEXT_MAX || user.n > HOB_STORE_TEXT_MAX)
        refuse(r, HOB_ETOOBIG, "the name of an application or a user is over 64 KiB");
    if (!app.n || !user.n)
        refuse(r, HOB_EINVAL, "whose artifacts? an application and a user are needed");
}

static void check_name(hob_store_req *r, hob_str name) {
    if (r->code >= 0) take(r, hob_artifact_check_name(name, hob_store_req_err(r)));
}

static void check_item(hob_store_req *r, const hob_store_artifact *a) {
    hob_error *err = hob_store_req_err(r);
    check_tenant(r, a->app, a->user);
    check_name(r, a->name);
    if (r->code >= 0) take(r, hob_artifact_check_mime(a->mime, err));
    if (r->code >= 0) take(r, hob_artifact_check_meta(a->meta, err));
    if (r->code >= 0) take(r, hob_artifact_check_size(a->bytes.n, err));
    if (!a->removed && a->version < 0) refuse(r, HOB_EINVAL, "versions of an artifact begin at 0");
}

void hob_store_check_artifacts(hob_store_req *r, const hob_store_append *a) {
    if (a->nartifacts > HOB_STORE_CLAIM_MAX)
        refuse(r, HOB_ETOOBIG, "too many artifacts in a commit: make several");
    if (a->copy) {
        check_tenant(r, a->copy->app, a->copy->user);
        if (!hob_id_valid(a->copy->from)) refuse(r, HOB_EINVAL, "a copy of no session");
    }
    for (size_t i = 0; i < a->nartifacts && r->code >= 0; i++) {
        check_item(r, &a->artifacts[i]);
        r->bytes += a->artifacts[i].bytes.n;
        if (r->bytes > HOB_STORE_BATCH_MAX)
            refuse(r, HOB_ETOOBIG, "the artifacts of a commit are over 256 MiB: make several");
    }
}

/* An empty one stands for the user alone. */
static void check_session(hob_store_req *r) {
    if (r->shelf.session.n && !hob_id_valid(r->shelf.session))
        refuse(r, HOB_EINVAL, "the session of an artifact is no id of a session");
}

static void check_cursor(hob_store_req *r, const hob_store_artifact_query *q) {
    int64_t version;
    bool names = q->want == HOB_STORE_NAMES;
    if (!q->cursor.n) return;
    if (names ? hob_artifact_check_name(q->cursor, NULL) < 0 : hob_str_int(q->cursor, &version) < 0)
        refuse(r, HOB_EINVAL, "that is no cursor: pass on what the page before gave, or nothing");
}

void hob_store_front_artifacts(hob_store *s, const hob_store_artifact_query *q,
                               hob_store_artifacts_fn done, void *user) {
    hob_store_req r = {.op = HOB_OP_ARTIFACTS, .session = q->session, .shelf = *q, .user = user};
    r.call.artifacts = done;
    r.limit = q->limit ? HOB_MIN(q->limit, (size_t)1000) : 50;
    check_tenant(&r, q->app, q->user);
    check_session(&r);
    check_cursor(&r, q);
    if (q->want != HOB_STORE_NAMES) check_name(&r, q->name);
    hob_store_send(s, &r);
}

void hob_store_front_claim(hob_store *s, const hob_store_artifact_query *where,
                           const hob_str *names, size_t n, hob_store_claim_fn done, void *user) {
    hob_store_req r = {.op = HOB_OP_CLAIM, .session = where->session, .user = user, .nnames = n};
    r.call.claim = done;
    r.shelf.app = where->app;
    r.shelf.user = where->user;
    r.shelf.session = where->session;
    r.names = (hob_str *)names; /* replaced by the copy */
    check_tenant(&r, where->app, where->user);
    check_session(&r);
    if (n > HOB_STORE_CLAIM_MAX) refuse(&r, HOB_ETOOBIG, "too many artifacts at once");
    for (size_t i = 0; i < n && r.code >= 0; i++) {
        check_name(&r, names[i]);
        if (!where->session.n && !hob_artifact_is_shared(names[i]))
            refuse(&r, HOB_EINVAL, "an artifact without \"user:\" belongs to a session: name it");
    }
    hob_store_send(s, &r);
}

/* ---- what both stores say in the same words ----------------------------------------------- */

int hob_store_say_no_artifact(hob_error *err, const hob_store_artifact_query *q) {
    if (q->want != HOB_STORE_ARTIFACT || q->version < 0)
        return hob_fail(err, HOB_ENOENT, 0, "there is no artifact \"%.*s\"",
                        (int)HOB_MIN(q->name.n, (size_t)200), q->name.p);
    return hob_fail(err, HOB_ENOENT, 0, "there is no version %lld of artifact \"%.*s\"",
                    (long long)q->version, (int)HOB_MIN(q->name.n, (size_t)200), q->name.p);
}

int hob_store_say_version_there(hob_error *err, const hob_store_artifact *a) {
    return hob_fail(err, HOB_EEXIST, 0, "version %lld of artifact \"%.*s\" is there already",
                    (long long)a->version, (int)HOB_MIN(a->name.n, (size_t)200), a->name.p);
}

int hob_store_say_shelf_full(hob_error *err, hob_str name) {
    return hob_fail(err, HOB_ELIMIT, 0,
                    "this %s has %d versions of artifacts already: delete some first",
                    hob_artifact_is_shared(name) ? "user" : "session", HOB_STORE_SHELF_MAX);
}
