/*
 * JSON patches: "DOCUMENT\nPATCH". What applies gives valid JSON; the difference between before and after leads from one to
 * the other.
 */
#include <hob/agui_input.h>

#include "base/json.h"

#include <stdlib.h>

static void compare(hob_str before, hob_str after) {
    hob_agui_json *patch, *again, *rest;
    hob_error err;
    if (hob_agui_patch_diff(before, after, &patch, &err) < 0) return; /* too large */
    if (hob_json_valid(hob_agui_json_text(patch)) &&
        hob_agui_patch_apply(before, hob_agui_json_text(patch), &again, &err) == 0) {
        if (hob_agui_patch_diff(hob_agui_json_text(again), after, &rest, &err) < 0 ||
            !hob_str_eqz(hob_agui_json_text(rest), "[]"))
            abort();
        hob_agui_json_destroy(again);
        hob_agui_json_destroy(rest);
    } else if (err.code != HOB_ETOOBIG) {
        abort();
    }
    hob_agui_json_destroy(patch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str rest = hob_str_n((const char *)data, size), document;
    hob_agui_json *after;
    hob_error err = {0};
    if (size > 4096 || !hob_str_split(&rest, '\n', &document) || !rest.p) return 0;
    if (hob_agui_patch_apply(document, rest, &after, &err) < 0) return 0;
    if (!hob_json_valid(hob_agui_json_text(after))) abort();
    compare(document, hob_agui_json_text(after));
    hob_agui_json_destroy(after);
    return 0;
}
