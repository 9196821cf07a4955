/*
 * bash.c - the tool `bash`: one command in a fresh shell.
 *
 * The command's output is kept head and tail; what came and how it ended is the answer, also of a command
 * that failed, timed out or was cancelled.
 */
#include "tool/builtin.h"

#include <signal.h>

#define MAX_TIMEOUT_S 3600
#define MAX_COMMAND (100 * 1024) /* the kernel takes 128 KiB in one argument */

typedef struct bash_call {
    hob_builtin_call base;
    hob_builtins *builtins;
    hob_job *job;
    hob_capture output;
    int64_t timeout_ms;
} bash_call;

static void free_call(bash_call *c) {
    hob_job_destroy(c->job);
    hob_capture_finish(&c->output);
    hob_builtin_call_finish(&c->base);
    hob_free(c);
}

/* ---- the answer ---------------------------------------------------------------------------- */

static void add_exit_code(hob_buf *out, int status) {
    if (status == 0) return;
    hob_buf_addf(out, "exit code %d", status);
    const char *name = status > 128 ? sigabbrev_np(status - 128) : NULL;
    if (name) hob_buf_addf(out, " (SIG%s)", name);
}

static void add_ending(hob_buf *out, const bash_call *c, const hob_job_result *r) {
    switch (r->end) {
    case HOB_JOB_EXITED: add_exit_code(out, r->status); break;
    case HOB_JOB_TIMED_OUT:
        hob_buf_addf(out,
                     "timed out after %g s, all its processes were killed; a larger timeout_s (at "
                     "most %d) gives it more time",
                     (double)c->timeout_ms / 1000, MAX_TIMEOUT_S);
        break;
    case HOB_JOB_CANCELLED: hob_buf_addz(out, "cancelled"); break;
    case HOB_JOB_FAILED: break;
    }
    if (r->error.code) hob_buf_addf(out, "%s%s", out->n ? "; " : "", r->error.message);
}

static hob_outcome outcome_of(const hob_job_result *r) {
    if (r->end == HOB_JOB_CANCELLED) return HOB_OUTCOME_CANCELLED;
    bool good = r->end == HOB_JOB_EXITED && r->status == 0;
    return good ? HOB_OUTCOME_OK : HOB_OUTCOME_ERROR;
}

static void answer(bash_call *c, const hob_job_result *r) {
    hob_tool_result result = {.outcome = outcome_of(r), .exit_code = -1};
    hob_buf words, ending;
    if (r->end == HOB_JOB_EXITED) result.exit_code = r->status;
    result.truncated = hob_capture_truncated(&c->output);
    hob_buf_init(&ending, 2000);
    add_ending(&ending, c, r);
    hob_buf_init(&words, 3 * (c->output.head.max + c->output.max_tail) + 4000);
    hob_capture_write(&c->output, &words);
    if (words.n > 0 && ending.n > 0 && words.p[words.n - 1] != '\n') hob_buf_addc(&words, '\n');
    hob_buf_add(&words, hob_buf_str(&ending));
    if (words.n == 0) hob_buf_addz(&words, "(no output)");
    hob_reply_words(c->base.reply, &result, hob_buf_str(&words));
    hob_buf_finish(&words);
    hob_buf_finish(&ending);
}

/* ---- the command --------------------------------------------------------------------------- */

static void on_output(void *user, hob_str chunk) {
    bash_call *c = user;
    hob_capture_add(&c->output, chunk);
    hob_reply_output(c->base.reply, chunk);
}

static void on_ended(void *user, const hob_job_result *r) {
    bash_call *c = user;
    answer(c, r);
    free_call(c);
}

static void cancel_call(hob_builtin_call *base, bool hard, bool gone) {
    bash_call *c = HOB_CONTAINER(base, bash_call, base);
    if (!gone) {
        hob_job_cancel(c->job, hard);
        return;
    }
    answer(c, &(hob_job_result){.end = HOB_JOB_CANCELLED});
    free_call(c);
}

static int find_folder(bash_call *c, hob_buf *out, hob_error *err) {
    const hob_json *cwd = hob_json_get(c->base.args, "cwd");
    hob_workspace *w = c->builtins->env.workspace;
    if (!cwd) return hob_buf_add(out, hob_workspace_root(w, 0));
    return hob_workspace_folder(w, hob_json_str(cwd), out, err);
}

static int check_command(hob_str command, hob_error *err) {
    if (memchr(command.p, '\0', command.n))
        return hob_fail(err, HOB_EINVAL, 0, "the command contains a NUL byte");
    if (command.n > MAX_COMMAND)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "the command is %zu bytes long, at most %d are possible; write it to a "
                        "file and run that, or give the data as stdin",
                        command.n, MAX_COMMAND);
    return HOB_OK;
}

static int start(bash_call *c, hob_error *err) {
    static const hob_job_handler handler = {on_output, on_ended};
    hob_str command = hob_json_get_str(c->base.args, "command");
    hob_buf cwd;
    int r = check_command(command, err);
    if (r < 0) return r;
    hob_buf_init(&cwd, 8 * 1024);
    r = find_folder(c, &cwd, err);
    if (r == HOB_OK) {
        char *text = hob_dupz(command);
        const char *argv[] = {c->builtins->shell, "-c", text, NULL};
        hob_job_opts o = {.argv = argv,
                          .envp = c->builtins->env.envp,
                          .cwd = hob_buf_z(&cwd),
                          .input = hob_json_get_str(c->base.args, "stdin"),
                          .timeout_ms = c->timeout_ms};
        r = hob_job_start(c->builtins->env.exec, &o, &handler, c, &c->job, err);
        hob_free(text);
    }
    hob_buf_finish(&cwd);
    return r;
}

static void run(const hob_tool_call *call, hob_reply *reply, void *user) {
    bash_call *c = HOB_NEW(bash_call);
    hob_error err = {.message = ""};
    c->builtins = user;
    if (hob_builtin_call_init(&c->base, user, call, reply) < 0) {
        hob_free(c);
        return;
    }
    c->base.cancel = cancel_call;
    int64_t seconds = hob_builtin_call_int(&c->base, "timeout_s", 0);
    c->timeout_ms = seconds ? seconds * 1000 : c->builtins->env.timeout_ms;
    hob_capture_init(&c->output, c->builtins->env.max_head, c->builtins->env.max_tail);
    if (start(c, &err) < 0) {
        hob_reply_error(reply, "not run: %s", err.message);
        free_call(c);
    }
}

const hob_tool hob_bash_tool = {
    .size = sizeof(hob_tool),
    .name = "bash",
    .description =
        "Runs a shell command in the workspace and returns its output (stdout and stderr together) "
        "and its exit code. Each call is a fresh shell: folder, variables and background "
        "processes do not last beyond it. Of long output the beginning and the end are kept.",
    .schema = "{\"type\":\"object\",\"properties\":{"
              "\"command\":{\"type\":\"string\",\"minLength\":1},"
              "\"timeout_s\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600,\"description\":"
              "\"seconds; usually 120 if not given\"},"
              "\"cwd\":{\"type\":\"string\",\"description\":"
              "\"folder beneath the workspace; its root if not given\"},"
              "\"stdin\":{\"type\":\"string\",\"description\":"
              "\"what the command reads; nothing if not given\"}},"
              "\"required\":[\"command\"],\"additionalProperties\":false}",
    .class_ = HOB_TOOL_UNSAFE,
    .timeout_ms = (MAX_TIMEOUT_S + 60) * (int64_t)1000, /* it has its own, which answers better */
    .run = run,
};
