/*
 * demo_run.c - one child process of the demo.
 *
 * The child is this same program with `-p --json`: what the demo shows is what any script would
 * read.
 */
#include "cli/demo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGS 32

static int spawn(hob_demo *d, const char *const *argv, const char *cwd, int out, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (cwd) posix_spawn_file_actions_addchdir_np(&actions, cwd);
    int e = posix_spawn(pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
                        (char *const *)(uintptr_t)d->env.at);
    posix_spawn_file_actions_destroy(&actions);
    return e;
}

static int wait_for(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return HOB_EXIT_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : HOB_EXIT_SIGNAL + WTERMSIG(status);
}

/* ---- its events ------------------------------------------------------------------------------ */

static void count(hob_demo *d, uint64_t seq, hob_demo_end *end) {
    if (!seq) return;
    if (!end->first) end->first = seq;
    if (end->last && seq != end->last + 1) end->gaps++;
    end->last = seq;
    d->seen = HOB_MAX(d->seen, seq);
}

static void copy(char *to, size_t cap, hob_str s) {
    size_t n = HOB_MIN(s.n, cap - 1);
    if (n) memcpy(to, s.p, n);
    to[n] = 0;
}

/* True: this is the moment to kill it. */
static bool on_line(hob_demo *d, const hob_demo_run *r, hob_str line, hob_demo_end *end) {
    const hob_json *e = NULL;
    hob_arena *a = hob_arena_create(0);
    bool now = false;
    if (hob_json_parse(a, line, NULL, &e, NULL) >= 0) {
        hob_str type = hob_json_get_str(e, "type");
        count(d, (uint64_t)hob_json_get_int(e, "seq", 0), end);
        if (hob_str_eqz(type, "session"))
            copy(d->session, sizeof d->session, hob_json_get_str(e, "id"));
        if (hob_str_eqz(type, "result"))
            copy(end->result, sizeof end->result, hob_json_get_str(e, "status"));
        if (!r->silent) hob_story_event(d->cli, e);
        hob_out_flush(&d->cli->out);
        now = r->kill_at && hob_str_eqz(type, "tool_started") &&
              hob_str_eqz(hob_json_get_str(hob_json_get(e, "data"), "tool"), r->kill_at);
    }
    hob_arena_destroy(a);
    return now;
}

static void follow(hob_demo *d, const hob_demo_run *r, int fd, pid_t pid, hob_demo_end *end) {
    hob_lines lines;
    hob_str line;
    int got = 1;
    hob_lines_init(&lines, fd);
    while (got != 0 && !end->killed && !hob_signals_waiting()) {
        got = hob_lines_take(&lines, &line);
        if (got == HOB_EAGAIN) hob_lines_read(&lines);
        if (got == 1 && on_line(d, r, line, end)) end->killed = kill(pid, SIGKILL) == 0;
    }
    if (hob_signals_waiting()) kill(pid, SIGKILL);
    hob_lines_finish(&lines);
}

int hob_demo_child(hob_demo *d, const hob_demo_run *r, hob_demo_end *out, hob_error *err) {
    const char *argv[MAX_ARGS] = {d->exe};
    hob_demo_end end = {.killed = false};
    int pipe_fds[2];
    pid_t pid;
    for (size_t i = 0; r->argv[i] && i + 2 < MAX_ARGS; i++) argv[i + 1] = r->argv[i];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0) return hob_fail_errno(err, HOB_EIO, "no pipe");
    errno = spawn(d, argv, NULL, pipe_fds[1], &pid);
    close(pipe_fds[1]);
    if (errno) {
        close(pipe_fds[0]);
        return hob_fail_errno(err, HOB_EIO, "%s cannot be started", d->exe);
    }
    follow(d, r, pipe_fds[0], pid, &end);
    close(pipe_fds[0]);
    end.status = wait_for(pid);
    *out = end;
    return HOB_OK;
}

int hob_demo_shell(hob_demo *d, const char *command, hob_error *err) {
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    pid_t pid;
    errno = spawn(d, argv, d->work, STDOUT_FILENO, &pid);
    if (errno) return hob_fail_errno(err, HOB_EIO, "/bin/sh cannot be started");
    return wait_for(pid);
}
