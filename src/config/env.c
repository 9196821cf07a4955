/*
 * env.c - which variables set which settings.
 *
 * A variable that is there but empty is as good as absent. A wrong value is an error that names the
 * variable: falling back to something else is how a wish gets lost.
 */
#include "config/env.h"

#include "config/config.h"
#include "config/read.h"

typedef enum shape {
    AS_IS,
    TRIMMED, /* keys: a line end from $(cat file) is not part of it */
    OLLAMA,  /* host, host:port, :port or an address */
    COLOR    /* any value means no colour */
} shape;

typedef struct variable {
    const char *name;
    const char *path;
    shape shape;
} variable;

/* Of two that set the same the first one counts: curl and most tools prefer the lower case. */
static const variable variables[] = {
    {"HOB_MODEL", "model", AS_IS},
    {"HOB_THINKING", "thinking", AS_IS},
    {"HOB_STORE", "store", AS_IS},
    {"HOB_PERMISSION_MODE", "permissions.mode", AS_IS},
    {"HOB_SERVER_TOKEN", "server.token", TRIMMED},
    {"ANTHROPIC_API_KEY", "providers.anthropic.api_key", TRIMMED},
    {"ANTHROPIC_BASE_URL", "providers.anthropic.base_url", AS_IS},
    {"OPENAI_API_KEY", "providers.openai.api_key", TRIMMED},
    {"OPENAI_BASE_URL", "providers.openai.base_url", AS_IS},
    {"OPENROUTER_API_KEY", "providers.openrouter.api_key", TRIMMED},
    {"OPENROUTER_BASE_URL", "providers.openrouter.base_url", AS_IS},
    {"GEMINI_API_KEY", "providers.gemini.api_key", TRIMMED},
    {"GEMINI_BASE_URL", "providers.gemini.base_url", AS_IS},
    {"OLLAMA_HOST", "providers.ollama.base_url", OLLAMA},
    {"https_proxy", "net.https_proxy", AS_IS},
    {"HTTPS_PROXY", "net.https_proxy", AS_IS},
    {"http_proxy", "net.http_proxy", AS_IS},
    {"HTTP_PROXY", "net.http_proxy", AS_IS},
    {"all_proxy", "net.all_proxy", AS_IS},
    {"ALL_PROXY", "net.all_proxy", AS_IS},
    {"no_proxy", "net.no_proxy", AS_IS},
    {"NO_PROXY", "net.no_proxy", AS_IS},
    {"SSL_CERT_FILE", "net.ca_file", AS_IS},
    {"NO_COLOR", "color", COLOR},
    {"OTEL_EXPORTER_OTLP_ENDPOINT", "telemetry.endpoint", AS_IS},
    {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "telemetry.traces_endpoint", AS_IS},
    {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "telemetry.headers", AS_IS},
    {"OTEL_EXPORTER_OTLP_HEADERS", "telemetry.headers", AS_IS},
    {"OTEL_TRACES_EXPORTER", "telemetry.exporter", AS_IS},
    {"OTEL_SERVICE_NAME", "telemetry.service", AS_IS},
    {"OTEL_RESOURCE_ATTRIBUTES", "telemetry.resource", AS_IS},
};

const char *hob_config_key_variable(hob_str provider) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(variables); i++) {
        hob_str path = hob_str_z(variables[i].path);
        bool key =
            hob_str_starts(path, HOB_STR("providers.")) && hob_str_ends(path, HOB_STR(".api_key"));
        if (key && hob_str_eq(hob_str_first(hob_str_skip(path, 10), path.n - 18), provider))
            return variables[i].name;
    }
    return NULL;
}

static bool has_port(hob_str host) {
    ptrdiff_t end = hob_str_chr(host, ']'); /* [::1]:11434 */
    return hob_str_chr(hob_str_skip(host, end < 0 ? 0 : (size_t)end), ':') >= 0;
}

/* As Ollama's own client reads it. */
static void ollama_url(hob_str host, hob_buf *out) {
    host = hob_str_trim(host);
    bool address = hob_str_find(host, HOB_STR("://")) >= 0;
    if (!address) hob_buf_addz(out, host.n && host.p[0] == ':' ? "http://127.0.0.1" : "http://");
    hob_buf_add(out, host);
    if (!address && !has_port(host)) hob_buf_addz(out, ":11434");
}

static void shape_value(shape s, hob_str value, hob_buf *out) {
    switch (s) {
    case AS_IS: hob_buf_add(out, value); break;
    case TRIMMED: hob_buf_add(out, hob_str_trim(value)); break;
    case OLLAMA: ollama_url(value, out); break;
    case COLOR: hob_buf_addz(out, "never"); break;
    }
}

static int read_value(hob_reading *r, const char *path, hob_str json, hob_setting *layer,
                      hob_error *err) {
    hob_arena *a = hob_arena_create((size_t)4 << 20);
    hob_path p;
    const hob_json *v;
    hob_setting *s = layer;
    int code = hob_path_parse(&p, path, a);
    if (code == HOB_OK) code = hob_json_parse(a, json, NULL, &v, err);
    for (size_t i = 0; code == HOB_OK && i < p.n; i++) s = hob_setting_ensure(s, p.keys[i]);
    if (code == HOB_OK) code = hob_setting_read(r, v, &p, s, err);
    hob_arena_destroy(a);
    return code;
}

static int read_variable(const variable *v, hob_str value, hob_setting *layer, hob_notes *notes,
                         hob_error *err) {
    if (!hob_utf8_valid(value))
        return hob_fail(err, HOB_ECONFIG, 0, "%s is not valid UTF-8", v->name);
    hob_reading r = {.origin = HOB_ORIGIN_ENV, .source = v->name, .notes = notes};
    hob_buf text, json;
    hob_buf_init(&text, HOB_CONFIG_MAX_FILE);
    hob_buf_init(&json, HOB_CONFIG_MAX_FILE * 2);
    shape_value(v->shape, value, &text);
    hob_json_quote(&json, hob_buf_str(&text));
    int code = text.err || json.err ? hob_fail(err, HOB_ECONFIG, 0, "%s is too long", v->name)
                                    : read_value(&r, v->path, hob_buf_str(&json), layer, err);
    hob_buf_finish(&text);
    hob_buf_finish(&json);
    return code;
}

int hob_env_read(const char *const *envp, hob_setting *layer, hob_notes *notes, hob_error *err) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(variables); i++) {
        hob_str value;
        const variable *v = &variables[i];
        if (!hob_env_get(envp, v->name, &value) || hob_setting_find_z(layer, v->path)) continue;
        int code = read_variable(v, value, layer, notes, err);
        if (code < 0) return code;
    }
    return HOB_OK;
}
