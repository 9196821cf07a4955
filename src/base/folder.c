/*
 * folder.c - folders that are to be there.
 */
#include "base/base.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One on the way may be there without our being allowed to make it: then it is not asked for. */
static int make(const char *path, hob_error *err) {
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return HOB_OK;
    int why = errno;
    if (access(path, F_OK) == 0) return HOB_OK;
    errno = why;
    return hob_fail_errno(err, HOB_EIO, "the folder %s cannot be made", path);
}

int hob_folder_make(const char *path, hob_error *err) {
    char *copy = hob_dupz(hob_str_z(path));
    int rc = HOB_OK;
    for (char *at = strchr(copy + (*copy == '/'), '/'); at && rc >= 0; at = strchr(at + 1, '/')) {
        *at = '\0';
        rc = make(copy, err);
        *at = '/';
    }
    if (rc >= 0) rc = make(copy, err);
    hob_free(copy);
    return rc;
}
