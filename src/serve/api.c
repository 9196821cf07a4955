/*
 * api.c - what the handlers of /api share.
 */
#include "serve/api.h"
#include "serve/names.h"

hob_hub *hob_api_hub(const hob_web_request *r) {
    return hob_web_server(r)->hub;
}

hob_runtime *hob_api_runtime(const hob_web_request *r) {
    return hob_web_server(r)->rt;
}

hob_str hob_api_id(hob_web_request *r) {
    hob_str *known = hob_web_session(r);
    char id[HOB_NAME_SIZE];
    if (known->p) return *known;
    hob_name_resolve(hob_api_hub(r), hob_web_caller(r), hob_web_param(r, "id"), id);
    *known = hob_arena_dup(hob_web_arena(r), hob_str_z(id));
    return *known;
}

/* ---- sessions -------------------------------------------------------------------------------------------------- */

bool hob_api_find(hob_web_request *r, hob_page **row) {
    hob_error err;
    hob_str id = hob_api_id(r);
    int rc = hob_hub_find(hob_api_hub(r), hob_web_caller(r), id, row, &err);
    if (rc < 0) hob_web_fail_hob(r, rc, &err);
    if (rc >= 0) hob_web_note(r, "session_id", id);
    return rc >= 0;
}

bool hob_api_is_there(hob_web_request *r) {
    hob_page *row;
    hob_room *room = hob_api_peek(r);
    if (room) {
        hob_web_note(r, "session_id", hob_api_id(r));
        hob_hub_leave(room);
        return true;
    }
    if (!hob_api_find(r, &row)) return false;
    hob_page_destroy(row);
    return true;
}

hob_room *hob_api_open(hob_web_request *r) {
    hob_error err;
    hob_room *room;
    hob_str id = hob_api_id(r);
    int rc = hob_hub_open(hob_api_hub(r), hob_web_caller(r), id, &room, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return NULL;
    }
    hob_web_note(r, "session_id", id);
    return room;
}

hob_room *hob_api_peek(hob_web_request *r) {
    return hob_hub_peek(hob_api_hub(r), hob_web_caller(r), hob_api_id(r));
}

hob_tenant hob_api_tenant(hob_web_request *r) {
    const hob_caller *c = hob_web_caller(r);
    hob_tenant of = HOB_TENANT_INIT;
    of.app_name = hob_api_z(r, c->tenant);
    of.user_id = hob_api_z(r, c->principal);
    return of;
}

const char *hob_api_z(hob_web_request *r, hob_str s) {
    return s.p ? hob_arena_dup(hob_web_arena(r), s).p : NULL;
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

void hob_api_answer_large(hob_web_request *r, hob_buf *json) {
    if (json->err)
        hob_web_fail(r, 413, "too_large", "the answer is over %d MiB: ask for less",
                     HOB_API_ANSWER_MAX >> 20);
    else
        hob_web_answer_json(r, 200, hob_buf_str(json));
    hob_buf_finish(json);
}

void hob_api_answer_page(hob_web_request *r, const char *key, hob_page *page) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, HOB_API_ANSWER_MAX);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, key);
    hob_jsonw_array(&w);
    for (size_t i = 0; i < hob_page_count(page); i++) hob_jsonw_raw(&w, hob_page_row(page, i));
    hob_jsonw_array_end(&w);
    hob_jsonw_key(&w, "next");
    if (hob_page_next(page).n)
        hob_jsonw_str(&w, hob_page_next(page));
    else
        hob_jsonw_null(&w);
    hob_jsonw_object_end(&w);
    hob_api_answer_large(r, &b);
    hob_page_destroy(page);
}

void hob_api_answer_row(hob_web_request *r, int status, hob_page *page) {
    hob_web_answer_json(r, status, hob_page_row(page, 0));
    hob_page_destroy(page);
}

void hob_api_conclude(hob_web_request *r, int rc, const char *key, hob_page *page,
                      const hob_error *err) {
    if (rc < 0)
        hob_web_fail_hob(r, rc, err);
    else
        hob_api_answer_page(r, key, page);
}

/* ---- bodies ----------------------------------------------------------------------------------------------------- */

bool hob_api_known(hob_web_request *r, const hob_json *body, const char *const *names) {
    for (const hob_json *v = hob_json_first(body); v; v = hob_json_next(v)) {
        hob_str key = hob_json_key(v);
        size_t n = 0;
        bool known = false;
        for (; names[n]; n++) known = known || hob_str_eqz(key, names[n]);
        if (known) continue;
        hob_web_fail_unknown(r, "member", key, names, n);
        return false;
    }
    return true;
}

bool hob_api_text(hob_web_request *r, const hob_json *body, const char *key, hob_str *out) {
    const hob_json *v = hob_json_get(body, key);
    *out = HOB_STR_NULL;
    if (!v || hob_json_is(v, HOB_JSON_NULL)) return true;
    *out = hob_json_str(v);
    if (hob_json_is(v, HOB_JSON_STRING) && !memchr(out->p ? out->p : "", 0, out->n)) return true;
    hob_web_fail(r, 400, "bad_request", "%s must be a string", key);
    return false;
}

static bool is_own_model(hob_web_request *r, hob_str model) {
    hob_str json = hob_config_get(hob_runtime_config(hob_api_runtime(r)), "model");
    const hob_json *own = NULL;
    return json.n && hob_json_parse(hob_web_arena(r), json, NULL, &own, NULL) >= 0 &&
           hob_str_eq(hob_json_str(own), model);
}

bool hob_api_model(hob_web_request *r, const hob_json *body, hob_str *out) {
    if (!hob_api_text(r, body, "model", out)) return false;
    bool file =
        hob_str_starts(*out, HOB_STR("scripted:")) || hob_str_starts(*out, HOB_STR("recorded:"));
    if (!file || is_own_model(r, *out)) return true;
    hob_web_fail(
        r, 403, "forbidden",
        "files of the server cannot be used as models: GET /api/models has those that can");
    return false;
}

static bool quote(hob_web_request *r, hob_str text, hob_str *out) {
    hob_buf b;
    hob_buf_init(&b, 128u << 20);
    hob_buf_addz(&b, "[{\"type\":\"text\",\"text\":");
    hob_json_quote(&b, text);
    hob_buf_addz(&b, "}]");
    bool fits = !b.err;
    if (fits)
        *out = hob_arena_dup(hob_web_arena(r), hob_buf_str(&b));
    else
        hob_web_fail(r, 413, "too_large", "the text is too long");
    hob_buf_finish(&b);
    return fits && out->p;
}

bool hob_api_content(hob_web_request *r, const hob_json *body, hob_str *out) {
    const hob_json *content = hob_json_get(body, "content");
    hob_str text;
    if (!hob_api_text(r, body, "text", &text)) return false;
    if (!!content == !!text.p) {
        hob_web_fail(r, 400, "bad_request",
                     "say it as \"text\", or as \"content\": an array of blocks");
        return false;
    }
    if (!content && text.n) return quote(r, text, out);
    if (!content) {
        hob_web_fail(r, 400, "bad_request", "the text is empty: say something");
        return false;
    }
    *out = hob_json_raw(content);
    if (hob_json_is(content, HOB_JSON_ARRAY)) return true;
    hob_web_fail(r, 400, "bad_request", "content must be an array of blocks");
    return false;
}
