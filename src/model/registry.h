/*
 * registry.h - the inside of hob_models, for registry.c, providers.c and resolve.c.
 */
#ifndef HOB_SRC_MODEL_REGISTRY_H
#define HOB_SRC_MODEL_REGISTRY_H

#include "model/model.h"

typedef struct hob_provider_row {
    hob_str name, api, base_url, script;
    hob_str key, key_source, key_cmd;
    hob_str missing;      /* the variable that the configured key names and that is not set */
    const char *variable; /* a standard provider: the variable its key comes from; else NULL */
    hob_str *headers;
    size_t nheaders;
    hob_model_quirks *quirks;
    size_t nquirks;
    bool old_max_tokens;
    hob_provider *object; /* made on first use */
} hob_provider_row;

struct hob_models {
    hob_arena *arena;
    hob_provider_row *providers;
    size_t nproviders;
    hob_model_info *models; /* known ones */
    size_t nmodels, cap;
    hob_map *scripts; /* path -> provider */
    int64_t connect_timeout_ms, idle_timeout_ms;
};

hob_provider_row *hob_models_row(const hob_models *m, hob_str provider); /* or NULL */
hob_model_info *hob_models_find(const hob_models *m, hob_str provider,
                                hob_str id);    /* case ignored */
int hob_script_code(int error);                 /* errno of opening a script: whose mistake it is */
bool hob_row_usable(const hob_provider_row *r); /* this version speaks its api */
bool hob_row_credentialed(const hob_provider_row *r); /* it has a key, or needs none */
/* A model of r that nothing is known of. */
hob_model_info hob_models_stranger(const hob_models *m, const hob_provider_row *r, hob_str id);

/* ---- catalogue.c ------------------------------------------------------------------------------- */
typedef struct hob_catalogue_row {
    const char *provider, *id;
    int64_t context, output;
    double input_usd, output_usd, cache_read_usd, cache_write_usd; /* a million tokens */
} hob_catalogue_row;
const hob_catalogue_row *hob_catalogue(size_t *n);

typedef struct hob_alias {
    const char *alias, *provider, *id;
} hob_alias;
const hob_alias *hob_catalogue_aliases(size_t *n);
/* The model that stands for a provider when none is named, or NULL. */
const char *hob_catalogue_default(hob_str provider);

#endif
