/*
 * merge.h - layers into the settings in force.
 */
#ifndef HOB_SRC_CONFIG_MERGE_H
#define HOB_SRC_CONFIG_MERGE_H

#include "config/known.h"

enum { /* the first six are those of hob_origin */
       HOB_LAYER_POLICY = HOB_ORIGIN_FLAG + 1,
       HOB_LAYERS
};

typedef struct hob_layers {
    hob_setting *of[HOB_LAYERS];
    bool trusted; /* the user trusts the workspace */
} hob_layers;

/* strict.c: `wanted` is as strict as `now` or stricter; now == NULL: not set. */
bool hob_known_stricter(const hob_known *k, const hob_setting *now, const hob_setting *wanted);

/* Pure: the same layers give the same result. The caller owns it. */
hob_setting *hob_layers_merge(const hob_layers *l, hob_notes *notes);

#endif
