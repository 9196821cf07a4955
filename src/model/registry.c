/*
 * registry.c - providers and models from the configuration, over the catalogue.
 *
 * Everything is copied out of the configuration once. A provider without any key setting needs none (a server of
 * one's own); the standard ones always need theirs.
 */
#include "model/registry.h"

#include <stdio.h>

/* What a model gets of which nothing is known. */
#define STRANGE_CONTEXT 128000
#define STRANGE_CLAUDE_CONTEXT 200000
#define STRANGE_OUTPUT 16384

static hob_str keep(hob_models *m, hob_str s) {
    return s.n ? hob_arena_dup(m->arena, s) : HOB_STR_NULL;
}

/* ---- looking up ----------------------------------------------------------------------------------- */

hob_provider_row *hob_models_row(const hob_models *m, hob_str provider) {
    for (size_t i = 0; i < m->nproviders; i++) {
        if (hob_str_eq(m->providers[i].name, provider)) return &m->providers[i];
    }
    return NULL;
}

hob_model_info *hob_models_find(const hob_models *m, hob_str provider, hob_str id) {
    for (size_t i = 0; i < m->nmodels; i++) {
        hob_model_info *info = &m->models[i];
        if (hob_str_eq(info->provider, provider) && hob_str_ieq(info->id, id)) return info;
    }
    return NULL;
}

bool hob_row_usable(const hob_provider_row *r) {
    return hob_str_eqz(r->api, "anthropic") || hob_str_eqz(r->api, "openai-chat") ||
           hob_str_eqz(r->api, "scripted");
}

bool hob_row_credentialed(const hob_provider_row *r) {
    if (r->key.n || r->key_cmd.n) return true;
    return !r->variable && r->missing.n == 0;
}

hob_model_info hob_models_stranger(const hob_models *m, const hob_provider_row *r, hob_str id) {
    bool claude = hob_str_eqz(r->api, "anthropic");
    (void)m;
    return (hob_model_info){.provider = r->name,
                            .id = id,
                            .api = r->api,
                            .script = r->script,
                            .context = claude ? STRANGE_CLAUDE_CONTEXT : STRANGE_CONTEXT,
                            .output = STRANGE_OUTPUT,
                            .images = true};
}

/* ---- models ----------------------------------------------------------------------------------------- */

static hob_model_info *add_model(hob_models *m, const hob_provider_row *r, hob_str id) {
    hob_model_info *known = hob_models_find(m, r->name, id);
    if (known) return known;
    if (m->nmodels == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 64;
        m->models = hob_realloc(m->models, m->cap * sizeof *m->models);
    }
    hob_model_info *info = &m->models[m->nmodels++];
    *info = hob_models_stranger(m, r, keep(m, id));
    info->known = true;
    return info;
}

static void add_catalogue(hob_models *m, const hob_provider_row *r) {
    size_t n;
    const hob_catalogue_row *rows = hob_catalogue(&n);
    for (size_t i = 0; i < n; i++) {
        if (!hob_str_eqz(r->name, rows[i].provider)) continue;
        hob_model_info *info = add_model(m, r, hob_str_z(rows[i].id));
        info->context = rows[i].context;
        info->output = rows[i].output;
        info->priced = true;
        info->input_usd = rows[i].input_usd;
        info->output_usd = rows[i].output_usd;
        info->cache_read_usd = rows[i].cache_read_usd;
        info->cache_write_usd = rows[i].cache_write_usd;
    }
}

/* A price without prices for the cache counts those tokens as any other input. */
static void read_cost(hob_model_info *info, const hob_json *cost) {
    if (!cost) return;
    info->priced = hob_json_is(hob_json_get(cost, "input"), HOB_JSON_NUMBER) &&
                   hob_json_is(hob_json_get(cost, "output"), HOB_JSON_NUMBER);
    if (!info->priced) return;
    info->input_usd = hob_json_get_double(cost, "input", 0);
    info->output_usd = hob_json_get_double(cost, "output", 0);
    info->cache_read_usd = hob_json_get_double(cost, "cache_read", info->input_usd);
    info->cache_write_usd = hob_json_get_double(cost, "cache_write", info->input_usd);
}

static hob_thinking_style style_from(hob_str word) {
    static const char *const words[] = {
        [HOB_THINKS_NOT] = "none",
        [HOB_THINKS_BUDGET] = "budget",
        [HOB_THINKS_ADAPTIVE] = "adaptive",
        [HOB_THINKS_EFFORT] = "effort",
    };
    for (size_t i = HOB_THINKS_NOT; i < HOB_ARRAY_LEN(words); i++) {
        if (hob_str_eqz(word, words[i])) return (hob_thinking_style)i;
    }
    return HOB_THINKS_BY_NAME;
}

static void add_configured(hob_models *m, hob_provider_row *r, const hob_json *models) {
    r->quirks = hob_arena_alloc(m->arena, (hob_json_count(models) + 1) * sizeof *r->quirks);
    for (const hob_json *c = hob_json_first(models); c; c = hob_json_next(c)) {
        hob_model_info *info = add_model(m, r, hob_json_key(c));
        info->context = hob_json_get_int(c, "context", info->context);
        info->output = hob_json_get_int(c, "output", info->output);
        info->images = hob_json_get_bool(c, "images", info->images);
        read_cost(info, hob_json_get(c, "cost"));
        r->quirks[r->nquirks++] =
            (hob_model_quirks){.model = info->id,
                               .thinking = style_from(hob_json_get_str(c, "thinking")),
                               .echo_reasoning = hob_json_get_bool(c, "echo_reasoning", false)};
    }
}

