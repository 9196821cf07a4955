/*
 * api_artifacts.c - artifacts of a session: list, read, save, delete.
 *
 * Saving never overwrites: each PUT is a new version, and the answer names it. So there is nothing for preconditions
 * to guard; a client that sends one expects something else, and is told.
 */
#include "serve/api.h"

#include <hob/artifact.h>

static hob_artifact_query artifact_query(hob_web_request *r, hob_tenant *of) {
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    *of = hob_api_tenant(r);
    q.session = hob_api_z(r, hob_api_id(r));
    q.of = of;
    return q;
}

void hob_api_artifacts(hob_web_request *r) {
    hob_tenant of;
    hob_artifact_query q = artifact_query(r, &of);
    hob_page *page = NULL;
    hob_error err;
    int64_t limit;
    if (!hob_web_query_int(r, "limit", (hob_web_range){1, 1000, 50}, &limit)) return;
    if (!hob_api_is_there(r)) return;
    q.name = hob_web_query(r, "name");
    q.cursor = hob_api_z(r, hob_web_query(r, "cursor"));
    q.limit = (size_t)limit;
    int rc = hob_runtime_artifacts(hob_api_runtime(r), &q, &page, &err);
    hob_api_conclude(r, rc, "artifacts", page, &err);
}

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

static hob_str name_of(hob_web_request *r) {
    hob_str name = hob_web_query(r, "name");
    return name.p ? name : hob_web_param(r, "name");
}

/* RFC 6266: the last part of the name in ASCII, and for those who know it the same as it is (RFC 8187). */
static void add_name(hob_web_request *r, hob_str name) {
    hob_buf b;
    ptrdiff_t slash;
    while ((slash = hob_str_chr(name, '/')) >= 0) name = hob_str_skip(name, (size_t)slash + 1);
    if (hob_str_starts(name, HOB_STR("user:"))) name = hob_str_skip(name, 5);
    hob_buf_init(&b, 16 * 1024);
    hob_buf_addz(&b, "attachment; filename=\"");
    for (size_t i = 0; i < name.n; i++) hob_buf_addc(&b, is_plain(name.p[i]) ? name.p[i] : '_');
    hob_buf_addz(&b, "\"; filename*=UTF-8''");
    for (size_t i = 0; i < name.n; i++)
        if (is_plain(name.p[i]))
            hob_buf_addc(&b, name.p[i]);
        else
            hob_buf_addf(&b, "%%%02X", (unsigned char)name.p[i]);
    hob_web_answer_header(r, "Content-Disposition",
                          name.n && !b.err ? hob_buf_str(&b) : HOB_STR("attachment"));
    hob_buf_finish(&b);
}

/* Bytes that somebody made, with the type that they say they have: to be kept, never to be shown as a page of ours. */
void hob_api_artifact(hob_web_request *r) {
    hob_tenant of;
    hob_artifact_query q = artifact_query(r, &of);
    hob_artifact *a;
    hob_error err;
    if (!hob_web_query_int(r, "version", (hob_web_range){0, INT64_MAX, HOB_ARTIFACT_NEWEST},
                           &q.version))
        return;
    if (!hob_api_is_there(r)) return;
    q.name = name_of(r);
    int rc = hob_runtime_artifact_load(hob_api_runtime(r), &q, &a, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    add_name(r, q.name);
    hob_web_answer(r, 200, hob_api_z(r, hob_artifact_mime(a)), hob_artifact_bytes(a));
    hob_artifact_destroy(a);
}

/* ---- saving -------------------------------------------------------------------------------------------------------- */

static bool is_unconditional(hob_web_request *r) {
    if (!hob_web_header(r, "if-match").p && !hob_web_header(r, "if-none-match").p) return true;
    hob_web_fail(r, 400, "bad_request",
                 "a PUT never overwrites an artifact but makes its next version, and a DELETE is "
                 "about all of them: send it without If-Match and If-None-Match");
    return false;
}

static void answer_version(hob_web_request *r, const hob_artifact_item *item, int64_t version) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 16 * 1024);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "name", item->name);
    hob_jsonw_kint(&w, "version", version);
    hob_jsonw_kstr(&w, "mime", hob_str_z(item->mime ? item->mime : "application/octet-stream"));
    hob_jsonw_kint(&w, "size", (int64_t)item->bytes.n);
    hob_jsonw_object_end(&w);
    hob_web_answer_json(r, 201, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* The session is opened for it, as for a prompt: so several can come at once, also while a run is under way. */
void hob_api_artifact_save(hob_web_request *r) {
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    int64_t version;
    hob_error err;
    if (!is_unconditional(r)) return;
    item.name = name_of(r);
    item.bytes = hob_web_body(r);
    hob_str type = hob_str_trim(hob_web_header(r, "content-type"));
    item.mime = type.n ? hob_api_z(r, type) : NULL;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    int rc = hob_caller_take(hob_web_caller(r), HOB_QUOTA_ARTIFACTS, (int64_t)item.bytes.n, &err);
    bool taken = rc >= 0;
    if (taken) rc = hob_session_artifact_save(hob_room_session(room), &item, &version, &err);
    hob_hub_leave(room);
    if (taken && rc < 0)
        hob_caller_give(hob_web_caller(r), HOB_QUOTA_ARTIFACTS, (int64_t)item.bytes.n);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        answer_version(r, &item, version);
}

/* ---- deleting ------------------------------------------------------------------------------------------------------- */

/* The log keeps that it was there, and says that it was deleted; its bytes are gone. */
void hob_api_artifact_delete(hob_web_request *r) {
    hob_error err;
    if (!is_unconditional(r)) return;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    int rc = hob_session_artifact_delete(hob_room_session(room), name_of(r), &err);
    hob_hub_leave(room);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}
