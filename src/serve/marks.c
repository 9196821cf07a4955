/*
 * marks.c - sessions that a server works in, noted outside of its process: an empty file each.
 *
 * A run that was under way when a server ended is taken up by the next one. Not every unfinished run is a server's: one
 * of a terminal that died belongs to whoever sits there. So a server marks a session before it begins work in it, and
 * takes the mark away when it lets go of it with nothing left to do. Ids are names of files: letters, digits, . _ -.
 */
#include "serve/hub_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct hob_marks {
    int dir;
};

int hob_marks_open(const char *dir, hob_str store, hob_marks **out, hob_error *err) {
    char name[64], path[4096];
    snprintf(name, sizeof name, "serve-%016llx", (unsigned long long)hob_str_hash(store));
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int rc = hob_folder_make(path, err);
    if (rc < 0) return rc;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return hob_fail_errno(err, HOB_EIO, "%s cannot be read", path);
    *out = HOB_NEW(hob_marks);
    (*out)->dir = fd;
    return HOB_OK;
}

void hob_marks_close(hob_marks *m) {
    if (!m) return;
    close(m->dir);
    hob_free(m);
}

int hob_marks_set(hob_marks *m, const char *id, hob_error *err) {
    int fd = openat(m->dir, id, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return hob_fail_errno(err, HOB_EIO, "session %s cannot be marked as the server's", id);
    close(fd);
    fsync(m->dir); /* for a machine that loses power; a process that is killed loses nothing */
    return HOB_OK;
}

bool hob_marks_has(const hob_marks *m, const char *id) {
    return m && faccessat(m->dir, id, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void hob_marks_clear(hob_marks *m, const char *id) {
    if (m && unlinkat(m->dir, id, 0) < 0 && errno != ENOENT)
        hob_log(HOB_LOG_WARN, "serve", "the mark of session %s cannot be removed", id);
}

int hob_marks_each(hob_marks *m, void (*fn)(const char *id, void *user), void *user,
                   hob_error *err) {
    struct dirent *e;
    int fd = openat(m->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0) close(fd);
        return hob_fail_errno(err, HOB_EIO, "the marks of sessions cannot be read");
    }
    while ((e = readdir(d)))
        if (hob_id_valid(hob_str_z(e->d_name))) fn(e->d_name, user);
    closedir(d);
    return HOB_OK;
}
