/*
 * job.c - one command, from its start to the last byte of its output.
 *
 * A job is over when hob-exec has ended (the whole tree is gone by then) and the output pipe has
 * reached its end. What hob-exec has to say waits in the life-line until then.
 *
 *     RUNNING --time-out, soft cancel--> TERMINATING --2 s--> KILLING --5 s--> given up
 *        |                                    |                  |
 *        +--------------------- hob-exec has ended --------------+--> DRAINING --> ENDED
 *
 * Output is always read, however much comes: a command never waits for us, and memory is the
 * receiver's business. stdout and stderr are one pipe, which keeps their order; it is a pipe and not a
 * socket because a command may open /dev/stdout. Input is a file in memory for the same reason, and
 * because then there is nothing to write while the command runs.
 */
#include "exec/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define GRACE_MS 2000   /* between TERM and KILL */
#define GIVE_UP_MS 5000 /* after KILL: something hangs in the kernel */
#define DRAIN_MS 2000   /* for a pipe that somebody outside the tree holds open */
#define READS_A_ROUND 16
#define MAX_ARGS 4096
#define MAX_INPUT (64 * 1024 * 1024)
#define MAX_ANSWER 64
#define NO_PROC "commands cannot be supervised without /proc; mount it"

typedef enum job_state { RUNNING, TERMINATING, KILLING, DRAINING, ENDED } job_state;

struct hob_job {
    hob_exec *exec;
    job_state state;
    hob_job_handler handler;
    void *user;
    hob_guard *guard; /* NULL once hob-exec has ended */
    int line;         /* our end of the life-line, or -1 */
    int out;          /* read end of the output, or -1 */
    hob_io *io;       /* watches it */
    hob_timer timer;  /* whatever the state waits for at most */
    int64_t started;
    hob_job_result result;
    char *program, *cwd; /* for messages */
    bool *destroyed;     /* set when a callback destroys the job */
};

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void close_output(hob_job *j) {
    hob_io_destroy(j->io);
    j->io = NULL;
    close_fd(&j->out);
}

static void finish(hob_job *j) {
    j->state = ENDED;
    hob_timer_stop(&j->timer);
    close_output(j);
    close_fd(&j->line);
    j->result.duration_ms = hob_loop_now(j->exec->loop) - j->started;
    j->handler.ended(j->user, &j->result);
}

/* ---- stopping ------------------------------------------------------------------------------ */

static void enter(hob_job *j, job_state state, int64_t at_most_ms) {
    j->state = state;
    hob_timer_start(&j->timer, hob_loop_now(j->exec->loop) + at_most_ms);
}

/* If hob-exec is gone the order has no receiver, and its end is about to be noticed. */
static void order(hob_job *j, const char *what) {
    if (send(j->line, what, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE)
        hob_log(HOB_LOG_WARN, "exec", "cannot tell hob-exec to stop %s (errno %d)", j->program,
                errno);
}

static void terminate(hob_job *j, hob_job_end why) {
    j->result.end = why;
    order(j, "T");
    enter(j, TERMINATING, GRACE_MS);
}

static void kill_tree(hob_job *j) {
    order(j, "K");
    enter(j, KILLING, GIVE_UP_MS);
}

static void give_up(hob_job *j) {
    hob_fail(&j->result.error, HOB_EBUSY, 0,
             "a process started by %s does not end although it was killed", j->program);
    j->guard->job = NULL;
    j->guard = NULL;
    finish(j);
}

static void on_timer(hob_timer *t) {
    hob_job *j = HOB_CONTAINER(t, hob_job, timer);
    switch (j->state) {
    case RUNNING: terminate(j, HOB_JOB_TIMED_OUT); break;
    case TERMINATING: kill_tree(j); break;
    case KILLING: give_up(j); break;
    case DRAINING: finish(j); break;
    case ENDED: break;
    }
}

void hob_job_cancel(hob_job *j, bool hard) {
    if (j->state == RUNNING && !hard) {
        terminate(j, HOB_JOB_CANCELLED);
    } else if (hard && (j->state == RUNNING || j->state == TERMINATING)) {
        if (j->state == RUNNING) j->result.end = HOB_JOB_CANCELLED;
        kill_tree(j);
    }
}

/* ---- output -------------------------------------------------------------------------------- */

/* Some rounds at most, so that a command that never stops talking leaves time for others. */
static void on_output(hob_io *io, int events, void *user) {
    hob_job *j = user;
    bool destroyed = false;
    (void)io, (void)events;
    for (int i = 0; i < READS_A_ROUND; i++) {
        ssize_t n = read(j->out, j->exec->buffer, HOB_EXEC_READ);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            close_output(j);
            if (j->state == DRAINING) finish(j);
            return;
        }
        j->destroyed = &destroyed;
        j->handler.output(j->user, hob_str_n(j->exec->buffer, (size_t)n));
        if (destroyed) return;
        j->destroyed = NULL;
    }
}

