/*
 * impl.h - the inside of hob_config, for the files of this folder.
 */
#ifndef HOB_SRC_CONFIG_IMPL_H
#define HOB_SRC_CONFIG_IMPL_H

#include "config/config.h"
#include "config/env.h"
#include "config/merge.h"

/* What follows from the layers; made anew whenever one changes. */
typedef struct hob_inforce {
    hob_setting *tree;
    hob_buf text; /* the tree as JSON; the document borrows from it */
    hob_arena *arena;
    const hob_json *document;
    hob_notes notes;
} hob_inforce;

struct hob_config {
    hob_layers layers;
    hob_inforce now;
    hob_notes notes; /* of the last load */
    hob_roots roots;
};

/* Takes over `layers` (freeing the old ones) if they can be merged, and leaves everything as it was
 * if not; then the layers stay the caller's. HOB_ETOOBIG. */
int hob_config_adopt(hob_config *c, const hob_layers *layers, hob_error *err);
/* The JSON of a leaf as it may be shown. */
void hob_redact(const hob_known *k, hob_str json, hob_buf *out);

#endif
