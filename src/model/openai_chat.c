/*
 * openai_chat.c - OpenAI's Chat Completions API, and the many servers that speak it: POST /chat/completions.
 */
#include "model/provider_http.h"

int hob_provider_openai_chat_create(const hob_provider_env *env, const hob_provider_config *c,
                                    hob_provider **out, hob_error *err) {
    static const hob_dialect dialect = {
        .api = "openai-chat",
        .root = "",
        .path = "/chat/completions",
        .key_header = "authorization: Bearer ",
        .cache_host = "://api.openai.com/", /* others may refuse what they do not know */
        .encode = hob_encode_openai_chat,
        .decoder = hob_decoder_openai_chat_create,
    };
    return hob_provider_http_create(&dialect, env, c, out, err);
}
