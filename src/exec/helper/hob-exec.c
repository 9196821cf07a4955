/*
 * hob-exec - runs one command and answers for every process that comes out of it.
 *
 *     hob-exec --cwd DIR -- PROGRAM ARG...
 *
 * Started by hob with the command's stdio on 0, 1, 2 and a life-line socket on 3. Its environment
 * is the command's. Over the life-line hob says
 *
 *     T      send SIGTERM to the whole tree
 *     K      send SIGKILL to the whole tree
 *     EOF    hob is gone, or wants nothing more: as K
 *
 * and hob-exec answers once, then exits:
 *
 *     exit N\n            the command ended with code N (128 + signal); nothing of its tree is left
 *     fail ERRNO STEP\n   the command could not be started
 *
 * How the tree is held: hob-exec is a child subreaper, so whatever the command starts - also a
 * daemon that forked twice and called setsid - stays a descendant of hob-exec and, when its parents
 * die, becomes its child. Two things follow. wait() saying ECHILD is the kernel's word that the tree
 * is empty: the answer is sent only then. And every member can be found by following parents in
 * /proc until hob-exec is met: a sweep signals all of them, and is repeated until ECHILD. Members are
 * signalled by pidfd, so never a stranger with a reused pid.
 *
 * A pid namespace would let the kernel kill the tree in one stroke, but without a /proc of its own it
 * breaks what people run: ps, pkill, gdb and LeakSanitizer look up getpid() in /proc and find nobody,
 * or somebody else. It belongs with a sandbox that has its own mounts.
 *
 * When the command's first process ends, what it left behind (`server &`) is killed at once, unless
 * hob has said T: then the rest has the time to clean up that hob gives it before K.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LIFELINE = 3,
    FIRST_OTHER_FD = 4,
    MAX_GENERATIONS = 256, /* deeper trees flatten by themselves: orphans become our children */
    MIN_PAUSE_MS = 1,      /* between two sweeps; doubles while something refuses to die */
    MAX_PAUSE_MS = 200
};

enum mode { RUNNING, TERMINATING, KILLING };

struct tree {
    enum mode mode;
    pid_t main; /* the command's first process */
    bool main_ended;
    int status; /* its exit code, or 128 + signal */
    bool line_closed;
    int pause_ms;
    int child_events; /* signalfd */
    DIR *proc;
};

/* Written by the vforked child, which shares our memory until it execs. */
static volatile int start_errno;
static const char *volatile start_step;

static void answer(const char *what, int number, const char *step) {
    char line[64];
    int n = snprintf(line, sizeof line, step ? "%s %d %s\n" : "%s %d\n", what, number, step);
    /* If hob is gone nobody wants the answer. */
    (void)!send(LIFELINE, line, (size_t)n, MSG_NOSIGNAL);
}

static void fail(const char *step) {
    answer("fail", errno, step);
    exit(1);
}

/* ---- the tree ------------------------------------------------------------------------------- */

/* 0 when there is no such process. */
static pid_t parent_of(const struct tree *t, pid_t pid) {
    char text[512];
    snprintf(text, sizeof text, "%d/stat", (int)pid);
    int fd = openat(dirfd(t->proc), text, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = '\0';
    /* "pid (name) state ppid …": the name may hold anything, also ')'. */
    const char *after_name = strrchr(text, ')');
    int parent = 0;
    if (!after_name || sscanf(after_name, ") %*c %d", &parent) != 1) return 0;
    return (pid_t)parent;
}

static bool is_member(const struct tree *t, pid_t pid) {
    pid_t self = getpid();
    for (int i = 0; i < MAX_GENERATIONS && pid > 1; i++) {
        pid = parent_of(t, pid);
        if (pid == self) return true;
    }
    return false;
}

static void signal_member(const struct tree *t, pid_t pid, int sig) {
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) return;
    /* Asked again: only now is it certain that the pidfd is that of a member. */
    if (is_member(t, pid)) syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
    close(fd);
}

static void sweep(const struct tree *t, int sig) {
    struct dirent *entry;
    rewinddir(t->proc);
    while ((entry = readdir(t->proc))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && is_member(t, pid)) signal_member(t, pid, sig);
    }
}

static void terminate(struct tree *t) {
    if (t->mode != RUNNING) return;
    t->mode = TERMINATING;
    sweep(t, SIGTERM);
    sweep(t, SIGCONT);
}

