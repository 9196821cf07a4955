/*
 * serve_log.c - what a server has to say: JSON lines for programs, or text for the person who started it.
 *
 * A pipe whose reader stands still loses lines, and is told how many once it reads again: a log never holds up a server.
 */
#include "cli/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* the server and the library speak, each on its threads */
static int log_fd = -1;
static long long lost = 0; /* lines */

int hob_serve_log_open(hob_cli *cli, const char *where, hob_error *err) {
    (void)cli;
    if (!where) return HOB_OK;
    log_fd = strcmp(where, "-") ? open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                                : STDOUT_FILENO;
    if (log_fd < 0) return hob_fail_errno(err, HOB_EINVAL, "the log %s cannot be written", where);
    return HOB_OK;
}

static bool takes(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, 0) > 0 && !(p.revents & (POLLERR | POLLHUP));
}

/* One write a line, and no longer than a pipe takes whole. */
static void write_line(const char *fmt, hob_str line) {
    char text[PIPE_BUF];
    int n = snprintf(text, sizeof text, fmt, HOB_FMT(line));
    if (n < 0) return;
    size_t len = HOB_MIN((size_t)n, sizeof text - 1);
    text[len - 1] = '\n';
    if (write(log_fd, text, len) < 0) lost++;
}

static void write_json(hob_str line) {
    char note[96];
    if (!takes(log_fd)) {
        lost++;
        return;
    }
    if (lost) {
        int n = snprintf(note, sizeof note, "{\"level\":\"warn\",\"event\":\"log\",\"lost\":%lld}",
                         lost);
        write_line("%.*s\n", hob_str_n(note, (size_t)n));
        lost = 0;
    }
    write_line("%.*s\n", line);
}

/* ---- text ----------------------------------------------------------------------------------------------- */

/* Not through tell.c, which also looks after standard output: that is the main thread's. */
static void tell(const char *fmt, ...) HOB_PRINTF(1, 2);
static void tell(const char *fmt, ...) {
    char text[1024];
    hob_buf line;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    hob_buf_init(&line, 8192);
    hob_buf_addz(&line, "hob: ");
    hob_show_text(&line, hob_str_z(text));
    hob_buf_addc(&line, '\n');
    if (write(STDERR_FILENO, line.p, line.n) < 0) lost++;
    hob_buf_finish(&line);
}

static void tell_request(const hob_json *v) {
    hob_str who = hob_json_get_str(v, "caller");
    tell("%.*s %.*s %lld %lld ms%s%.*s", HOB_FMT(hob_json_get_str(v, "method")),
         HOB_FMT(hob_json_get_str(v, "path")), (long long)hob_json_get_int(v, "status", 0),
         (long long)hob_json_get_int(v, "ms", 0), who.n ? " by " : "", HOB_FMT(who));
}

/* Requests and runs that went well are many. */
static bool is_told(const hob_cli *cli, const hob_json *v) {
    hob_str event = hob_json_get_str(v, "event");
    bool many = hob_str_eqz(event, "request") || hob_str_eqz(event, "run");
    if (hob_str_eqz(hob_json_get_str(v, "level"), "error")) return true;
    return many ? cli->verbose : !cli->quiet;
}

static void tell_text(const hob_cli *cli, hob_str line) {
    hob_arena *a = hob_arena_create(1 << 20);
    const hob_json *v = NULL;
    if (hob_json_parse(a, line, NULL, &v, NULL) >= 0 && is_told(cli, v)) {
        if (hob_str_eqz(hob_json_get_str(v, "event"), "request"))
            tell_request(v);
        else
            tell("%.*s", HOB_FMT(hob_json_get_str(v, "message")));
    }
    hob_arena_destroy(a);
}

void hob_serve_log(hob_str line, void *user) {
    pthread_mutex_lock(&lock);
    if (log_fd >= 0)
        write_json(line);
    else
        tell_text(user, line);
    pthread_mutex_unlock(&lock);
}

/* ---- what the library warns of -------------------------------------------------------------------------- */

static void on_warning(hob_log_level level, hob_str area, hob_str message, void *user) {
    char when[25], text[1024];
    hob_clock *c = hob_clock_real();
    hob_buf line;
    hob_jsonw w;
    hob_time_format(c->wall_ms(c), when);
    snprintf(text, sizeof text, "%.*s: %.*s", HOB_FMT(area), HOB_FMT(message));
    hob_buf_init(&line, 16 * 1024);
    hob_jsonw_init(&w, &line);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "ts", hob_str_z(when));
    hob_jsonw_kstr(&w, "level", level == HOB_LOG_ERROR ? HOB_STR("error") : HOB_STR("warn"));
    hob_jsonw_kstr(&w, "event", HOB_STR("library"));
    hob_jsonw_kstr(&w, "message", hob_str_z(text));
    hob_jsonw_object_end(&w);
    if (!line.err) hob_serve_log(hob_buf_str(&line), user);
    hob_buf_finish(&line);
}

void hob_serve_log_warnings(hob_cli *cli) {
    hob_set_log_sink(on_warning, HOB_LOG_WARN, cli);
}