/* ---- providers ---------------------------------------------------------------------------------------- */

/* providers."NAME".FIELD */
static const char *path_of(hob_buf *b, hob_str provider, const char *field) {
    hob_buf_reset(b);
    hob_buf_addz(b, "providers.");
    hob_json_quote(b, provider);
    hob_buf_addf(b, ".%s", field);
    return hob_buf_z(b);
}

static void read_key(hob_models *m, hob_provider_row *r, const hob_config *cfg, const hob_json *v) {
    hob_buf path;
    hob_str source;
    hob_buf_init(&path, 4096);
    const char *at = path_of(&path, r->name, "api_key");
    r->variable = hob_config_key_variable(r->name);
    r->missing = keep(m, hob_config_missing(cfg, at));
    if (r->missing.n == 0) r->key = keep(m, hob_str_trim(hob_json_get_str(v, "api_key")));
    r->key_cmd = keep(m, hob_json_get_str(v, "api_key_cmd"));
    hob_config_origin(cfg, at, &source);
    if (r->key.n)
        r->key_source = source.n ? keep(m, source) : HOB_STR("the configuration");
    else if (r->key_cmd.n)
        r->key_source = HOB_STR("api_key_cmd");
    hob_buf_finish(&path);
}

static void read_headers(hob_models *m, hob_provider_row *r, const hob_json *headers) {
    hob_buf line;
    hob_buf_init(&line, 1u << 20);
    r->headers = hob_arena_alloc(m->arena, (hob_json_count(headers) + 1) * sizeof *r->headers);
    for (const hob_json *h = hob_json_first(headers); h; h = hob_json_next(h)) {
        hob_buf_reset(&line);
        hob_buf_addf(&line, "%.*s: %.*s", HOB_FMT(hob_json_key(h)), HOB_FMT(hob_json_str(h)));
        r->headers[r->nheaders++] = keep(m, hob_buf_str(&line));
    }
    hob_buf_finish(&line);
}

static int read_provider(hob_models *m, const hob_config *cfg, const hob_json *v, hob_error *err) {
    hob_provider_row *r = &m->providers[m->nproviders++];
    r->name = keep(m, hob_json_key(v));
    r->api = keep(m, hob_json_get_str(v, "api"));
    r->base_url = keep(m, hob_json_get_str(v, "base_url"));
    r->script = keep(m, hob_json_get_str(v, "script"));
    r->old_max_tokens = hob_str_eqz(hob_json_get_str(v, "max_tokens_field"), "max_tokens");
    if (r->api.n == 0)
        return hob_fail(err, HOB_ECONFIG, 0,
                        "providers.%.*s.api is not set: openai-chat, anthropic or scripted",
                        HOB_FMT(r->name));
    read_key(m, r, cfg, v);
    read_headers(m, r, hob_json_get(v, "headers"));
    add_catalogue(m, r);
    add_configured(m, r, hob_json_get(v, "models"));
    return HOB_OK;
}

int hob_models_create(const hob_config *cfg, hob_models **out, hob_error *err) {
    const hob_json *providers = hob_config_json(cfg, "providers");
    hob_models *m = HOB_NEW(hob_models);
    int rc = HOB_OK;
    m->arena = hob_arena_create(0);
    m->scripts = hob_map_create();
    m->connect_timeout_ms = (int64_t)(hob_config_double(cfg, "timeouts.connect_s", 15) * 1000);
    m->idle_timeout_ms = (int64_t)(hob_config_double(cfg, "timeouts.idle_s", 90) * 1000);
    m->providers = hob_alloc((hob_json_count(providers) + 1) * sizeof *m->providers);
    for (const hob_json *v = hob_json_first(providers); v && rc == HOB_OK; v = hob_json_next(v))
        rc = read_provider(m, cfg, v, err);
    if (rc < 0) {
        hob_models_destroy(m);
        return rc;
    }
    *out = m;
    return HOB_OK;
}

static void provider_destroy(hob_provider *p) {
    if (p) p->ops->destroy(p);
}

void hob_models_destroy(hob_models *m) {
    if (!m) return;
    size_t pos = 0;
    hob_str key;
    void *p;
    for (size_t i = 0; i < m->nproviders; i++) provider_destroy(m->providers[i].object);
    while (hob_map_next(m->scripts, &pos, &key, &p)) provider_destroy(p);
    hob_map_destroy(m->scripts);
    hob_free(m->providers);
    hob_free(m->models);
    hob_arena_destroy(m->arena);
    hob_free(m);
}

void hob_models_each(const hob_models *m,
                     void (*fn)(const hob_model_info *info, bool key, void *user), void *user) {
    for (size_t i = 0; i < m->nmodels; i++) {
        const hob_provider_row *r = hob_models_row(m, m->models[i].provider);
        if (r && hob_row_usable(r)) fn(&m->models[i], hob_row_credentialed(r), user);
    }
}
