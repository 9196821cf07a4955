/*
 * read.h - a configuration text into a tree of settings.
 */
#ifndef HOB_SRC_CONFIG_READ_H
#define HOB_SRC_CONFIG_READ_H

#include "config/tree.h"

typedef struct hob_reading {
    hob_origin origin;
    const char *source;      /* a file's name, or where the value comes from in words */
    hob_str text;            /* of a file: leaves are told with their line; "" = no lines */
    const char *const *envp; /* for "$NAME" */
    bool expand;             /* the origin may refer to variables */
    hob_notes *notes;
    hob_setting *policy; /* where an administrator's "policy" goes; NULL = not counted here */
    bool in_policy;      /* inside it: sources say so */
    /* where the reader is: lines are counted once, from front to back */
    size_t at, line, leaves;
} hob_reading;

/* Reads v, which stands at `path`, into `into` (the setting of that path), checking every leaf. */
int hob_setting_read(hob_reading *r, const hob_json *v, hob_path *path, hob_setting *into,
                     hob_error *err);
/* A whole file: comments allowed; blank is the same as {}. r->text and r->source are set. */
int hob_setting_read_text(hob_reading *r, hob_setting *into, hob_error *err);

#endif
