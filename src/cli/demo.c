/*
 * demo.c - `hob demo`: an agent finds a bug, is killed with SIGKILL half-way, resumes and finishes.
 *
 * No key and no network: the model is the scripted one, the work is real. The agent is this same
 * program, started as a child. At the end nothing is taken on trust: the tests of the corrected
 * program are run once more by the demo itself, and the log is read back and must hold every event,
 * also those before the kill.
 */
#include "cli/demo.h"

#include "cli/demo_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct demo_opts {
    hob_common common;
} demo_opts;

static const hob_opt table[] = {HOB_COMMON_OPTS(demo_opts)};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

static void heading(hob_demo *d, hob_tint tint, const char *text) {
    bool c = d->cli->out_color;
    hob_out_addf(&d->cli->out, "\n%s%s%s\n", hob_tint_on(c, tint), text, hob_tint_off(c));
    hob_out_flush(&d->cli->out);
}

/* ---- the folder ------------------------------------------------------------------------------ */

static int write_file(const char *folder, const char *name, const char *text, hob_error *err) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return hob_cli_file_write(path, hob_str_z(text), err);
}

static int make_folder(hob_demo *d, hob_error *err) {
    const char *tmp = getenv("TMPDIR");
    snprintf(d->root, sizeof d->root, "%s/hob-demo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(d->root)) return hob_fail_errno(err, HOB_EIO, "no temporary folder %s", d->root);
    snprintf(d->work, sizeof d->work, "%s/work", d->root);
    snprintf(d->home, sizeof d->home, "%s/home", d->root);
    snprintf(d->script, sizeof d->script, "scripted:%s/demo.script.json", d->root);
    if (mkdir(d->work, 0700) < 0 || mkdir(d->home, 0700) < 0)
        return hob_fail_errno(err, HOB_EIO, "no folder in %s", d->root);
    int code = write_file(d->root, "demo.script.json", hob_demo_script, err);
    for (size_t i = 0; code >= 0 && hob_demo_files[i].name; i++)
        code = write_file(d->work, hob_demo_files[i].name, hob_demo_files[i].text, err);
    return code;
}

/* The children see none of the user's settings. */
static void make_env(hob_demo *d) {
    hob_buf_init(&d->env_text, 1024);
    hob_buf_addf(&d->env_text, "HOB_HOME=%s", d->home);
    hob_words_add(&d->env, hob_buf_z(&d->env_text));
    for (size_t i = 0; d->cli->envp[i]; i++)
        if (strncmp(d->cli->envp[i], "HOB_", 4)) hob_words_add(&d->env, d->cli->envp[i]);
}

static int prepare(hob_demo *d, hob_error *err) {
    ssize_t n = readlink("/proc/self/exe", d->exe, sizeof d->exe - 1);
    if (n <= 0) return hob_fail_errno(err, HOB_EIO, "this program's own file cannot be found");
    d->exe[n] = 0;
    int code = make_folder(d, err);
    if (code < 0) return code;
    make_env(d);
    if (hob_demo_shell(d, "command -v cc >/dev/null", err) == 0) return HOB_OK;
    return hob_fail(err, HOB_ENOSYS, 0,
                    "the demo compiles a small C program and there is no `cc`: install "
                    "a C compiler (Debian: apt-get install gcc libc6-dev)");
}

/* ---- the story ------------------------------------------------------------------------------- */

static int first_part(hob_demo *d, hob_error *err) {
    const char *argv[] = {
        "-C",   d->work,         "-p", "--json", "-q", "-m", d->script, "--permission-mode",
        "yolo", hob_demo_prompt, NULL};
    hob_demo_run r = {.argv = argv, .kill_at = "bash"};
    hob_demo_end end;
    int code = hob_demo_child(d, &r, &end, err);
    if (code < 0) return code;
    if (!end.killed || end.gaps)
        return hob_fail(err, HOB_EIO, 0, "the first part ended by itself (exit code %d)",
                        end.status);
    return HOB_OK;
}

static int second_part(hob_demo *d, hob_error *err) {
    const char *argv[] = {"-C",   d->work, "-c", "-p", "--json", "-q", "--permission-mode",
                          "yolo", NULL};
    hob_demo_run r = {.argv = argv};
    hob_demo_end end;
    int code = hob_demo_child(d, &r, &end, err);
    if (code < 0) return code;
    if (end.status != 0 || strcmp(end.result, "completed") || end.gaps)
        return hob_fail(err, HOB_EIO, 0, "the second part ended with exit code %d, status '%s'",
                        end.status, end.result);
    return HOB_OK;
}

/* The log, read back: every event from the first to the last, also those told before the kill. */
static int check_log(hob_demo *d, hob_error *err) {
    const char *argv[] = {"sessions", "show", d->session, "--json", NULL};
    hob_demo_run r = {.argv = argv, .silent = true};
    hob_demo_end end;
    uint64_t told = d->seen;
    int code = hob_demo_child(d, &r, &end, err);
    if (code < 0) return code;
    if (end.status != 0)
        return hob_fail(err, HOB_ESTORE, 0, "the log cannot be read (exit code %d)", end.status);
    if (end.first != 1 || end.gaps)
        return hob_fail(err, HOB_ESTORE, 0, "the log has %llu gaps and begins with %llu",
                        (unsigned long long)end.gaps, (unsigned long long)end.first);
    if (end.last < told)
        return hob_fail(err, HOB_ESTORE, 0,
                        "event %llu was told and is not in the log, which ends at %llu",
                        (unsigned long long)told, (unsigned long long)end.last);
    return HOB_OK;
}

static int tell_story(hob_demo *d, hob_error *err) {
    heading(d, HOB_TINT_BOLD,
            "An agent (scripted: no key, no network) gets a C program whose tests fail:");
    int code = first_part(d, err);
    if (code < 0) return code;
    heading(d, HOB_TINT_RED,
            "SIGKILL, while the tests are running. Nothing could be said or saved any more.");
    heading(d, HOB_TINT_BOLD, "hob -c -p takes it up:");
    code = second_part(d, err);
    if (code < 0) return code;
    heading(d, HOB_TINT_BOLD, "Is it true? The tests, run once more by the demo itself:");
    code = hob_demo_shell(d, "sh stats_test.sh", err);
    if (code > 0) code = hob_fail(err, HOB_EIO, 0, "the tests of the corrected program fail");
    return code < 0 ? code : check_log(d, err);
}

static void tell_end(hob_demo *d, int64_t ms) {
    hob_out_addf(&d->cli->out,
                 "  the log has all %llu events, without a gap, also those before the kill\n",
                 (unsigned long long)d->seen);
    heading(d, HOB_TINT_GREEN, "Done.");
    hob_out_addf(&d->cli->out, "session %s, %.1f s\nlook at it: HOB_HOME=%s %s sessions show %s\n",
                 d->session, (double)ms / 1000.0, d->home, d->exe, d->session);
}

static int run(hob_cli *cli, char *const *argv) {
    demo_opts o = {.common = {.cd = NULL}};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    hob_clock *clock = hob_clock_real();
    int64_t start = clock->mono_ms(clock);
    hob_demo d = {.cli = cli};
    int code = hob_cli_parse(cli, &hob_command_demo, argv, &o, &rest);
    if (code >= 0) goto out;
    code = rest.words.n ? hob_fail(&err, HOB_EINVAL, 0,
                                   "hob demo takes no words; a prompt that begins so: "
                                   "hob -- demo …")
                        : prepare(&d, &err);
    if (code >= 0) code = tell_story(&d, &err);
    if (code >= 0) tell_end(&d, clock->mono_ms(clock) - start);
    if (code < 0 && !hob_signals_waiting()) hob_tell_error(cli, &err);
    code = hob_signals_waiting() ? HOB_EXIT_SIGNAL + hob_signals_take() : hob_exit_of(code);
out:
    hob_words_finish(&d.env);
    hob_buf_finish(&d.env_text);
    hob_words_finish(&rest.words);
    return code;
}

const hob_command hob_command_demo = {
    .name = "demo",
    .usage = "demo",
    .summary = "see it work: offline, killed half-way, resumed",
    .opts = &opts,
    .run = run,
};
