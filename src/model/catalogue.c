/*
 * catalogue.c - what is known of models without asking anybody: windows and list prices in US dollars for a
 * million tokens. A model that is missing here works all the same, with stated defaults and an unknown price;
 * "providers.X.models" in the configuration adds to this table and corrects it.
 */
#include "model/registry.h"

static const hob_catalogue_row table[] = {
    /* provider, id, context, output, input, output, cache read, cache write */
    {"anthropic", "claude-opus-4-6", 200000, 128000, 5, 25, 0.5, 6.25},
    {"anthropic", "claude-sonnet-4-6", 200000, 64000, 3, 15, 0.3, 3.75},
    {"anthropic", "claude-opus-4-5", 200000, 64000, 5, 25, 0.5, 6.25},
    {"anthropic", "claude-opus-4-5-20251101", 200000, 64000, 5, 25, 0.5, 6.25},
    {"anthropic", "claude-haiku-4-5", 200000, 64000, 1, 5, 0.1, 1.25},
    {"anthropic", "claude-haiku-4-5-20251001", 200000, 64000, 1, 5, 0.1, 1.25},
    {"anthropic", "claude-sonnet-4-5", 200000, 64000, 3, 15, 0.3, 3.75},
    {"anthropic", "claude-sonnet-4-5-20250929", 200000, 64000, 3, 15, 0.3, 3.75},
    {"anthropic", "claude-opus-4-1", 200000, 32000, 15, 75, 1.5, 18.75},
    {"anthropic", "claude-opus-4-1-20250805", 200000, 32000, 15, 75, 1.5, 18.75},
    {"anthropic", "claude-sonnet-4-20250514", 200000, 64000, 3, 15, 0.3, 3.75},
    {"anthropic", "claude-opus-4-20250514", 200000, 32000, 15, 75, 1.5, 18.75},
    {"anthropic", "claude-3-5-haiku-20241022", 200000, 8192, 0.8, 4, 0.08, 1},

    {"openai", "gpt-5.2", 400000, 128000, 1.75, 14, 0.175, 1.75},
    {"openai", "gpt-5.1", 400000, 128000, 1.25, 10, 0.125, 1.25},
    {"openai", "gpt-5", 400000, 128000, 1.25, 10, 0.125, 1.25},
    {"openai", "gpt-5-mini", 400000, 128000, 0.25, 2, 0.025, 0.25},
    {"openai", "gpt-5-nano", 400000, 128000, 0.05, 0.4, 0.005, 0.05},
    {"openai", "gpt-4.1", 1047576, 32768, 2, 8, 0.5, 2},
    {"openai", "gpt-4.1-mini", 1047576, 32768, 0.4, 1.6, 0.1, 0.4},
    {"openai", "gpt-4.1-nano", 1047576, 32768, 0.1, 0.4, 0.025, 0.1},
    {"openai", "gpt-4o", 128000, 16384, 2.5, 10, 1.25, 2.5},
    {"openai", "gpt-4o-mini", 128000, 16384, 0.15, 0.6, 0.075, 0.15},
    {"openai", "o3", 200000, 100000, 2, 8, 0.5, 2},
    {"openai", "o4-mini", 200000, 100000, 1.1, 4.4, 0.275, 1.1},
};

static const hob_alias aliases[] = {
    {"sonnet", "anthropic", "claude-sonnet-4-6"}, {"opus", "anthropic", "claude-opus-4-6"},
    {"haiku", "anthropic", "claude-haiku-4-5"},   {"gpt5", "openai", "gpt-5"},
    {"gpt5mini", "openai", "gpt-5-mini"},         {"gpt5nano", "openai", "gpt-5-nano"},
};

static const struct {
    const char *provider, *id;
} defaults[] = {
    {"anthropic", "claude-sonnet-4-6"},
    {"openai", "gpt-5.1"},
    {"openrouter", "anthropic/claude-sonnet-4.5"},
};

const hob_catalogue_row *hob_catalogue(size_t *n) {
    *n = HOB_ARRAY_LEN(table);
    return table;
}

const hob_alias *hob_catalogue_aliases(size_t *n) {
    *n = HOB_ARRAY_LEN(aliases);
    return aliases;
}

const char *hob_catalogue_default(hob_str provider) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(defaults); i++) {
        if (hob_str_eqz(provider, defaults[i].provider)) return defaults[i].id;
    }
    return NULL;
}

double hob_model_cost(const hob_model_info *info, const hob_usage *u) {
    if (!info->priced) return -1;
    return ((double)u->input_tokens * info->input_usd +
            (double)u->output_tokens * info->output_usd +
            (double)u->cache_read_tokens * info->cache_read_usd +
            (double)u->cache_write_tokens * info->cache_write_usd) /
           1e6;
}
