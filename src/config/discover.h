/*
 * discover.h - the files of one declared folder: never deeper, never elsewhere.
 *
 * What is found is handed over as text or with the reason why it cannot be used; what it means is
 * not known here.
 */
#ifndef HOB_SRC_CONFIG_DISCOVER_H
#define HOB_SRC_CONFIG_DISCOVER_H

#include "base/base.h"

#define HOB_DISCOVER_FILE_MAX (256u << 10)
#define HOB_DISCOVER_ENTRIES 1024 /* in one folder */

typedef struct hob_found {
    const char *path;
    hob_str stem;    /* the file's name without its ending, or the name of the folder */
    hob_str text;    /* valid UTF-8 */
    bool yaml;       /* .yaml or .yml */
    const char *why; /* it cannot be used; NULL = it can */
} hob_found;
typedef int (*hob_found_fn)(const hob_found *f, void *user); /* a negative answer ends it */

typedef struct hob_discover {
    const char *dir;
    /* The folder that everything has to be in, whatever links say; what git ignores and the folders of
     * dependencies in it do not count. NULL: the files are the user's own. */
    const char *workspace;
    bool folders; /* NAME/SKILL.md instead of NAME.md */
    bool yaml;    /* NAME.yaml and NAME.yml as well */
} hob_discover;

/* In the order of their names. A folder that is not there has none. HOB_EIO, and what fn answers. */
int hob_discover_dir(const hob_discover *o, hob_found_fn fn, void *user, hob_error *err);
/* One file by the same rules: its text, or the error that says why not ("PATH is …"). */
int hob_discover_read(const char *path, const char *workspace, hob_buf *text, hob_error *err);

/* ignore.c: why nothing at this canonical path beneath `workspace` counts; NULL = it does. */
const char *hob_path_ignored(const char *path, const char *workspace);

#endif
