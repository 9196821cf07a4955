/*
 * The stored form of a shared session: {"id", "app_name", "user_id", "state": {…}, "events": […]}. An event has only
 * the members that say something; `temp:` keys are in neither part.
 */
#include "log/shared.h"

#include <limits.h>

/* ---- writing ------------------------------------------------------------------------------------- */

static void raw_opt(hob_jsonw *w, const char *key, hob_str json) {
    if (json.n) hob_jsonw_kraw(w, key, json);
}

static void write_compaction(const hob_shared_compaction *c, hob_jsonw *w) {
    hob_jsonw_key(w, "compaction");
    hob_jsonw_object(w);
    hob_jsonw_kint(w, "start", (int64_t)c->start);
    hob_jsonw_kint(w, "end", (int64_t)c->end);
    hob_jsonw_kraw(w, "content", c->content);
    hob_jsonw_kstr_opt(w, "agent", c->agent);
    hob_jsonw_kstr_opt(w, "branch", c->branch);
    hob_jsonw_object_end(w);
}

static void write_event(const hob_shared_event *e, hob_jsonw *w) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "id", e->id);
    if (e->time) hob_jsonw_kint(w, "time", e->time);
    hob_jsonw_kstr_opt(w, "invocation", e->invocation);
    hob_jsonw_kstr(w, "author", e->author);
    hob_jsonw_kstr_opt(w, "branch", e->branch);
    raw_opt(w, "content", e->content);
    raw_opt(w, "state_delta", e->state_delta);
    raw_opt(w, "removed", e->removed);
    raw_opt(w, "artifact_delta", e->artifact_delta);
    hob_jsonw_kstr_opt(w, "transfer", e->transfer);
    if (e->flags & HOB_SHARED_ESCALATE) hob_jsonw_kbool(w, "escalate", true);
    if (e->flags & HOB_SHARED_SKIP_SUMMARIZATION) hob_jsonw_kbool(w, "skip_summarization", true);
    if (e->compaction.end) write_compaction(&e->compaction, w);
    hob_jsonw_object_end(w);
}

static void write_all(const hob_shared_snapshot *p, hob_buf *out) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "id", p->name->id);
    hob_jsonw_kstr(&w, "app_name", p->name->app_name);
    hob_jsonw_kstr(&w, "user_id", p->name->user_id);
    hob_jsonw_key(&w, "state");
    hob_state_write(&p->state, HOB_SCOPE_STORED, &w);
    hob_jsonw_key(&w, "events");
    hob_jsonw_array(&w);
    for (size_t i = 0; i < p->records.n; i++)
        write_event(&hob_records_at(&p->records, i)->event, &w);
    hob_jsonw_array_end(&w);
    hob_jsonw_object_end(&w);
}

int hob_shared_export(const hob_shared_snapshot *p, char *buf, size_t cap) {
    hob_buf text;
    hob_buf_init(&text, HOB_SHARED_EXPORT_MAX);
    write_all(p, &text);
    int rc = text.err || text.n > INT_MAX ? HOB_ETOOBIG : (int)text.n;
    if (rc >= 0 && cap) {
        size_t n = HOB_MIN(text.n, cap - 1);
        memcpy(buf, text.p, n);
        buf[n] = 0;
    }
    hob_buf_finish(&text);
    return rc;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static hob_str raw_of(const hob_json *v, const char *key) {
    const hob_json *m = hob_json_get(v, key);
    return m ? hob_json_raw(m) : HOB_STR_NULL;
}

static void read_event(const hob_json *v, hob_shared_event *e) {
    const hob_json *c = hob_json_get(v, "compaction");
    *e = (hob_shared_event)HOB_SHARED_EVENT_INIT;
    e->id = hob_json_get_str(v, "id");
    e->time = hob_json_get_int(v, "time", 0);
    e->invocation = hob_json_get_str(v, "invocation");
    e->author = hob_json_get_str(v, "author");
    e->branch = hob_json_get_str(v, "branch");
    e->content = raw_of(v, "content");
    e->state_delta = raw_of(v, "state_delta");
    e->removed = raw_of(v, "removed");
    e->artifact_delta = raw_of(v, "artifact_delta");
    e->transfer = hob_json_get_str(v, "transfer");
    if (hob_json_get_bool(v, "escalate", false)) e->flags |= HOB_SHARED_ESCALATE;
    if (hob_json_get_bool(v, "skip_summarization", false))
        e->flags |= HOB_SHARED_SKIP_SUMMARIZATION;
    e->compaction.start = (uint64_t)HOB_MAX(hob_json_get_int(c, "start", 0), 0);
    e->compaction.end = (uint64_t)HOB_MAX(hob_json_get_int(c, "end", 0), 0);
    e->compaction.content = raw_of(c, "content");
    e->compaction.agent = hob_json_get_str(c, "agent");
    e->compaction.branch = hob_json_get_str(c, "branch");
}

/* Its change of state is part of the state already: it is checked and not applied. */
static int add_event(hob_ledger *l, const hob_json *v, hob_arena *a, hob_error *err) {
    hob_shared_event e;
    hob_change c, none = {0};
    hob_record *r = NULL;
    read_event(v, &e);
    hob_arena_reset(a);
    int rc = hob_change_init(&c, a, e.state_delta, e.removed, err);
    if (rc < 0) return rc;
    rc = hob_record_create(&e, &c, a, &r, err);
    if (rc >= 0) rc = hob_ledger_append(l, r, &none, NULL, err);
    if (rc < 0) hob_record_unref(r);
    hob_change_finish(&c);
    return rc;
}

static int add_state(hob_ledger *l, const hob_json *state, hob_arena *a, hob_error *err) {
    hob_change c;
    if (!state) return HOB_OK;
    int rc = hob_change_init(&c, a, hob_json_raw(state), HOB_STR_NULL, err);
    if (rc < 0) return rc;
    rc = hob_change_check(&c, &l->state, &l->limits.state, err);
    if (rc >= 0) {
        hob_change_apply(&c, &l->state);
        hob_state_drop_temp(&l->state);
    }
    hob_change_finish(&c);
    return rc;
}

int hob_ledger_import(hob_ledger *l, hob_arena *a, hob_str text, hob_shared_identity *name,
                      hob_error *err) {
    hob_json_opts opts = {.max_bytes = HOB_SHARED_EXPORT_MAX};
    const hob_json *all;
    int rc = hob_json_parse(a, text, &opts, &all, err);
    if (rc < 0) return rc;
    if (!hob_json_is(all, HOB_JSON_OBJECT))
        return hob_fail(err, HOB_EPARSE, 0, "this is no export of a shared session");
    hob_arena *work = hob_arena_create(0);
    rc = add_state(l, hob_json_get(all, "state"), work, err);
    for (const hob_json *v = hob_json_first(hob_json_get(all, "events")); v && rc >= 0;
         v = hob_json_next(v))
        rc = add_event(l, v, work, err);
    hob_arena_destroy(work);
    if (rc < 0) return rc;
    name->id = hob_json_get_str(all, "id");
    name->app_name = hob_json_get_str(all, "app_name");
    name->user_id = hob_json_get_str(all, "user_id");
    return HOB_OK;
}
