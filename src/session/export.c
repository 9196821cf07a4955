/*
 * export.c - a stored session as lines of JSON: itself and all that worked for it, to be read by people and programs and
 * by hob_import. docs/export.md has the form.
 *
 * Each session is as long as its row said when its turn came: one that is being written to is cut there, and whole.
 */
#include "log/artifact.h"
#include "session/session.h"

#include <hob/artifact.h>

enum {
    DEPTH_MAX = 64,
    PIECE = 24 << 20 /* bytes of an artifact in a line; in base64 a third more */
};

typedef struct exporting {
    hob_runtime *rt;
    hob_line_fn fn;
    void *user;
    int64_t sessions, events, artifacts;
} exporting;

static int give(exporting *x, hob_str line, hob_error *err) {
    int rc = x->fn(line, x->user);
    return rc < 0 ? hob_fail(err, rc, 0, "writing the export was stopped") : HOB_OK;
}

static int give_head(exporting *x, hob_str id, hob_error *err) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 4096);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("hob_export"));
    hob_jsonw_kint(&w, "v", HOB_EXPORT_VERSION);
    hob_jsonw_kstr(&w, "version", HOB_STR(HOB_VERSION));
    hob_jsonw_kstr(&w, "session", id);
    hob_jsonw_object_end(&w);
    int rc = give(x, hob_buf_str(&b), err);
    hob_buf_finish(&b);
    return rc;
}

static int give_end(exporting *x, hob_error *err) {
    char line[160];
    int n = snprintf(line, sizeof line,
                     "{\"type\":\"end\",\"sessions\":%lld,\"events\":%lld,\"artifacts\":%lld}",
                     (long long)x->sessions, (long long)x->events, (long long)x->artifacts);
    return give(x, hob_str_n(line, (size_t)n), err);
}

/* Its row, with a type, and without what is true only here and now. */
static int give_row(exporting *x, const hob_json *row, hob_error *err) {
    static const char *const kept[] = {"id",     "title", "cwd",  "model",   "forked_from",
                                       "parent", "app",   "user", "created", "updated"};
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("session"));
    for (size_t i = 0; i < HOB_ARRAY_LEN(kept); i++)
        hob_jsonw_kstr_opt(&w, kept[i], hob_json_get_str(row, kept[i]));
    hob_jsonw_kint(&w, "events", hob_json_get_int(row, "last_seq", 0));
    hob_jsonw_object_end(&w);
    int rc = give(x, hob_buf_str(&b), err);
    hob_buf_finish(&b);
    x->sessions++;
    return rc;
}

static int give_events(exporting *x, const char *id, uint64_t last, hob_error *err) {
    uint64_t seq = 0;
    int rc = HOB_OK;
    while (rc >= 0 && seq < last) {
        hob_page *page;
        rc = hob_runtime_events(x->rt, id, seq, 0, &page, err);
        if (rc < 0) break;
        size_t n = hob_page_count(page);
        for (size_t i = 0; i < n && seq < last && rc >= 0; i++, seq++)
            rc = give(x, hob_page_row(page, i), err);
        if (!n) rc = hob_fail(err, HOB_ESTORE, 0, "session %.128s ends before its last event", id);
        hob_page_destroy(page);
    }
    x->events += (int64_t)seq;
    return rc;
}

/* ---- artifacts ----------------------------------------------------------------------------------------------- */

/* The first line of a version says what it is; those behind it bring what is left of its bytes. */
static int give_piece(exporting *x, const hob_artifact *a, size_t from, hob_error *err) {
    hob_str rest = hob_str_skip(hob_artifact_bytes(a), from), meta = hob_artifact_meta(a);
    hob_buf b;
    hob_jsonw w;
    char t[25];
    hob_buf_init(&b, HOB_EVENT_LINE_MAX);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", from ? HOB_STR("more") : HOB_STR("artifact"));
    if (!from) {
        hob_jsonw_kstr(&w, "name", hob_artifact_name(a));
        hob_jsonw_kint(&w, "version", hob_artifact_version(a));
        hob_jsonw_kstr_opt(&w, "mime", hob_artifact_mime(a));
        hob_time_format(hob_artifact_time(a), t);
        hob_jsonw_kstr(&w, "created", hob_str_n(t, 24));
        if (meta.n) hob_jsonw_kraw(&w, "meta", meta);
        hob_jsonw_kint(&w, "size", (int64_t)hob_artifact_bytes(a).n);
    }
    hob_jsonw_key(&w, "base64");
    hob_jsonw_raw(&w, HOB_STR("\""));
    hob_base64_encode(&b, hob_str_first(rest, PIECE));
    hob_buf_addz(&b, "\"");
    hob_jsonw_object_end(&w);
    int rc = b.err ? hob_fail(err, b.err, 0, "an artifact does not fit a line")
                   : give(x, hob_buf_str(&b), err);
    hob_buf_finish(&b);
    return rc;
}