/* ---- the end of hob-exec ------------------------------------------------------------------- */

static void could_not_start(hob_job *j, int e, hob_str step) {
    j->result.end = HOB_JOB_FAILED;
    errno = e;
    int code = e == ENOENT || e == ENOTDIR ? HOB_ENOENT : e == E2BIG ? HOB_ETOOBIG : HOB_EACCES;
    if (hob_str_eqz(step, "exec"))
        hob_fail_errno(&j->result.error, code, "cannot run %s", j->program);
    else if (hob_str_eqz(step, "chdir"))
        hob_fail_errno(&j->result.error, code, "cannot enter the folder %s", j->cwd);
    else if (hob_str_eqz(step, "proc"))
        hob_fail(&j->result.error, HOB_ENOSYS, 0, NO_PROC);
    else
        hob_fail_errno(&j->result.error, HOB_EIO, "cannot start %s (%.*s)", j->program,
                       HOB_FMT(step));
}

static void no_answer(hob_job *j, int status) {
    if (j->result.end == HOB_JOB_EXITED) j->result.end = HOB_JOB_FAILED;
    hob_fail(&j->result.error, HOB_EIO, 0,
             "hob-exec ended (status %d) before %s did; processes of that command may still run",
             status, j->program);
}

/* "exit N" or "fail ERRNO STEP" */
static bool take_answer(hob_job *j, hob_str line) {
    hob_str word, number;
    int64_t n;
    if (!hob_str_split(&line, ' ', &word) || !hob_str_split(&line, ' ', &number)) return false;
    if (hob_str_int(number, &n) < 0) return false;
    if (hob_str_eqz(word, "fail")) {
        could_not_start(j, (int)n, line);
        return true;
    }
    j->result.status = (int)n;
    return hob_str_eqz(word, "exit");
}

static void on_helper_exit(hob_child *c, int status, void *user) {
    hob_guard *g = user;
    hob_job *j = g->job;
    hob_child_destroy(c);
    hob_list_remove(&g->link);
    hob_free(g);
    if (!j) return;
    j->guard = NULL;
    char answer[MAX_ANSWER];
    ssize_t n = recv(j->line, answer, sizeof(answer), MSG_DONTWAIT);
    if (n <= 0 || !take_answer(j, hob_str_trim(hob_str_n(answer, (size_t)n)))) no_answer(j, status);
    if (j->io)
        enter(j, DRAINING, DRAIN_MS);
    else
        finish(j);
}

/* ---- start --------------------------------------------------------------------------------- */

/* The descriptors of hob-exec: stdin, stdout, stderr, life-line. */
typedef struct stdio {
    int in, out, line;
} stdio;

static int input_fd(hob_str input) {
    int fd = memfd_create("hob-stdin", MFD_CLOEXEC);
    if (fd < 0) return -1;
    if (hob_exec_write(fd, input) < 0) {
        close(fd);
        return -1;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static int open_stdio(hob_job *j, hob_str input, stdio *s, hob_error *err) {
    int out[2], line[2];
    if (pipe2(out, O_CLOEXEC) < 0) return hob_fail_errno(err, HOB_EIO, "cannot make a pipe");
    j->out = out[0];
    s->out = out[1];
    fcntl(j->out, F_SETFL, O_NONBLOCK);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) < 0)
        return hob_fail_errno(err, HOB_EIO, "cannot make a socket");
    j->line = line[0];
    s->line = line[1];
    if (input.n > 0 && (s->in = input_fd(input)) < 0)
        return hob_fail_errno(err, HOB_EIO, "cannot keep %zu bytes of input", input.n);
    return hob_io_create(j->exec->loop, j->out, on_output, j, &j->io, err);
}

