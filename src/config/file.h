/*
 * file.h - reading a small file that others may have put there.
 */
#ifndef HOB_SRC_CONFIG_FILE_H
#define HOB_SRC_CONFIG_FILE_H

#include "base/base.h"

#include <sys/types.h>

typedef struct hob_file_info {
    dev_t dev;
    ino_t ino;
    uint64_t size;
    uid_t owner;
    mode_t mode;
} hob_file_info;

typedef struct hob_file_opts {
    const char *path;
    const char
        *beneath; /* a canonical folder the file must be in, whatever links say; NULL = any */
    size_t max;
    bool cut; /* stop at max bytes instead of failing */
} hob_file_opts;

/* Appends the content. Never waits: what is not a regular file is refused (but /dev/null is empty when
 * `beneath` is NULL). HOB_ENOENT, HOB_EACCES (outside), HOB_EINVAL (not a file), HOB_ETOOBIG, HOB_EIO.
 * The message is what follows the path: "is not a regular file". */
int hob_file_read(const hob_file_opts *o, hob_buf *out, hob_file_info *info, hob_error *err);
/* `path` is `folder` or lies in it; both canonical. */
bool hob_path_beneath(hob_str path, hob_str folder);
/* The path without links, "." and "..", into a buffer of PATH_MAX bytes. */
int hob_path_canonical(const char *path, char *out);

#endif
