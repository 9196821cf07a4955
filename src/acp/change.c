/*
 * change.c - a change to a file, shown as a diff. The editor makes the lines of it; we give it both texts.
 */
#include "acp/acp.h"

static bool is_text(hob_str s) {
    return hob_utf8_valid(s) && !(s.n && memchr(s.p, 0, s.n));
}

void hob_acp_change_set(hob_acp_change *c, hob_str path, const hob_str *before, hob_str after) {
    hob_acp_change_finish(c);
    if (after.n + (before ? before->n : 0) > HOB_ACP_CHANGE_MAX) return;
    if (!is_text(after) || (before && !is_text(*before))) return;
    c->path = hob_dupz(path);
    c->before = before ? hob_dupz(*before) : NULL;
    c->after = hob_dupz(after);
}

void hob_acp_change_finish(hob_acp_change *c) {
    hob_free(c->path);
    hob_free(c->before);
    hob_free(c->after);
    *c = (hob_acp_change){.path = NULL};
}

void hob_acp_write_change(hob_jsonw *w, const hob_acp_change *c) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("diff"));
    hob_jsonw_kstr(w, "path", hob_str_z(c->path));
    hob_jsonw_key(w, "oldText");
    if (c->before)
        hob_jsonw_str(w, hob_str_z(c->before));
    else
        hob_jsonw_null(w);
    hob_jsonw_kstr(w, "newText", hob_str_z(c->after));
    hob_jsonw_object_end(w);
}