/* hob-exec itself may be started through /proc, and cannot look after anything without it. */
static int say_no_start(int r, hob_error *err) {
    if (access("/proc/self/fd", F_OK) == 0) return r;
    return hob_fail(err, HOB_ENOSYS, 0, NO_PROC);
}

static int spawn(hob_job *j, const hob_job_opts *o, const stdio *s, hob_error *err) {
    size_t n = 0;
    while (o->argv[n]) n++;
    const char **argv = hob_alloc((n + 5) * sizeof(char *));
    argv[0] = "hob-exec";
    argv[1] = "--cwd";
    argv[2] = o->cwd;
    argv[3] = "--";
    memcpy(argv + 4, o->argv, n * sizeof(char *));
    int fds[] = {s->in, s->out, s->out, s->line};
    hob_child_opts c = {
        .path = j->exec->path, .argv = argv, .envp = o->envp, .fds = fds, .nfds = 4};
    hob_guard *g = HOB_NEW(hob_guard);
    *g = (hob_guard){.exec = j->exec, .job = j};
    int r = hob_child_start(j->exec->loop, &c, on_helper_exit, g, &g->child, err);
    if (r < 0) {
        hob_free(g);
        r = say_no_start(r, err);
    } else {
        hob_list_push(&j->exec->guards, &g->link);
        j->guard = g;
    }
    hob_free(argv);
    return r;
}

static int check(const hob_job_opts *o, hob_error *err) {
    if (!o->argv || !o->argv[0] || o->argv[0][0] != '/')
        return hob_fail(err, HOB_EINVAL, 0, "a command is started by absolute path, not '%s'",
                        o->argv && o->argv[0] ? o->argv[0] : "");
    if (!o->cwd || o->cwd[0] != '/' || !o->envp || o->timeout_ms <= 0)
        return hob_fail(err, HOB_EINVAL, 0,
                        "a command needs an absolute folder, an environment and a time-out");
    size_t n = 0;
    while (o->argv[n]) n++;
    if (n > MAX_ARGS || o->input.n > MAX_INPUT)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "%s: at most %d arguments and %d MiB of input, not %zu and %zu bytes",
                        o->argv[0], MAX_ARGS, MAX_INPUT >> 20, n, o->input.n);
    return HOB_OK;
}

static void free_job(hob_job *j) {
    hob_timer_stop(&j->timer);
    close_output(j);
    close_fd(&j->line);
    hob_free(j->program);
    hob_free(j->cwd);
    hob_free(j);
}

int hob_job_start(hob_exec *x, const hob_job_opts *o, const hob_job_handler *h, void *user,
                  hob_job **out, hob_error *err) {
    int r = check(o, err);
    if (r < 0) return r;
    hob_job *j = HOB_NEW(hob_job);
    *j = (hob_job){.exec = x, .handler = *h, .user = user, .line = -1, .out = -1};
    j->program = hob_dupz(hob_str_z(o->argv[0]));
    j->cwd = hob_dupz(hob_str_z(o->cwd));
    if (!x->buffer) x->buffer = hob_alloc(HOB_EXEC_READ);
    hob_timer_init(&j->timer, x->loop, on_timer);
    stdio s = {-1, -1, -1};
    r = open_stdio(j, o->input, &s, err);
    if (r == HOB_OK) r = spawn(j, o, &s, err);
    close_fd(&s.in);
    close_fd(&s.out);
    close_fd(&s.line);
    if (r < 0) {
        free_job(j);
        return r;
    }
    j->started = hob_loop_now(x->loop);
    enter(j, RUNNING, o->timeout_ms);
    hob_io_want(j->io, HOB_IO_READ);
    *out = j;
    return HOB_OK;
}

/* Closing the life-line kills the tree; hob-exec ends by itself when that is done. */
void hob_job_destroy(hob_job *j) {
    if (!j) return;
    if (j->guard) j->guard->job = NULL;
    if (j->destroyed) *j->destroyed = true;
    free_job(j);
}
