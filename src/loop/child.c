/*
 * child.c - processes: posix_spawn, a pidfd, no SIGCHLD.
 *
 * The library installs no signal handler and never waits for "any" child, so a host's own children
 * are left alone. Neither must the host reap ours: a host that ignores SIGCHLD or waits for every
 * child takes our exit status away; the callback then gets HOB_ENOENT as the status.
 *
 * Descriptors. The source of child fd i may itself be a number below nfds, and a dup2 would then
 * overwrite a source still needed. So all sources are first duplicated above nfds in this process
 * (close-on-exec), the child moves them down, and closes everything from nfds on.
 * A path "/proc/self/fd/N" names a descriptor of this process; the child gets it as number nfds,
 * because the kernel opens the path after the others have been closed. It is the one descriptor
 * that the new program has to close itself.
 */
#include "loop/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FDS 64
#define FD_PATH "/proc/self/fd/"
#define REAP_MS 1000 /* for a killed process when the loop ends; then init inherits it */

struct hob_child {
    hob_loop *loop;
    hob_io *io;
    int pid, pidfd;
    bool running;
    hob_child_fn fn;
    void *user;
    hob_list link; /* in the loop's list of the dying */
};

/* What one start needs and gives back on every path. */
typedef struct spawn_plan {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int high[MAX_FDS + 1]; /* duplicates, closed again in this process */
    size_t nhigh;
    char path[64]; /* FD_PATH as the child will see it */
} spawn_plan;

static int dup_high(spawn_plan *s, int fd, size_t above) {
    int high = fcntl(fd, F_DUPFD_CLOEXEC, (int)above);
    if (high >= 0) s->high[s->nhigh++] = high;
    return high;
}

static int plan_fds(spawn_plan *s, const hob_child_opts *o, hob_error *err) {
    for (size_t i = 0; i < o->nfds; i++) {
        if (o->fds[i] < 0) {
            posix_spawn_file_actions_addopen(&s->actions, (int)i, "/dev/null", O_RDWR, 0);
            continue;
        }
        int high = dup_high(s, o->fds[i], o->nfds + 1);
        if (high < 0)
            return hob_fail_errno(err, HOB_EIO, "cannot pass file descriptor %d to %s", o->fds[i],
                                  o->path);
        posix_spawn_file_actions_adddup2(&s->actions, high, (int)i);
    }
    return HOB_OK;
}

/* Closes the rest; a program given by descriptor keeps that one. */
static int plan_path(spawn_plan *s, const hob_child_opts *o, const char **path, hob_error *err) {
    int keep = (int)o->nfds;
    hob_str number = hob_str_skip(hob_str_z(o->path), sizeof(FD_PATH) - 1);
    int64_t fd;
    *path = o->path;
    if (hob_str_starts(hob_str_z(o->path), HOB_STR(FD_PATH)) && hob_str_int(number, &fd) == 0) {
        int high = dup_high(s, (int)fd, o->nfds + 1);
        if (high < 0) return hob_fail_errno(err, HOB_EIO, "cannot start %s", o->path);
        posix_spawn_file_actions_adddup2(&s->actions, high, keep);
        snprintf(s->path, sizeof(s->path), FD_PATH "%d", keep++);
        *path = s->path;
    }
    posix_spawn_file_actions_addclosefrom_np(&s->actions, keep);
    return HOB_OK;
}

