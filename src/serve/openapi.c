/*
 * openapi.c - the table of routes as an OpenAPI 3.1 document.
 */
#include "serve/routes.h"
#include "serve/web.h"

#include <stdio.h>

/* ---- pieces --------------------------------------------------------------------------------------------- */

static void write_schema(hob_jsonw *w, const char *schema) {
    if (schema[0] == '{') {
        hob_jsonw_raw(w, hob_str_z(schema));
        return;
    }
    char ref[128];
    snprintf(ref, sizeof ref, "#/components/schemas/%s", schema);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "$ref", hob_str_z(ref));
    hob_jsonw_object_end(w);
}

static void write_media(hob_jsonw *w, const char *type, const char *schema) {
    hob_jsonw_key(w, type);
    hob_jsonw_object(w);
    hob_jsonw_key(w, "schema");
    write_schema(w, schema);
    hob_jsonw_object_end(w);
}

static void write_type(hob_jsonw *w, hob_str type) {
    bool words = hob_web_has_words(type);
    hob_str word;
    hob_jsonw_kstr(w, "type", words ? HOB_STR("string") : type);
    if (!words) return;
    hob_jsonw_key(w, "enum");
    hob_jsonw_array(w);
    while (hob_str_split(&type, '|', &word)) hob_jsonw_str(w, word);
    hob_jsonw_array_end(w);
}

static void write_parameter(hob_jsonw *w, hob_str name, const char *in, hob_str type,
                            hob_str text) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "name", name);
    hob_jsonw_kstr(w, "in", hob_str_z(in));
    if (!strcmp(in, "path")) hob_jsonw_kbool(w, "required", true);
    hob_jsonw_kstr_opt(w, "description", text);
    hob_jsonw_key(w, "schema");
    hob_jsonw_object(w);
    write_type(w, type);
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
}

static void write_table(hob_jsonw *w, const char *in, const char *table) {
    hob_str rest = hob_str_z(table), part, name, type;
    while (table && hob_str_split(&rest, ';', &part)) {
        hob_str_split(&part, ':', &name);
        hob_str_split(&part, ':', &type);
        write_parameter(w, hob_str_trim(name), in, type, part);
    }
}

static void write_parameters(hob_jsonw *w, const hob_route *route) {
    hob_str path = hob_str_z(route->path), part;
    hob_jsonw_key(w, "parameters");
    hob_jsonw_array(w);
    while (hob_str_split(&path, '/', &part))
        if (part.n > 2 && part.p[0] == '{')
            write_parameter(w, hob_str_n(part.p + 1, part.n - 2), "path", HOB_STR("string"),
                            HOB_STR_NULL);
    write_table(w, "query", route->query);
    write_table(w, "header", route->headers);
    if (route->flags & HOB_ROUTE_ETAG)
        write_table(w, "header", "If-None-Match:string:304 if it has this ETag still");
    hob_jsonw_array_end(w);
}

static void write_body(hob_jsonw *w, const hob_route *route) {
    if (!route->takes) return;
    hob_jsonw_key(w, "requestBody");
    hob_jsonw_object(w);
    hob_jsonw_key(w, "content");
    hob_jsonw_object(w);
    write_media(w, route->flags & HOB_ROUTE_ANY_BODY ? "*/*" : "application/json", route->takes);
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
}

static void write_response(hob_jsonw *w, const char *status, const char *text) {
    hob_jsonw_key(w, status);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "description", hob_str_z(text));
}

static void write_responses(hob_jsonw *w, const hob_route *route) {
    char status[16];
    bool stream = route->flags & HOB_ROUTE_STREAM;
    int code = route->status ? route->status : 200;
    snprintf(status, sizeof status, "%d", code);
    hob_jsonw_key(w, "responses");
    hob_jsonw_object(w);
    write_response(w, status, hob_answer_reason(code));
    if (route->gives && code == 204) { /* nothing, or something to say */
        hob_jsonw_object_end(w);
        write_response(w, "200", hob_answer_reason(200));
    }
    if (route->gives || stream) {
        hob_jsonw_key(w, "content");
        hob_jsonw_object(w);
        if (route->gives) write_media(w, "application/json", route->gives);
        if (stream) write_media(w, "text/event-stream", "{\"type\":\"string\"}");
        hob_jsonw_object_end(w);
    }
    hob_jsonw_object_end(w);
    write_response(w, "default", "What went wrong");
    hob_jsonw_key(w, "content");
    hob_jsonw_object(w);
    write_media(w, "application/json", "Error");
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
}

