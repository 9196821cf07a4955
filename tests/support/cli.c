/* Runs the program hob from outside. */
#include "support/cli.h"

#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 60000
#define OUTPUT_MAX (64u << 20)

int hob_test_cli_setup(void **state) {
    hob_test_cli *c = HOB_NEW(hob_test_cli);
    signal(SIGPIPE, SIG_IGN);
    hob_test_folder_make(&c->folder);
    hob_test_mkdir(&c->folder, "home");
    hob_buf_init(&c->out, OUTPUT_MAX);
    hob_buf_init(&c->err, OUTPUT_MAX);
    c->arena = hob_arena_create(0);
    c->in = c->out_fd = c->err_fd = -1;
    *state = c;
    return 0;
}

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

int hob_test_cli_teardown(void **state) {
    hob_test_cli *c = *state;
    if (c->pid > 0) {
        kill(c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
    }
    close_fd(&c->in);
    close_fd(&c->out_fd);
    close_fd(&c->err_fd);
    hob_test_folder_remove(&c->folder);
    hob_buf_finish(&c->out);
    hob_buf_finish(&c->err);
    hob_arena_destroy(c->arena);
    hob_free(c);
    return 0;
}

void hob_test_quoted_file(hob_test_cli *c, const char *name, const char *text) {
    char *copy = hob_dupz(hob_str_z(text));
    for (char *p = copy; *p; p++)
        if (*p == '\'') *p = '"';
    hob_test_file(&c->folder, name, hob_str_z(copy));
    hob_free(copy);
}

void hob_test_env(hob_test_cli *c, const char *variable) {
    assert_true(c->nenv + 1 < HOB_ARRAY_LEN(c->env));
    c->env[c->nenv++] = variable;
    c->env[c->nenv] = NULL;
}

/* ---- starting -------------------------------------------------------------------------------- */

static const char *program(void) {
    const char *named = getenv("HOB");
    return named ? named : HOB_BINARY_DIR "/hob-test";
}

static void in_child(hob_test_cli *c, const char *const *argv, const int *fds) {
    const char *args[64] = {c->program ? c->program : program()}, *env[32];
    char home[128], state[128], path[2048], asan[1024], hob[1200];
    const char *sanitizer = getenv("ASAN_OPTIONS");
    size_t n = 0;
    snprintf(home, sizeof home, "HOME=%s", c->folder.path);
    snprintf(state, sizeof state, "HOB_HOME=%s/home", c->folder.path);
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
    env[n++] = home;
    env[n++] = state;
    env[n++] = path;
    env[n++] = "TERM=xterm";
    snprintf(hob, sizeof hob, "HOB=%s", program());
    if (c->program) env[n++] = hob;
    snprintf(asan, sizeof asan, "ASAN_OPTIONS=%s", sanitizer ? sanitizer : "");
    env[n++] = asan;
    for (size_t i = 0; i < c->nenv; i++) env[n++] = c->env[i];
    env[n] = NULL;
    for (size_t i = 0; argv[i]; i++) args[i + 1] = argv[i];
    if (c->terminal) {
        setsid();
        ioctl(fds[0], TIOCSCTTY, 0);
    }
    for (int i = 0; i < 3; i++)
        if (dup2(fds[i], i) < 0) _exit(120);
    if (chdir(c->folder.path) < 0) _exit(121);
    execve(args[0], (char *const *)(uintptr_t)args, (char *const *)(uintptr_t)env);
    _exit(122);
}

static void open_terminal(hob_test_cli *c, int fds[3]) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    fds[0] = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(fds[0] >= 0);
    fds[1] = fds[2] = fds[0];
    c->in = dup(master);
    c->out_fd = master;
    fcntl(c->in, F_SETFD, FD_CLOEXEC);
}

