#include "log/view.h"

void hob_usage_read(const hob_json *u, hob_usage *out) {
    out->input_tokens = hob_json_get_int(u, "input_tokens", 0);
    out->output_tokens = hob_json_get_int(u, "output_tokens", 0);
    out->cache_read_tokens = hob_json_get_int(u, "cache_read_tokens", 0);
    out->cache_write_tokens = hob_json_get_int(u, "cache_write_tokens", 0);
    out->reasoning_tokens = hob_json_get_int(u, "reasoning_tokens", 0);
}

void hob_usage_write(hob_jsonw *w, const char *key, const hob_usage *u) {
    hob_jsonw_key(w, key);
    hob_jsonw_object(w);
    hob_jsonw_kint(w, "input_tokens", u->input_tokens);
    hob_jsonw_kint(w, "output_tokens", u->output_tokens);
    hob_jsonw_kint(w, "cache_read_tokens", u->cache_read_tokens);
    hob_jsonw_kint(w, "cache_write_tokens", u->cache_write_tokens);
    hob_jsonw_kint(w, "reasoning_tokens", u->reasoning_tokens);
    hob_jsonw_object_end(w);
}

void hob_usage_add(hob_usage *sum, const hob_usage *u) {
    sum->input_tokens += u->input_tokens;
    sum->output_tokens += u->output_tokens;
    sum->cache_read_tokens += u->cache_read_tokens;
    sum->cache_write_tokens += u->cache_write_tokens;
    sum->reasoning_tokens += u->reasoning_tokens;
}

/* reasoning_tokens are part of output_tokens. */
int64_t hob_usage_total(const hob_usage *u) {
    return u->input_tokens + u->output_tokens + u->cache_read_tokens + u->cache_write_tokens;
}
