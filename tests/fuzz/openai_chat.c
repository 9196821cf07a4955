/* The decoder of the Chat Completions stream: any bytes, split by what they say themselves. */
#include "model/decoder.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever came: the partial message must be valid JSON, and the outcome must not depend on the split. */
static int run(hob_str bytes, size_t piece) {
    static const hob_asked who = {.provider = {"lab", 3}, .model = {"m", 1}};
    hob_answer *a = hob_answer_create();
    hob_decoder *d = hob_decoder_openai_chat_create(a, &who);
    hob_buf out;
    for (; bytes.n; bytes = hob_str_skip(bytes, piece))
        (void)hob_decoder_feed(d, hob_str_first(bytes, piece));
    int rc = hob_decoder_end(d);
    hob_buf_init(&out, 64u << 20);
    if (hob_answer_content(a, HOB_STR("m1"), HOB_STR("lab"), rc == HOB_OK, &out) < 0 ||
        !hob_json_valid(hob_buf_str(&out)) || hob_str_chr(hob_buf_str(&out), '\n') >= 0)
        abort();
    if (rc == HOB_OK && a->stop == HOB_STOP_NONE) abort();
    hob_buf_finish(&out);
    hob_decoder_destroy(d);
    hob_answer_destroy(a);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str bytes = hob_str_n((const char *)data, size);
    size_t piece = size ? data[0] % 16u + 1 : 1;
    if (run(bytes, SIZE_MAX) != run(bytes, piece)) abort();
    return 0;
}