/* ---- operations ----------------------------------------------------------------------------------------- */

/* "get_api_sessions_id": unique since method and path are. */
static void write_id(hob_jsonw *w, const hob_route *route) {
    char id[160];
    size_t n = 0;
    for (const char *p = route->method; *p; p++) id[n++] = (char)(*p | 32);
    for (const char *p = route->path; *p && n < sizeof id - 1; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9');
        if (letter)
            id[n++] = *p;
        else if (id[n - 1] != '_')
            id[n++] = '_';
    }
    if (id[n - 1] == '_') n--;
    hob_jsonw_kstr(w, "operationId", hob_str_n(id, n));
}

static void write_security(hob_jsonw *w, const hob_route *route) {
    hob_jsonw_key(w, "security");
    hob_jsonw_raw(w, route->right ? HOB_STR("[{\"bearer\":[]}]") : HOB_STR("[]"));
    hob_jsonw_kstr_opt(w, "x-hob-right", hob_str_z(hob_right_name(route->right)));
}

static void write_operation(hob_jsonw *w, const hob_route *route) {
    char method[16];
    hob_str_out(hob_str_z(route->method), method, sizeof method);
    for (char *p = method; *p; p++) *p = (char)(*p | 32);
    hob_jsonw_key(w, method);
    hob_jsonw_object(w);
    write_id(w, route);
    hob_jsonw_key(w, "tags");
    hob_jsonw_array(w);
    hob_jsonw_str(w, hob_str_z(route->tag));
    hob_jsonw_array_end(w);
    hob_jsonw_kstr(w, "summary", hob_str_z(route->summary));
    write_security(w, route);
    write_parameters(w, route);
    write_body(w, route);
    write_responses(w, route);
    hob_jsonw_object_end(w);
}

static bool seen_before(const hob_route *rows, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (!strcmp(rows[k].path, rows[i].path)) return true;
    return false;
}

static void write_paths(hob_jsonw *w) {
    size_t n;
    const hob_route *rows = hob_routes(&n);
    hob_jsonw_key(w, "paths");
    hob_jsonw_object(w);
    for (size_t i = 0; i < n; i++) {
        if (seen_before(rows, i)) continue;
        hob_jsonw_key(w, rows[i].path);
        hob_jsonw_object(w);
        for (size_t k = i; k < n; k++)
            if (!strcmp(rows[k].path, rows[i].path)) write_operation(w, &rows[k]);
        hob_jsonw_object_end(w);
    }
    hob_jsonw_object_end(w);
}

static void write_components(hob_jsonw *w) {
    size_t n;
    const hob_schema *rows = hob_schemas(&n);
    hob_jsonw_key(w, "components");
    hob_jsonw_object(w);
    hob_jsonw_kraw(w, "securitySchemes",
                   HOB_STR("{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"}}"));
    hob_jsonw_key(w, "schemas");
    hob_jsonw_object(w);
    for (size_t i = 0; i < n; i++) hob_jsonw_kraw(w, rows[i].name, hob_str_z(rows[i].json));
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
}

void hob_openapi_write(hob_buf *out) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "openapi", HOB_STR("3.1.0"));
    hob_jsonw_key(&w, "info");
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "title", HOB_STR("hob"));
    hob_jsonw_kstr(&w, "version", hob_str_z(hob_version()));
    hob_jsonw_kstr(&w, "summary",
                   HOB_STR("Sessions in which a language model works with tools, over HTTP"));
    hob_jsonw_object_end(&w);
    hob_jsonw_kraw(&w, "servers", HOB_STR("[{\"url\":\"/\"}]"));
    write_paths(&w);
    write_components(&w);
    hob_jsonw_object_end(&w);
}

void hob_route_openapi(hob_web_request *r) {
    hob_buf b;
    hob_buf_init(&b, 4 << 20);
    hob_openapi_write(&b);
    hob_web_answer_json(r, 200, hob_buf_str(&b));
    hob_buf_finish(&b);
}
