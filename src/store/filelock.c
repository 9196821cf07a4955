#include "store/filelock.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 0, DOOR = 1 }; /* bytes of the file */

#define PAUSE_MIN_NS 20000L
#define PAUSE_MAX_NS 2000000L

int hob_filelock_open(hob_filelock *l, const char *path, hob_error *err) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return hob_fail_errno(err, HOB_ESTORE,
                              "cannot open the lock file %s of the store (may this user write to "
                              "its folder?)",
                              path);
    l->fd = fd;
    l->path = path;
    return 0;
}

void hob_filelock_close(hob_filelock *l) {
    if (l->fd >= 0) close(l->fd);
    l->fd = -1;
}

static int ask(int fd, short type, off_t byte) {
    struct flock f = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int rc;
    do rc = fcntl(fd, F_OFD_SETLK, &f);
    while (rc < 0 && errno == EINTR);
    return rc;
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int wait_for(hob_filelock *l, off_t byte, int64_t until, hob_error *err) {
    struct timespec pause = {.tv_nsec = PAUSE_MIN_NS};
    while (ask(l->fd, F_WRLCK, byte) < 0) {
        if (errno != EAGAIN && errno != EACCES)
            return hob_fail_errno(err, HOB_ESTORE, "cannot lock %s (is it on a network disk?)",
                                  l->path);
        if (now_ns() >= until)
            return hob_fail(err, HOB_ESTORE, ETIMEDOUT,
                            "another process keeps %s locked for too long: look for one that is "
                            "stopped, continue or end it, and try again",
                            l->path);
        nanosleep(&pause, NULL);
        pause.tv_nsec = HOB_MIN(pause.tv_nsec * 5 / 4, PAUSE_MAX_NS);
    }
    return 0;
}

int hob_filelock_take(hob_filelock *l, int64_t wait_ms, hob_error *err) {
    int64_t until = now_ns() + wait_ms * 1000000;
    int rc = wait_for(l, DOOR, until, err);
    if (rc < 0) return rc;
    rc = wait_for(l, ROOM, until, err);
    ask(l->fd, F_UNLCK, DOOR);
    return rc;
}

void hob_filelock_drop(hob_filelock *l) {
    ask(l->fd, F_UNLCK, ROOM);
}
