/*
 * start.c - what a command needs before it can work: folder, colours, log, configuration, runtime.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int debug_fd = -1; /* the log sink is process-wide, and so is this */

/* ---- the library's log ----------------------------------------------------------------------- */

static void on_log(hob_log_level level, hob_str area, hob_str message, void *user) {
    static const char *const names[] = {"error", "warn", "info", "debug"};
    hob_cli *cli = user;
    char when[25], line[4096];
    hob_clock *c = hob_clock_real();
    hob_time_format(c->wall_ms(c), when);
    int n = snprintf(line, sizeof line, "%s %s %.*s: %.*s", when, names[level], HOB_FMT(area),
                     HOB_FMT(message));
    size_t len = HOB_MIN((size_t)HOB_MAX(n, 0), sizeof line - 2);
    line[len++] = '\n';
    /* One write a line: threads do not mix. A log that cannot be written stops nothing. */
    if (debug_fd >= 0 && write(debug_fd, line, len) < 0) debug_fd = -1;
    if (cli->verbose && level <= HOB_LOG_INFO)
        hob_tell_note(cli, "%.*s: %.*s", HOB_FMT(area), HOB_FMT(message));
}

static int open_log(hob_cli *cli, const char *file, hob_error *err) {
    if (file) {
        debug_fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (debug_fd < 0) return hob_fail_errno(err, HOB_EINVAL, "%s cannot be written", file);
    }
    if (file || cli->verbose) hob_set_log_sink(on_log, file ? HOB_LOG_DEBUG : HOB_LOG_INFO, cli);
    return HOB_OK;
}

/* ---- options that every command has ---------------------------------------------------------- */

static bool wants_color(hob_str choice, int fd) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (hob_str_eqz(choice, "always")) return true;
    if (hob_str_eqz(choice, "never")) return false;
    return isatty(fd) == 1 && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static void set_color(hob_cli *cli, hob_str choice) {
    cli->color = wants_color(choice, STDERR_FILENO);
    cli->out_color = wants_color(choice, STDOUT_FILENO);
}

int hob_cli_common(hob_cli *cli, const hob_common *c, hob_error *err) {
    cli->quiet = c->quiet;
    cli->verbose = c->verbose && !c->quiet;
    cli->color_choice = c->color;
    set_color(cli, hob_str_z(c->color));
    if (c->cd && chdir(c->cd) < 0)
        return hob_fail_errno(err, HOB_EINVAL, "cannot work in %s", c->cd);
    if (!getcwd(cli->cwd, sizeof cli->cwd))
        return hob_fail_errno(err, HOB_EINVAL, "the current folder cannot be found");
    return open_log(cli, c->debug_file, err);
}

int hob_cli_parse(hob_cli *cli, const hob_command *c, char *const *argv, void *into,
                  hob_rest *rest) {
    hob_error err;
    hob_common *common = into; /* the first member of every command's struct */
    int code = hob_args_parse(*c->opts, argv, into, rest, &err);
    if (common->help) {
        hob_help_print(cli, c);
        return HOB_EXIT_OK;
    }
    if (code >= 0) code = hob_cli_common(cli, common, &err);
    if (code >= 0) return -1;
    hob_tell_error(cli, &err);
    return HOB_EXIT_USAGE;
}

/* ---- configuration and runtime --------------------------------------------------------------- */

static void tell_warnings(hob_cli *cli) {
    for (size_t i = 0; i < hob_config_warnings(cli->config); i++)
        hob_tell_note(cli, "%.*s", HOB_FMT(hob_config_warning(cli->config, i)));
}

int hob_cli_config(hob_cli *cli, bool trust, hob_error *err) {
    hob_config_load_opts o = HOB_CONFIG_LOAD_OPTS_INIT;
    if (cli->config) return HOB_OK;
    o.cwd = cli->cwd;
    o.envp = cli->envp;
    o.trusted = trust;
    cli->config = hob_config_create();
    int code = hob_config_load(cli->config, &o, err);
    if (code < 0) return code;
    hob_str color = hob_config_get(cli->config, "color"); /* JSON: a quoted word */
    if (!cli->color_choice && color.n > 2) set_color(cli, hob_str_n(color.p + 1, color.n - 2));
    tell_warnings(cli);
    return HOB_OK;
}

/* Beside an installed bin/hob stands libexec/hob/hob-exec; else the library has a copy. */
static const char *find_libexec(char *path, size_t cap) {
    ssize_t n = readlink("/proc/self/exe", path, cap - 1);
    if (n <= 0) return NULL;
    path[n] = 0;
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = 0;
    }
    size_t used = strlen(path);
    int more = snprintf(path + used, cap - used, "/libexec/hob/hob-exec");
    if (more < 0 || (size_t)more >= cap - used || access(path, X_OK) != 0) return NULL;
    *strrchr(path, '/') = 0;
    return path;
}

int hob_cli_start_as(hob_cli *cli, hob_loop_mode loop, bool trust, hob_error *err) {
    char libexec[4096];
    hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
    int code = hob_cli_config(cli, trust, err);
    if (code < 0 || cli->rt) return code;
    o.config = cli->config;
    o.loop = loop;
    o.envp = cli->envp;
    o.libexec_dir = find_libexec(libexec, sizeof libexec);
    code = hob_runtime_create(&o, &cli->rt, err);
    if (code >= 0 && loop == HOB_LOOP_HOST) hob_signals_runtime(cli->rt);
    return code;
}

int hob_cli_start(hob_cli *cli, bool trust, hob_error *err) {
    return hob_cli_start_as(cli, HOB_LOOP_HOST, trust, err);
}

void hob_cli_forget(hob_cli *cli) {
    hob_signals_runtime(NULL);
    hob_runtime_destroy(cli->rt);
    hob_config_destroy(cli->config);
    cli->rt = NULL;
    cli->config = NULL;
}

void hob_cli_stop(hob_cli *cli) {
    hob_cli_forget(cli);
    hob_out_flush(&cli->out);
    hob_set_log_sink(NULL, HOB_LOG_ERROR, NULL);
}

const char *hob_cli_app(const char *app, const char *user) {
    return !app && user ? "hob" : app;
}
