/*
 * workspace_name.c - files by name, for those who open them by name.
 *
 * Nothing is looked up: whoever asks has followed the links (hob_workspace_follow) and knows that none stands on the way.
 */
#include "exec/workspace.h"

/* The name without its last part; false if that would be the root itself. */
static bool pop(hob_buf *out, size_t root) {
    if (out->n <= root) return false;
    while (out->p[out->n - 1] != '/') out->n--;
    out->n--;
    return true;
}

static bool push(hob_buf *out, size_t root, hob_str part) {
    if (!part.n || hob_str_eqz(part, ".")) return true;
    if (hob_str_eqz(part, "..")) return pop(out, root);
    hob_buf_addc(out, '/');
    hob_buf_add(out, part);
    return true;
}

int hob_workspace_name(const hob_workspace *w, hob_str path, hob_workspace_use use, hob_buf *out,
                       hob_error *err) {
    hob_place place;
    hob_str part;
    int code = use == HOB_WORKSPACE_WRITE ? hob_workspace_locate_work(w, path, &place, err)
                                          : hob_workspace_locate(w, path, &place, err);
    if (code < 0) return code;
    hob_str rest = hob_str_z(place.rel), root = hob_str_z(place.root->given);
    while (root.n && root.p[root.n - 1] == '/') root.n--;
    hob_buf_add(out, root);
    size_t start = out->n;
    bool inside = true;
    while (inside && hob_str_split(&rest, '/', &part)) inside = push(out, start, part);
    if (!inside)
        return hob_fail(err, HOB_EACCES, 0, "%.*s is outside the workspace %s",
                        HOB_FMT(hob_workspace_shown(path)), w->roots[0].path);
    return out->err ? hob_fail(err, HOB_ETOOBIG, 0, "the path is too long") : HOB_OK;
}