/* Stopped first, so that nothing forks while the others are being killed. */
static void kill_round(struct tree *t) {
    sweep(t, SIGSTOP);
    sweep(t, SIGKILL);
    t->pause_ms = t->pause_ms * 2 < MAX_PAUSE_MS ? t->pause_ms * 2 : MAX_PAUSE_MS;
}

/* Returns whether anything is left. */
static bool reap(struct tree *t) {
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0) return true;
        if (pid < 0) return errno != ECHILD;
        if (pid != t->main) continue;
        t->main_ended = true;
        t->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (t->mode == RUNNING) t->mode = KILLING;
    }
}

/* ---- events --------------------------------------------------------------------------------- */

static void read_order(struct tree *t) {
    char order = 0;
    ssize_t n = read(LIFELINE, &order, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n <= 0) t->line_closed = true;
    if (n <= 0 || order == 'K')
        t->mode = KILLING;
    else if (order == 'T')
        terminate(t);
}

static void wait_for_event(struct tree *t) {
    struct pollfd fds[2] = {{.fd = t->child_events, .events = POLLIN},
                            {.fd = t->line_closed ? -1 : LIFELINE, .events = POLLIN}};
    if (poll(fds, 2, t->mode == KILLING ? t->pause_ms : -1) < 0) return;
    if (fds[0].revents) {
        struct signalfd_siginfo info; /* the number of signals says nothing: reap() looks */
        (void)!read(t->child_events, &info, sizeof info);
    }
    if (fds[1].revents) read_order(t);
}

static void supervise(struct tree *t) {
    while (reap(t)) {
        if (t->mode == KILLING) kill_round(t);
        wait_for_event(t);
    }
}

/* ---- start ---------------------------------------------------------------------------------- */

static void become_command(const char *cwd, char **argv, const sigset_t *none) {
    start_step = "chdir";
    if (chdir(cwd) == 0) {
        start_step = "exec";
        setsid();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, none, NULL);
        execv(argv[0], argv);
    }
    start_errno = errno;
    _exit(127);
}

static void start_command(struct tree *t, const char *cwd, char **argv) {
    sigset_t none;
    sigemptyset(&none);
    t->main = vfork();
    if (t->main == 0) become_command(cwd, argv, &none);
    if (t->main < 0) fail("fork");
    if (start_errno) {
        errno = start_errno;
        fail(start_step);
    }
}

/* Its own session: a Ctrl-C in hob's terminal is hob's to handle. */
static void set_up(struct tree *t) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int sig = 1; sig < NSIG; sig++) signal(sig, SIG_DFL);
    setsid();
    fcntl(LIFELINE, F_SETFD, FD_CLOEXEC);
    close_range(FIRST_OTHER_FD, ~0U, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});

    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    t->child_events = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (t->child_events < 0) fail("signalfd");
    if (!(t->proc = opendir("/proc"))) fail("proc");
    if (parent_of(t, getpid()) != getppid()) {
        errno = ENOENT;
        fail("proc");
    }
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) fail("subreaper");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("no_new_privs");
}

/* Moves the arguments out of our own command line, so that `pkill -f word` in a command does not find the word there.
 * Done before the command starts: it may look at once. */
static char **take_arguments(int argc, char **argv) {
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    for (int i = 0; copy && i < argc; i++)
        if (!(copy[i] = strdup(argv[i]))) copy = NULL;
    if (!copy) fail("memory");
    char *from = argv[1], *to = argv[argc - 1] + strlen(argv[argc - 1]);
    memset(from, 0, (size_t)(to - from));
    return copy;
}

int main(int argc, char **argv) {
    int type;
    socklen_t size = sizeof type;
    if (argc < 5 || strcmp(argv[1], "--cwd") || strcmp(argv[3], "--") ||
        getsockopt(LIFELINE, SOL_SOCKET, SO_TYPE, &type, &size) < 0) {
        fputs("hob-exec: part of hob, which starts it with a socket as file descriptor 3:\n"
              "usage: hob-exec --cwd DIR -- PROGRAM ARG...\n",
              stderr);
        return 2;
    }
    struct tree tree = {.mode = RUNNING, .pause_ms = MIN_PAUSE_MS};
    set_up(&tree);
    char **own = take_arguments(argc, argv);
    start_command(&tree, own[2], own + 4);
    supervise(&tree);
    answer("exit", tree.status, NULL);
    return 0;
}
