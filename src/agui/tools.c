/*
 * tools.c - the client's tools as tools of a session.
 *
 * The work is done by the client, so all there is to do here is to say so: the answer is a receipt, the run ends with it,
 * and the result comes with the client's next input (hob_session_tool_update).
 */
#include <hob/agui_project.h>

#include "agui/input.h"
#include "base/json.h"

#include <stdio.h>

enum { TOOLS_MAX = 1024, WARNINGS_MAX = 32, SCHEMA_DEPTH = 32 };

struct hob_agui_tools {
    hob_arena *arena;
    hob_tool *all;
    size_t n;
    hob_str warnings[WARNINGS_MAX];
    size_t nwarnings;
};

static void receipt(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call;
    (void)user;
    hob_reply_text(reply, HOB_OUTCOME_OK,
                   HOB_STR("The application was asked to do this; its result is still to come."));
}

/* ---- schemas: what hob's checker knows of them -------------------------------------------------------------------------- */

static void put_schema(hob_jsonw *w, const hob_json *v, unsigned depth);

static void put_each(hob_jsonw *w, const hob_json *v, unsigned depth) {
    bool object = hob_json_is(v, HOB_JSON_OBJECT);
    if (object)
        hob_jsonw_object(w);
    else
        hob_jsonw_array(w);
    for (const hob_json *m = hob_json_first(v); m; m = hob_json_next(m)) {
        if (object) hob_jsonw_key_n(w, hob_json_key(m));
        put_schema(w, m, depth + 1);
    }
    if (object)
        hob_jsonw_object_end(w);
    else
        hob_jsonw_array_end(w);
}

static void put_member(hob_jsonw *w, const hob_json *m, unsigned depth) {
    static const char *const plain[] = {
        "type",      "required",  "enum",     "const",    "minimum",     "maximum", "default",
        "minLength", "maxLength", "minItems", "maxItems", "description", "title"};
    static const char *const nested[] = {"properties", "anyOf", "oneOf"};
    static const char *const one[] = {"items", "additionalProperties"};
    hob_str key = hob_json_key(m);
    for (size_t i = 0; i < HOB_ARRAY_LEN(plain); i++)
        if (hob_str_eqz(key, plain[i])) {
            hob_jsonw_key_n(w, key);
            hob_jsonw_raw(w, hob_json_raw(m));
        }
    for (size_t i = 0; i < HOB_ARRAY_LEN(nested); i++)
        if (hob_str_eqz(key, nested[i]) && hob_json_count(m)) {
            hob_jsonw_key_n(w, key);
            put_each(w, m, depth + 1);
        }
    for (size_t i = 0; i < HOB_ARRAY_LEN(one); i++)
        if (hob_str_eqz(key, one[i]) && !hob_json_is(m, HOB_JSON_ARRAY)) {
            hob_jsonw_key_n(w, key);
            put_schema(w, m, depth + 1);
        }
}

static void put_schema(hob_jsonw *w, const hob_json *v, unsigned depth) {
    if (!hob_json_is(v, HOB_JSON_OBJECT)) {
        hob_jsonw_raw(w, hob_json_is(v, HOB_JSON_BOOL) ? hob_json_raw(v) : HOB_STR("{}"));
        return;
    }
    hob_jsonw_object(w);
    for (const hob_json *m = hob_json_first(v); m && depth < SCHEMA_DEPTH; m = hob_json_next(m))
        put_member(w, m, depth);
    hob_jsonw_object_end(w);
}

/* The arguments are an object, whatever else the client says. */
static const char *schema_of(hob_agui_tools *t, hob_str parameters) {
    hob_buf b;
    hob_jsonw w;
    const hob_json *v = NULL;
    if (parameters.n) hob_json_parse(t->arena, parameters, NULL, &v, NULL);
    hob_buf_init(&b, 256 << 10);
    hob_jsonw_init(&w, &b);
    if (hob_str_eqz(hob_json_get_str(v, "type"), "object"))
        put_schema(&w, v, 0);
    else
        hob_buf_addz(&b, "{\"type\":\"object\"}");
    const char *z = b.err ? "{\"type\":\"object\"}" : hob_arena_dup(t->arena, hob_buf_str(&b)).p;
    hob_buf_finish(&b);
    return z;
}

/* ---- the list ---------------------------------------------------------------------------------------------------------- */

static void warn(hob_agui_tools *t, hob_str name, const char *why) {
    char text[200];
    if (t->nwarnings == WARNINGS_MAX) return;
    snprintf(text, sizeof text, "the tool \"%.*s\" was left out: %s",
             HOB_FMT(hob_str_first(name, hob_utf8_prefix(name, 80))), why);
    t->warnings[t->nwarnings++] = hob_arena_dup(t->arena, hob_str_z(text));
}

static bool name_fits(hob_str name) {
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-';
        if (!fits) return false;
    }
    return name.n && name.n <= 64;
}

static bool is_there(const hob_agui_tools *t, hob_str name) {
    for (size_t i = 0; i < t->n; i++)
        if (hob_str_eqz(name, t->all[i].name)) return true;
    return false;
}

static void add(hob_agui_tools *t, const hob_agui_tool *from) {
    if (!name_fits(from->name)) {
        warn(t, from->name, "a name has 1 to 64 letters, digits, _ and -");
        return;
    }
    if (is_there(t, from->name)) {
        warn(t, from->name, "the name is there twice");
        return;
    }
    hob_tool *tool = &t->all[t->n++];
    *tool = (hob_tool)HOB_TOOL_INIT;
    tool->name = hob_arena_dup(t->arena, from->name).p;
    tool->description = hob_arena_dup(t->arena, from->description).p;
    tool->schema = schema_of(t, from->parameters);
    tool->class_ =
        HOB_TOOL_READ_ONLY; /* here; what the client does with it is the client's to guard */
    tool->run = receipt;
    tool->flags = HOB_TOOL_LONG_RUNNING;
}

int hob_agui_tools_create(const hob_agui_input *in, hob_agui_tools **out, hob_error *err) {
    size_t n = hob_agui_input_tool_count(in);
    hob_agui_tool from;
    if (n > TOOLS_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "a client has at most %d tools", TOOLS_MAX);
    hob_agui_tools *t = HOB_NEW(hob_agui_tools);
    t->arena = hob_arena_create(0);
    t->all = hob_alloc((n + 1) * sizeof *t->all);
    for (size_t i = 0; hob_agui_input_tool(in, i, &from) == 0; i++) add(t, &from);
    *out = t;
    return 0;
}

void hob_agui_tools_destroy(hob_agui_tools *t) {
    if (!t) return;
    hob_free(t->all);
    hob_arena_destroy(t->arena);
    hob_free(t);
}

size_t hob_agui_tools_count(const hob_agui_tools *t) {
    return t->n;
}

const hob_tool *hob_agui_tools_at(const hob_agui_tools *t, size_t i) {
    return i < t->n ? &t->all[i] : NULL;
}

size_t hob_agui_tools_warning_count(const hob_agui_tools *t) {
    return t->nwarnings;
}

hob_str hob_agui_tools_warning(const hob_agui_tools *t, size_t i) {
    return i < t->nwarnings ? t->warnings[i] : HOB_STR_NULL;
}
