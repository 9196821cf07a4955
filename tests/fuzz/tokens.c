/*
 * Token files: a row that is accepted has a name, an owner, a mode not above the server's, and no limit below one.
 */
#include "serve/callers.h"

#include <stdlib.h>

static int on_row(const hob_token_row *row, void *user) {
    const hob_caller *c = &row->caller;
    (void)user;
    if (!hob_id_valid(c->name) || !c->tenant.n || !c->principal.n || c->per_minute < 0) abort();
    if (hob_mode_rank(c->max_mode) < 0 ||
        hob_mode_rank(c->max_mode) > hob_mode_rank(HOB_STR("ask")))
        abort();
    if (c->rights & ~HOB_RIGHTS_ALL) abort();
    for (size_t i = 0; i < HOB_QUOTA_COUNT; i++)
        if (c->limits[i] < 0) abort();
    return HOB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    hob_error err = {.code = 0};
    int r = hob_tokens_parse(hob_str_n((const char *)data, n), HOB_STR("ask"), on_row, NULL, &err);
    if (r < 0 && (r != HOB_ECONFIG || !err.message[0])) abort();
    return 0;
}