static void open_pipes(hob_test_cli *c, int fds[3]) {
    int in[2], out[2], err[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    fds[0] = in[0];
    fds[1] = out[1];
    fds[2] = err[1];
    c->in = in[1];
    c->out_fd = out[0];
    c->err_fd = err[0];
}

void hob_test_start(hob_test_cli *c, const char *const *argv) {
    int fds[3];
    hob_buf_reset(&c->out);
    hob_buf_reset(&c->err);
    if (c->terminal)
        open_terminal(c, fds);
    else
        open_pipes(c, fds);
    c->pid = fork();
    assert_true(c->pid >= 0);
    if (c->pid == 0) in_child(c, argv, fds);
    for (int i = 0; i < 3; i++)
        if (i == 0 || !c->terminal) close(fds[i]);
}

/* ---- talking --------------------------------------------------------------------------------- */

static void take(int *fd, hob_buf *to) {
    char *room = hob_buf_reserve(to, 65536);
    assert_non_null(room);
    ssize_t n = read(*fd, room, 65536);
    if (n > 0)
        to->n += (size_t)n;
    else if (n == 0 || errno == EIO)
        close_fd(fd); /* EIO: the terminal's other side is gone */
    else
        assert_int_equal(errno, EINTR);
}

/* Reads what comes next; false when both are at their end. */
static bool read_some(hob_test_cli *c) {
    struct pollfd p[2] = {{.fd = c->out_fd, .events = POLLIN}, {.fd = c->err_fd, .events = POLLIN}};
    if (c->out_fd < 0 && c->err_fd < 0) return false;
    if (poll(p, 2, PATIENCE_MS) <= 0)
        fail_msg("nothing came for a minute; out: %s err: %s", hob_buf_z(&c->out),
                 hob_buf_z(&c->err));
    if (p[0].revents) take(&c->out_fd, &c->out);
    if (p[1].revents) take(&c->err_fd, &c->err);
    return true;
}

void hob_test_send(hob_test_cli *c, const char *text) {
    hob_str s = hob_str_z(text);
    while (s.n) {
        ssize_t n = write(c->in, s.p, s.n);
        if (n < 0) return; /* it has ended; its output says why */
        s = hob_str_skip(s, (size_t)n);
    }
}

void hob_test_until(hob_test_cli *c, const char *text) {
    while (!hob_test_out_has(c, text))
        if (!read_some(c))
            fail_msg("it ended before '%s'; out: %s err: %s", text, hob_buf_z(&c->out),
                     hob_buf_z(&c->err));
}

void hob_test_until_said(hob_test_cli *c, const char *text) {
    while (!hob_test_err_has(c, text))
        if (!read_some(c)) fail_msg("it ended before '%s'; err: %s", text, hob_buf_z(&c->err));
}

void hob_test_close_in(hob_test_cli *c) {
    close_fd(&c->in);
}

int hob_test_end(hob_test_cli *c) {
    int status = 0;
    while (read_some(c)) continue;
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    c->pid = 0;
    close_fd(&c->in);
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return c->code;
}

int hob_test_hob(hob_test_cli *c, const char *input, const char *const *argv) {
    hob_test_start(c, argv);
    if (input) hob_test_send(c, input);
    hob_test_close_in(c);
    return hob_test_end(c);
}

int hob_test_shell(hob_test_cli *c, const char *command) {
    c->program = "/bin/sh";
    int code = HOB_RUN(c, NULL, "-c", command);
    c->program = NULL;
    return code;
}

/* ---- looking --------------------------------------------------------------------------------- */

bool hob_test_out_has(const hob_test_cli *c, const char *text) {
    return hob_str_find(hob_buf_str(&c->out), hob_str_z(text)) >= 0;
}

bool hob_test_err_has(const hob_test_cli *c, const char *text) {
    return hob_str_find(hob_buf_str(&c->err), hob_str_z(text)) >= 0;
}

size_t hob_test_lines(hob_test_cli *c) {
    size_t n = 0;
    for (size_t i = 0; i < c->out.n; i++) n += c->out.p[i] == '\n';
    return n;
}

const hob_json *hob_test_line(hob_test_cli *c, ptrdiff_t i) {
    hob_str rest = hob_buf_str(&c->out), line;
    const hob_json *v = NULL;
    hob_error err;
    if (i < 0) i += (ptrdiff_t)hob_test_lines(c);
    for (ptrdiff_t k = 0; hob_str_split(&rest, '\n', &line); k++) {
        if (k != i) continue;
        hob_str copy = hob_arena_dup(c->arena, line);
        if (hob_json_parse(c->arena, copy, NULL, &v, &err) < 0)
            fail_msg("line %d is not JSON: %.*s", (int)i, HOB_FMT(line));
        return v;
    }
    fail_msg("there is no line %d in: %s", (int)i, hob_buf_z(&c->out));
    return NULL;
}

const hob_json *hob_test_typed(hob_test_cli *c, const char *type, size_t k) {
    size_t n = hob_test_lines(c);
    for (size_t i = 0; i < n; i++) {
        const hob_json *v = hob_test_line(c, (ptrdiff_t)i);
        if (hob_str_eqz(hob_json_get_str(v, "type"), type) && k-- == 0) return v;
    }
    return NULL;
}
