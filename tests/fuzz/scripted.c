/*
 * The script reader. Besides not failing badly: what it accepts is within its ceilings, and what it
 * refuses comes with a code and words that are UTF-8.
 */
#include "model/scripted.h"

#include <stdlib.h>

static void check_reply(const hob_script_reply *reply) {
    if (reply->total > HOB_SCRIPT_STEPS_MAX || reply->bytes > HOB_SCRIPT_REPLY_MAX) abort();
    for (size_t i = 0; i < reply->n; i++) check_reply(&reply->steps[i].body);
}

static void check_script(const hob_script *s) {
    hob_script_view view = {.user = HOB_STR("fix \"it\""), .step = 1, .turn = 1, .attempt = 1};
    hob_buf text;
    hob_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < s->nrules; i++) {
        const hob_script_reply *reply = &s->rules[i].reply;
        check_reply(reply);
        for (size_t k = 0; k < reply->n; k++) {
            hob_buf_reset(&text);
            hob_script_text_expand(&reply->steps[k].text, &view, 1, &text);
            /* Arguments stay JSON, whatever is put into them. */
            if (reply->steps[k].text.json && !text.err && !hob_json_valid(hob_buf_str(&text)))
                abort();
        }
    }
    hob_buf_finish(&text);
    hob_script_find(s, &view);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    hob_error err;
    hob_script *s = NULL;
    int code = hob_script_create(hob_str_n((const char *)bytes, n), &s, &err);
    if (code < 0) {
        if (s || err.code != code || !err.message[0] || !hob_utf8_valid(hob_str_z(err.message)))
            abort();
        return 0;
    }
    check_script(s);
    hob_script_destroy(s);
    return 0;
}
