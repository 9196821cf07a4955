/*
 * anthropic.c - Anthropic's Messages API, and servers that speak it: POST /v1/messages.
 */
#include "model/provider_http.h"

int hob_provider_anthropic_create(const hob_provider_env *env, const hob_provider_config *c,
                                  hob_provider **out, hob_error *err) {
    static const hob_dialect dialect = {
        .api = "anthropic",
        .root = "/v1",
        .path = "/messages",
        .key_header = "x-api-key: ",
        .header = "anthropic-version: 2023-06-01",
        .encode = hob_encode_anthropic,
        .decoder = hob_decoder_anthropic_create,
    };
    return hob_provider_http_create(&dialect, env, c, out, err);
}
