/*
 * artifact_save.c - artifacts that a host saves in an open session, or deletes: an event of its own, with its rows.
 */
#include "session/artifact.h"
#include "session/bare.h"

typedef struct change {
    hob_op op;
    hob_save *save; /* NULL: `name` is deleted */
    hob_str name;
    int64_t version;
} change;

static int check(hob_session *s, hob_error *err) {
    int rc = hob_session_usable(s, err);
    if (rc < 0 || !s->closing) return rc;
    return hob_fail(err, HOB_ECANCELLED, 0, "the session is being closed");
}

/* ---- the event ------------------------------------------------------------------------------------------------- */

static void draft(hob_session *s, const change *c, hob_draft *d) {
    bool running = hob_session_active(s) && !s->left_alone;
    hob_jsonw w;
    hob_draft_init(d, HOB_EVENT_ARTIFACT_CHANGED);
    d->author = HOB_STR("host");
    if (running) d->run_id = hob_str_z(s->run.id);
    hob_jsonw_init(&w, &d->data);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, c->save ? "artifact_delta" : "removed");
    if (c->save) {
        hob_jsonw_object(&w);
        hob_jsonw_key_n(&w, c->name);
        hob_jsonw_int(&w, c->version);
        hob_jsonw_object_end(&w);
    } else {
        hob_jsonw_array(&w);
        hob_jsonw_str(&w, c->name);
        hob_jsonw_array_end(&w);
    }
    hob_jsonw_object_end(&w);
}

static int say(hob_session *s, const change *c, hob_error *err) {
    hob_draft d;
    int rc = check(s, err);
    if (rc >= 0 && !s->view->id.n) rc = hob_session_say_settings(s, err);
    if (rc < 0) return rc;
    hob_shelved *x = hob_session_shelve(s, &c->save, &c->version, c->save ? 1 : 0);
    uint64_t seq = x->seq = s->view->last_seq + 1;
    if (!c->save) x->removed = hob_str_n(hob_dupz(c->name), c->name.n);
    draft(s, c, &d);
    rc = hob_session_append(s, &d, err);
    hob_session_commit(s);
    hob_session_unshelve(s, "", seq);
    return rc;
}

static void tell(change *c) {
    hob_session *s = c->op.s;
    hob_error err;
    int rc = say(s, c, &err);
    if (rc < 0)
        hob_op_done(&c->op, rc, &err);
    else
        hob_session_op_after(s, &c->op);
}

/* ---- saving ---------------------------------------------------------------------------------------------------- */

static void on_claimed(int code, const hob_error *err, const int64_t *versions, size_t n,
                       void *user) {
    change *c = user;
    if (code < 0) {
        hob_op_done(&c->op, code, err);
        return;
    }
    c->version = versions[n - 1];
    hob_crash_point("artifact.claimed");
    tell(c);
}

static void start_save(hob_op *op) {
    change *c = HOB_CONTAINER(op, change, op);
    hob_error err;
    int rc = check(op->s, &err);
    if (rc < 0)
        hob_op_done(op, rc, &err);
    else
        hob_session_claim(op->s, &c->save, 1, on_claimed, c);
}

int hob_session_artifact_save(hob_session *s, const hob_artifact_item *item, int64_t *version,
                              hob_error *err) {
    change c = {.op = {.start = start_save}};
    int rc = hob_save_create(item, &c.save, err);
    if (rc < 0) return rc;
    c.name = c.save->name;
    rc = hob_session_run(s, &c.op, err);
    if (rc >= 0 && version) *version = c.version;
    hob_save_unref(c.save);
    return rc < 0 ? rc : HOB_OK;
}

/* ---- deleting -------------------------------------------------------------------------------------------------- */

static void on_looked(int code, const hob_error *err, const hob_store_artifact *items, size_t n,
                      hob_str next, void *user) {
    change *c = user;
    (void)items, (void)n, (void)next;
    if (code < 0)
        hob_op_done(&c->op, code, err);
    else
        tell(c);
}

static void start_delete(hob_op *op) {
    change *c = HOB_CONTAINER(op, change, op);
    hob_session *s = op->s;
    hob_store_artifact_query q = {.want = HOB_STORE_VERSIONS,
                                  .app = hob_str_z(s->app_name),
                                  .user = hob_str_z(s->user_id),
                                  .session = hob_str_z(s->id),
                                  .name = c->name,
                                  .limit = 1};
    hob_error err;
    int rc = check(s, &err);
    if (rc < 0)
        hob_op_done(op, rc, &err);
    else
        s->store->ops->artifacts(s->store, &q, on_looked, c);
}

int hob_session_artifact_delete(hob_session *s, hob_str name, hob_error *err) {
    change c = {.op = {.start = start_delete}, .name = name};
    return hob_session_run(s, &c.op, err);
}

/* ---- in a session that is not open ------------------------------------------------------------------------------- */

int hob_runtime_artifact_save(hob_runtime *rt, const char *session, const hob_tenant *of,
                              const hob_artifact_item *item, hob_error *err) {
    hob_session *s;
    int64_t version = 0;
    int rc = hob_session_open_bare(rt, session, of, &(hob_bare){.copies = false}, &s, err);
    if (rc < 0) return rc;
    rc = hob_session_artifact_save(s, item, &version, err);
    hob_session_detach(s);
    return rc < 0 ? rc : (int)HOB_MIN(version, (int64_t)INT32_MAX);
}

int hob_runtime_artifact_delete(hob_runtime *rt, const char *session, const hob_tenant *of,
                                hob_str name, hob_error *err) {
    hob_session *s;
    int rc = hob_session_open_bare(rt, session, of, &(hob_bare){.copies = false}, &s, err);
    if (rc < 0) return rc;
    rc = hob_session_artifact_delete(s, name, err);
    hob_session_detach(s);
    return rc;
}
