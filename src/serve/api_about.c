/*
 * api_about.c - what the server is to this caller, and what took how long in a session.
 */
#include "serve/api.h"
#include "serve/callers.h"

static void write_rights(hob_jsonw *w, const hob_caller *c) {
    hob_jsonw_key(w, "rights");
    hob_jsonw_array(w);
    for (hob_right i = HOB_RIGHT_READ; i <= HOB_RIGHT_ADMIN; i++)
        if (hob_caller_may(c, i)) hob_jsonw_str(w, hob_str_z(hob_right_name(i)));
    hob_jsonw_array_end(w);
}

/* {"tokens":{"used":…,"limit":…},…}: what there is a limit of. */
static void write_limit(hob_jsonw *w, const char *name, double used, double limit) {
    hob_jsonw_key(w, name);
    hob_jsonw_object(w);
    hob_jsonw_key(w, "used");
    hob_jsonw_double(w, used);
    hob_jsonw_key(w, "limit");
    hob_jsonw_double(w, limit);
    hob_jsonw_object_end(w);
}

static void write_limits(hob_jsonw *w, const hob_caller *c) {
    hob_jsonw_key(w, "limits");
    hob_jsonw_object(w);
    for (hob_quota q = 0; q < HOB_QUOTA_COUNT; q++) {
        double unit = (double)hob_quota_unit(q);
        if (!c->limits[q]) continue;
        write_limit(w, hob_quota_name(q), (double)hob_caller_taken(c, q) / unit,
                    (double)c->limits[q] / unit);
    }
    if (c->per_minute)
        write_limit(w, "per_minute", (double)hob_caller_rated(c), (double)c->per_minute);
    hob_jsonw_object_end(w);
}

/* What a session gets that does not say. A model that follows from the keys is marked in GET /api/models. */
static void write_defaults(hob_jsonw *w, hob_web_request *r) {
    const char *mode;
    hob_str model = hob_config_get(hob_runtime_config(hob_api_runtime(r)), "model");
    if (model.n > 2) { /* quoted */
        hob_jsonw_key(w, "model");
        hob_jsonw_raw(w, model);
    }
    if (hob_hub_mode(hob_api_hub(r), hob_web_caller(r), HOB_STR_NULL, &mode, NULL) >= 0)
        hob_jsonw_kstr(w, "permission_mode", hob_str_z(mode));
}

/* GET /api/server */
void hob_api_server(hob_web_request *r) {
    const hob_caller *c = hob_web_caller(r);
    const hob_server *s = hob_web_server(r);
    hob_buf out;
    hob_jsonw w;
    hob_buf_init(&out, 65536);
    hob_jsonw_init(&w, &out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "version", hob_str_z(hob_version()));
    hob_jsonw_kstr_opt(&w, "cwd", hob_str_z(s->roots ? s->roots[0] : NULL));
    hob_jsonw_kstr(&w, "caller", c->name);
    hob_jsonw_kstr(&w, "tenant", c->tenant);
    hob_jsonw_kstr(&w, "principal", c->principal);
    hob_jsonw_kstr_opt(&w, "max_mode", c->max_mode);
    write_defaults(&w, r);
    write_rights(&w, c);
    write_limits(&w, c);
    hob_jsonw_object_end(&w);
    hob_web_answer_json(r, 200, hob_buf_str(&out));
    hob_buf_finish(&out);
}

/* GET /api/sessions/{id}/trace */
void hob_api_trace(hob_web_request *r) {
    hob_page *spans = NULL;
    hob_str run = hob_web_query(r, "run");
    hob_error err;
    if (!hob_api_is_there(r)) return;
    int rc = hob_runtime_trace(hob_api_runtime(r), hob_api_z(r, hob_api_id(r)),
                               run.p ? hob_api_z(r, run) : NULL, &spans, &err);
    hob_api_conclude(r, rc, "spans", spans, &err);
}
