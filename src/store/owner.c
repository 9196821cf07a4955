#include "store/owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWEEP_MAX 256

static int lock_whole(int fd, int how, struct flock *f) {
    *f = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, how, f);
}

/* False if the id is none of ours: it came out of a file. */
static bool path_of(char *out, size_t size, const char *dir, hob_str id) {
    if (!hob_id_valid(id)) return false;
    int n = snprintf(out, size, "%s/%.*s", dir, HOB_FMT(id));
    return n > 0 && (size_t)n < size;
}

int hob_owner_open(hob_owner *o, const char *dir, hob_error *err) {
    char path[4096];
    struct flock f;
    o->fd = -1;
    o->dir = dir;
    hob_uuid7_new(hob_clock_real(), o->id);
    if (!path_of(path, sizeof(path), dir, hob_str_z(o->id)))
        return hob_fail(err, HOB_ESTORE, ENAMETOOLONG, "the path of the store is too long: %s",
                        dir);
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return hob_fail_errno(err, HOB_ESTORE, "cannot make the folder %s", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return hob_fail_errno(err, HOB_ESTORE, "cannot make %s", path);
    if (lock_whole(fd, F_OFD_SETLK, &f) < 0) {
        hob_fail_errno(err, HOB_ESTORE, "cannot lock %s (is it on a network disk?)", path);
        unlink(path);
        close(fd);
        return HOB_ESTORE;
    }
    o->fd = fd;
    return 0;
}

void hob_owner_close(hob_owner *o) {
    if (o->fd < 0) return;
    hob_owner_forget(o->dir,
                     hob_str_z(o->id)); /* gone before it is unlocked: never "unlocked, there" */
    close(o->fd);
    o->fd = -1;
}

bool hob_owner_alive(const char *dir, hob_str id) {
    char path[4096];
    struct flock f;
    if (!path_of(path, sizeof(path), dir, id)) return false;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return errno != ENOENT; /* what cannot be asked is not taken for dead */
    bool alive = lock_whole(fd, F_OFD_GETLK, &f) < 0 || f.l_type != F_UNLCK;
    close(fd);
    return alive;
}

void hob_owner_forget(const char *dir, hob_str id) {
    char path[4096];
    if (path_of(path, sizeof(path), dir, id)) unlink(path);
}

void hob_owner_sweep(const char *dir) {
    DIR *d = opendir(dir);
    struct dirent *e;
    for (int n = 0; d && n < SWEEP_MAX && (e = readdir(d)); n++) {
        hob_str id = hob_str_z(e->d_name);
        if (hob_id_valid(id) && !hob_owner_alive(dir, id)) hob_owner_forget(dir, id);
    }
    if (d) closedir(d);
}
