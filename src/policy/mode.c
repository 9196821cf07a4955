/*
 * mode.c - the permission modes by name.
 */
#include "policy/policy.h"

static const char *const words[] = {
    [HOB_MODE_ASK] = "ask",
    [HOB_MODE_ACCEPT_EDITS] = "accept-edits",
    [HOB_MODE_PLAN] = "plan",
    [HOB_MODE_YOLO] = "yolo",
};

int hob_mode_from(hob_str word, hob_mode *out) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(words); i++) {
        if (!hob_str_eqz(word, words[i])) continue;
        *out = (hob_mode)i;
        return HOB_OK;
    }
    return HOB_EINVAL;
}

const char *hob_mode_name(hob_mode m) {
    return m >= HOB_MODE_ASK && m <= HOB_MODE_YOLO ? words[m] : "?";
}

bool hob_mode_wider(hob_mode a, hob_mode b) {
    static const int order[] = {
        [HOB_MODE_PLAN] = 0, [HOB_MODE_ASK] = 1, [HOB_MODE_ACCEPT_EDITS] = 2, [HOB_MODE_YOLO] = 3};
    return order[a] > order[b];
}
