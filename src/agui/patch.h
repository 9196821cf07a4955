/*
 * patch.h - RFC 6902 over trees. Pure.
 */
#ifndef HOB_SRC_AGUI_PATCH_H
#define HOB_SRC_AGUI_PATCH_H

#include <hob/agui_input.h>

#include "agui/tree.h"

enum { HOB_PATCH_MAX_OPS = 10000 };

struct hob_agui_json {
    hob_buf text;
};
hob_agui_json *hob_agui_json_create(size_t max);

/* The texts parsed into the arena; HOB_EPARSE says which one is wrong. */
int hob_patch_parse(hob_arena *a, const char *what, hob_str text, const hob_json **out,
                    hob_error *err);
/* Is this an array of well-formed operations? HOB_EPARSE, HOB_ETOOBIG. */
int hob_patch_check(const hob_json *patch, hob_error *err);
/* *root is the document; it may be another tree afterwards. On failure the tree is half changed: throw it away. */
int hob_patch_run(hob_arena *a, hob_tree **root, const hob_json *patch, hob_error *err);
/* "/key" in a path. */
void hob_patch_add_token(hob_buf *path, hob_str key);
/* Has it a name that JavaScript's patch library refuses? */
bool hob_patch_refused(hob_str path);
/* Operations that make `to` of `from`, appended as members of the array that w is in. Sets *unsafe if a path is
 * refused. */
int hob_patch_find(hob_arena *a, hob_tree *from, hob_tree *to, hob_jsonw *w, bool *unsafe);

#endif