static int give_artifact(exporting *x, const hob_artifact_query *q, hob_error *err) {
    hob_artifact *a;
    int rc = hob_runtime_artifact_load(x->rt, q, &a, err);
    if (rc < 0) return rc;
    size_t at = 0;
    do {
        rc = give_piece(x, a, at, err);
        at += PIECE;
    } while (rc >= 0 && at < hob_artifact_bytes(a).n);
    x->artifacts++;
    hob_artifact_destroy(a);
    return rc;
}

static int give_row_of(exporting *x, hob_artifact_query q, const hob_json *row, hob_error *err);

/* Every row of a list: the names of a session, or with a name its versions. */
static int give_artifacts(exporting *x, hob_artifact_query q, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    int rc = HOB_OK;
    do {
        hob_page *page;
        rc = hob_runtime_artifacts(x->rt, &q, &page, err);
        if (rc < 0) break;
        for (size_t i = 0; rc >= 0 && i < hob_page_count(page); i++) {
            const hob_json *row;
            rc = hob_json_parse(a, hob_page_row(page, i), NULL, &row, err);
            if (rc >= 0) rc = give_row_of(x, q, row, err);
        }
        q.cursor = hob_arena_dup(a, hob_page_next(page)).p;
        hob_page_destroy(page);
    } while (rc >= 0 && *q.cursor);
    hob_arena_destroy(a);
    return rc;
}

/* The user's names are listed, too, and stay where they are. */
static int give_row_of(exporting *x, hob_artifact_query q, const hob_json *row, hob_error *err) {
    bool names = !q.name.n;
    q.name = hob_json_get_str(row, "name");
    q.version = hob_json_get_int(row, "version", 0);
    q.cursor = NULL;
    if (hob_artifact_is_shared(q.name)) return HOB_OK;
    return names ? give_artifacts(x, q, err) : give_artifact(x, &q, err);
}

static int give_shelf(exporting *x, const char *id, hob_error *err) {
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    q.session = id;
    q.limit = 1000;
    return give_artifacts(x, q, err);
}

/* ---- sessions -------------------------------------------------------------------------------------------------- */

static int give_session(exporting *x, hob_str row, int depth, hob_error *err);

static int give_children(exporting *x, const char *id, int depth, hob_error *err) {
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    char cursor[80] = "";
    int rc = HOB_OK;
    q.parent = id;
    q.limit = 200;
    do {
        hob_page *page;
        q.cursor = cursor;
        rc = hob_runtime_sessions(x->rt, &q, &page, err);
        if (rc < 0) break;
        for (size_t i = 0; i < hob_page_count(page) && rc >= 0; i++)
            rc = give_session(x, hob_page_row(page, i), depth, err);
        hob_str_out(hob_page_next(page), cursor, sizeof cursor);
        hob_page_destroy(page);
    } while (rc >= 0 && cursor[0]);
    return rc;
}

static int give_session(exporting *x, hob_str row, int depth, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *r;
    int rc = hob_json_parse(a, row, NULL, &r, err);
    if (rc >= 0 && depth > DEPTH_MAX)
        rc = hob_fail(err, HOB_EDEPTH, 0, "sub-agents are nested more than %d deep", DEPTH_MAX);
    if (rc >= 0) {
        const char *id = hob_arena_dup(a, hob_json_get_str(r, "id")).p;
        if (!depth) rc = give_head(x, hob_str_z(id), err);
        if (rc >= 0) rc = give_row(x, r, err);
        if (rc >= 0) rc = give_events(x, id, (uint64_t)hob_json_get_int(r, "last_seq", 0), err);
        if (rc >= 0) rc = give_shelf(x, id, err);
        if (rc >= 0) rc = give_children(x, id, depth + 1, err);
    }
    hob_arena_destroy(a);
    return rc;
}

int hob_runtime_export_session(hob_runtime *rt, const char *session, const hob_tenant *of,
                               hob_line_fn fn, void *user, hob_error *err) {
    exporting x = {.rt = rt, .fn = fn, .user = user};
    hob_page *page;
    int rc = hob_runtime_find_session_of(rt, session, of, &page, err);
    if (rc < 0) return rc;
    rc = give_session(&x, hob_page_row(page, 0), 0, err);
    hob_page_destroy(page);
    return rc < 0 ? rc : give_end(&x, err);
}
