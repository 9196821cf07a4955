/*
 * key_cmd.c - the key that a command of the user prints ("api_key_cmd": "pass show lab").
 *
 * It runs once, on the pool, when the first request needs the key, and again after the provider refused what it
 * printed: such keys expire. Its output never reaches a message or a log.
 */
#include "model/provider_http.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY_MAX 65536u
#define TIMEOUT_MS 10000

/* ---- the process ------------------------------------------------------------------------------- */

/* In a group of its own, so that a time-out ends all of it; with default signals, whatever the host blocks. */
static int spawn_shell(const char *command, int out, pid_t *pid) {
    char *const argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETPGROUP);
    int e = posix_spawn(pid, "/bin/sh", &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return e;
}

/* Until end of file. HOB_ETIMEDOUT, HOB_ETOOBIG, HOB_EIO. */
static int read_all(int fd, int64_t deadline, hob_buf *out) {
    hob_clock *clock = hob_clock_real();
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = deadline - clock->mono_ms(clock);
        if (left <= 0) return HOB_ETIMEDOUT;
        if (poll(&p, 1, (int)left) < 0 && errno != EINTR) return HOB_EIO;
        if (!p.revents) continue;
        char *to = hob_buf_reserve(out, 4096);
        if (!to) return HOB_ETOOBIG;
        ssize_t n = read(fd, to, 4096);
        if (n == 0) return HOB_OK;
        if (n < 0 && errno != EINTR) return HOB_EIO;
        if (n > 0) out->n += (size_t)n;
    }
}

/* Its exit code, or 128 + signal; 0 if the host reaps all children itself and took it. */
static int reap(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return 0;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int judge(int rc, int status, hob_str text, hob_buf *key, hob_error *err) {
    ptrdiff_t end = hob_str_chr(text, '\n');
    hob_str line = hob_str_trim(end < 0 ? text : hob_str_first(text, (size_t)end));
    if (rc == HOB_ETIMEDOUT)
        return hob_fail(err, HOB_EAUTH, 0, "api_key_cmd did not end in time: run it by hand");
    if (rc < 0) return hob_fail(err, HOB_EAUTH, 0, "the output of api_key_cmd could not be read");
    if (status)
        return hob_fail(err, HOB_EAUTH, 0, "api_key_cmd ended with status %d: run it by hand",
                        status);
    if (line.n == 0) return hob_fail(err, HOB_EAUTH, 0, "api_key_cmd printed no key");
    return hob_buf_add(key, line);
}

int hob_key_cmd_run(const char *command, int64_t timeout_ms, hob_buf *key, hob_error *err) {
    hob_clock *clock = hob_clock_real();
    int64_t deadline = clock->mono_ms(clock) + timeout_ms;
    int fds[2];
    pid_t pid;
    hob_buf text;
    if (pipe2(fds, O_CLOEXEC) < 0) return hob_fail_errno(err, HOB_EAUTH, "cannot run api_key_cmd");
    errno = spawn_shell(command, fds[1], &pid);
    close(fds[1]);
    if (errno) {
        int rc = hob_fail_errno(err, HOB_EAUTH, "cannot run api_key_cmd");
        close(fds[0]);
        return rc;
    }
    hob_buf_init(&text, KEY_MAX);
    int rc = read_all(fds[0], deadline, &text);
    close(fds[0]);
    if (rc < 0) kill(-pid, SIGKILL);
    rc = judge(rc, reap(pid), hob_buf_str(&text), key, err);
    if (text.p) explicit_bzero(text.p, text.n);
    hob_buf_finish(&text);
    return rc;
}

/* ---- on the pool --------------------------------------------------------------------------------- */

struct hob_key_job {
    hob_work work;
    hob_provider_http *p; /* NULL = gone */
    char *command;
    hob_buf key;
    int rc;
    hob_error err;
};

static void on_worker(hob_work *w) {
    hob_key_job *j = HOB_CONTAINER(w, hob_key_job, work);
    j->rc = hob_key_cmd_run(j->command, TIMEOUT_MS, &j->key, &j->err);
}

static void job_free(hob_key_job *j) {
    if (j->key.p) explicit_bzero(j->key.p, j->key.n);
    hob_buf_finish(&j->key);
    hob_free(j->command);
    hob_free(j);
}

/* One by one from the front: what a call does when it ends may cancel others. */
static void tell_waiting(hob_provider_http *p, const hob_key_job *j) {
    while (!hob_list_empty(&p->waiting)) {
        hob_model_call *c = HOB_LIST_FIRST(&p->waiting, hob_model_call, link);
        hob_list_remove(&c->link);
        if (j->rc == HOB_OK) {
            hob_call_begin(c);
            continue;
        }
        hob_model_outcome o;
        hob_outcome_init(&o);
        hob_outcome_fail(&o, j->rc, false, "%.*s: %s", HOB_FMT(p->config.name), j->err.message);
        hob_call_end(c, &o);
    }
}

static void on_loop(hob_work *w) {
    hob_key_job *j = HOB_CONTAINER(w, hob_key_job, work);
    hob_provider_http *p = j->p;
    if (w->dropped) j->rc = hob_fail(&j->err, HOB_ECANCELLED, 0, "api_key_cmd was not run");
    if (p) {
        p->job = NULL;
        if (j->rc == HOB_OK) {
            hob_buf_reset(&p->fetched);
            hob_buf_add(&p->fetched, hob_buf_str(&j->key));
            p->key = hob_buf_str(&p->fetched);
        }
        tell_waiting(p, j);
    }
    job_free(j);
}

int hob_key_job_start(hob_provider_http *p, hob_error *err) {
    if (p->job) return HOB_OK;
    hob_key_job *j = HOB_NEW(hob_key_job);
    j->p = p;
    j->command = hob_dupz(p->config.api_key_cmd);
    j->work.work = on_worker;
    j->work.done = on_loop;
    hob_buf_init(&j->key, KEY_MAX);
    int rc = hob_pool_submit(p->env.pool, p->env.loop, &j->work);
    if (rc < 0) {
        job_free(j);
        return hob_fail(err, rc, 0, "too much work is queued to run api_key_cmd; try again");
    }
    p->job = j;
    return HOB_OK;
}

void hob_key_job_forget(hob_key_job *j) {
    if (j) j->p = NULL;
}