/* The child must not inherit what the host did with its signals. */
static void plan_signals(spawn_plan *s) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&s->attr, &all);
    posix_spawnattr_setsigmask(&s->attr, &none);
    posix_spawnattr_setflags(&s->attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

static int code_of(int e) {
    switch (e) {
    case ENOENT: return HOB_ENOENT;
    case EACCES:
    case EPERM: return HOB_EACCES;
    case EAGAIN:
    case ENOMEM: return HOB_EAGAIN;
    case E2BIG: return HOB_ETOOBIG;
    default: return HOB_EIO;
    }
}

static int spawn(const hob_child_opts *o, pid_t *pid, hob_error *err) {
    spawn_plan s = {.nhigh = 0};
    const char *path;
    posix_spawn_file_actions_init(&s.actions);
    posix_spawnattr_init(&s.attr);
    int r = plan_fds(&s, o, err);
    if (r == HOB_OK) r = plan_path(&s, o, &path, err);
    if (r == HOB_OK) {
        plan_signals(&s);
        int e = posix_spawn(pid, path, &s.actions, &s.attr, (char *const *)o->argv,
                            (char *const *)o->envp);
        errno = e;
        if (e != 0)
            r = hob_fail_errno(err, code_of(e), "cannot start %s",
                               path == o->path ? path : o->argv[0]);
    }
    posix_spawnattr_destroy(&s.attr);
    posix_spawn_file_actions_destroy(&s.actions);
    while (s.nhigh > 0) close(s.high[--s.nhigh]);
    return r;
}

/* ---- the end of a process ------------------------------------------------------------------ */

/* 1 and the status if it ended, 0 if it has not. */
static int reap(hob_child *c, int *status) {
    siginfo_t si = {.si_pid = 0};
    int r;
    do {
        r = waitid(P_PIDFD, (id_t)c->pidfd, &si, WEXITED | WNOHANG);
    } while (r < 0 && errno == EINTR);
    if (r == 0 && si.si_pid == 0) return 0;
    *status = r < 0 ? HOB_ENOENT : si.si_code == CLD_EXITED ? si.si_status : 128 + si.si_status;
    if (r < 0)
        hob_log(HOB_LOG_WARN, "loop", "process %d was reaped by somebody else: status unknown",
                c->pid);
    return 1;
}

static void stop_watching(hob_child *c) {
    if (!c->running) return;
    c->running = false;
    hob_io_destroy(c->io);
    close(c->pidfd);
    hob_loop_release(c->loop);
}

static void free_child(hob_child *c) {
    stop_watching(c);
    hob_list_remove(&c->link);
    hob_free(c);
}

static void on_exit_ready(hob_io *io, int events, void *user) {
    hob_child *c = user;
    int status;
    (void)io, (void)events;
    if (!reap(c, &status)) return;
    if (!c->fn) {
        free_child(c);
        return;
    }
    stop_watching(c);
    c->fn(c, status, c->user);
}

/* ---- the calls ----------------------------------------------------------------------------- */

static int check(const hob_child_opts *o, hob_error *err) {
    if (!o->path || o->path[0] != '/' || !o->argv || !o->envp)
        return hob_fail(err, HOB_EINVAL, 0, "a program is started by absolute path, not '%s'",
                        o->path ? o->path : "");
    if (o->nfds < 3 || o->nfds > MAX_FDS)
        return hob_fail(err, HOB_EINVAL, 0, "%s wants 3 to %d file descriptors, not %zu", o->path,
                        MAX_FDS, o->nfds);
    return HOB_OK;
}

static int watch(hob_child *c, hob_error *err) {
    c->pidfd = pidfd_open(c->pid, 0); /* close-on-exec by itself */
    if (c->pidfd < 0) return hob_fail_errno(err, HOB_EIO, "cannot watch process %d", c->pid);
    int r = hob_io_create(c->loop, c->pidfd, on_exit_ready, c, &c->io, err);
    if (r < 0) close(c->pidfd);
    return r;
}

int hob_child_start(hob_loop *l, const hob_child_opts *o, hob_child_fn on_exit, void *user,
                    hob_child **out, hob_error *err) {
    pid_t pid;
    int r = check(o, err);
    if (r == HOB_OK) r = spawn(o, &pid, err);
    if (r < 0) return r;
    hob_child *c = HOB_NEW(hob_child);
    *c = (hob_child){.loop = l, .pid = pid, .fn = on_exit, .user = user};
    hob_list_init(&c->link);
    r = watch(c, err);
    if (r < 0) {
        kill(pid, SIGKILL); /* not reaped, so the number is still its own */
        waitpid(pid, NULL, 0);
        hob_free(c);
        return r;
    }
    c->running = true;
    hob_loop_hold(l);
    hob_io_want(c->io, HOB_IO_READ);
    *out = c;
    return HOB_OK;
}

int hob_child_pid(const hob_child *c) {
    return c->pid;
}

int hob_child_kill(hob_child *c, int signal) {
    if (!c->running) return HOB_ENOENT;
    if (pidfd_send_signal(c->pidfd, signal, NULL, 0) == 0) return HOB_OK;
    return errno == ESRCH ? HOB_ENOENT : errno == EPERM ? HOB_EACCES : HOB_EINVAL;
}

/* A killed process usually needs a moment to go. The loop keeps its record until it is reaped, so
 * that neither the owner nor the loop has to wait. */
void hob_child_destroy(hob_child *c) {
    int status;
    if (!c) return;
    c->fn = NULL;
    if (c->running) hob_child_kill(c, SIGKILL);
    if (!c->running || reap(c, &status))
        free_child(c);
    else
        hob_list_push(&c->loop->dying, &c->link);
}

void hob_children_reap(hob_loop *l) {
    int status;
    while (!hob_list_empty(&l->dying)) {
        hob_child *c = HOB_LIST_FIRST(&l->dying, hob_child, link);
        struct pollfd p = {.fd = c->pidfd, .events = POLLIN};
        while (poll(&p, 1, REAP_MS) < 0 && errno == EINTR) {
        }
        if (!reap(c, &status))
            hob_log(HOB_LOG_WARN, "loop", "process %d was killed but does not end", c->pid);
        free_child(c);
    }
}
