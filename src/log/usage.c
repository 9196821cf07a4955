#include "log/view.h"

/* Counts come from providers and from logs: whatever is there, sums stay far from overflow. */
static const int64_t most = INT64_C(1) << 53;

static int64_t count(const hob_json *u, const char *key) {
    int64_t n = hob_json_get_int(u, key, 0);
    return HOB_MIN(HOB_MAX(n, 0), most);
}

void hob_usage_read(const hob_json *u, hob_usage *out) {
    out->input_tokens = count(u, "input_tokens");
    out->output_tokens = count(u, "output_tokens");
    out->cache_read_tokens = count(u, "cache_read_tokens");
    out->cache_write_tokens = count(u, "cache_write_tokens");
    out->reasoning_tokens = count(u, "reasoning_tokens");
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

static void add(int64_t *sum, int64_t n) {
    *sum = HOB_MIN(*sum + n, most);
}

void hob_usage_add(hob_usage *sum, const hob_usage *u) {
    add(&sum->input_tokens, u->input_tokens);
    add(&sum->output_tokens, u->output_tokens);
    add(&sum->cache_read_tokens, u->cache_read_tokens);
    add(&sum->cache_write_tokens, u->cache_write_tokens);
    add(&sum->reasoning_tokens, u->reasoning_tokens);
}

void hob_usage_sub(hob_usage *sum, const hob_usage *u) {
    sum->input_tokens -= u->input_tokens;
    sum->output_tokens -= u->output_tokens;
    sum->cache_read_tokens -= u->cache_read_tokens;
    sum->cache_write_tokens -= u->cache_write_tokens;
    sum->reasoning_tokens -= u->reasoning_tokens;
}

/* reasoning_tokens are part of output_tokens. */
int64_t hob_usage_total(const hob_usage *u) {
    return u->input_tokens + u->output_tokens + u->cache_read_tokens + u->cache_write_tokens;
}
