/*
 * bash.c - the tool `bash`: one command in a fresh shell.
 *
 * The command's output is kept head and tail; what came and how it ended is the answer, also of a command
 * that failed, timed out or was cancelled.
 */
#include "tool/builtin.h"

#include <signal.h>

#define MAX_TIMEOUT_S 3600
#define ANSWER_MS 5000           /* for a back end to end what took too long */
#define MAX_COMMAND (100 * 1024) /* the kernel takes 128 KiB in one argument */

typedef struct bash_call {
    hob_builtin_call base;
    hob_builtins *builtins;
    hob_job *job;
    hob_asked asked; /* instead of the job: the back end runs it */
    hob_timer timeout;
    bool timed_out, cancelled;
    bool passed; /* the back end left it to us */
    hob_capture output;
    int64_t timeout_ms;
} bash_call;

static void free_call(bash_call *c) {
    hob_job_destroy(c->job);
    hob_asked_drop(&c->asked);
    hob_timer_stop(&c->timeout);
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
    c->cancelled = true;
    if (c->asked.reply) hob_asked_cancel(&c->asked, hard || gone);
    if (!gone) {
        if (!c->job) return; /* the back end answers */
        hob_job_cancel(c->job, hard);
        return;
    }
    answer(c, &(hob_job_result){.end = HOB_JOB_CANCELLED});
    free_call(c);
}

static void ask(bash_call *c, hob_str command, hob_str cwd);
static void on_timeout(hob_timer *t);

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

static int start_job(bash_call *c, hob_str command, const char *cwd, hob_error *err) {
    static const hob_job_handler handler = {on_output, on_ended};
    char *text = hob_dupz(command);
    const char *argv[] = {c->builtins->shell, "-c", text, NULL};
    hob_job_opts o = {.argv = argv,
                      .envp = c->builtins->env.envp,
                      .cwd = cwd,
                      .input = hob_json_get_str(c->base.args, "stdin"),
                      .timeout_ms = c->timeout_ms};
    int r = hob_job_start(c->builtins->env.exec, &o, &handler, c, &c->job, err);
    hob_free(text);
    return r;
}

static int start(bash_call *c, hob_error *err) {
    const hob_backend_ops *backend = c->builtins->env.backend;
    hob_str command = hob_json_get_str(c->base.args, "command");
    hob_buf cwd;
    int r = check_command(command, err);
    if (r < 0) return r;
    hob_buf_init(&cwd, 8 * 1024);
    r = find_folder(c, &cwd, err);
    bool other = backend && backend->run && !c->passed && !hob_json_get(c->base.args, "stdin");
    if (r == HOB_OK && other)
        ask(c, command, hob_buf_str(&cwd));
    else if (r == HOB_OK)
        r = start_job(c, command, hob_buf_z(&cwd), err);
    hob_buf_finish(&cwd);
    return r;
}

/* ---- a back end that runs it ---------------------------------------------------------------------- */

static void on_asked_output(hob_asked *q, hob_str chunk) {
    on_output(HOB_CONTAINER(q, bash_call, asked), chunk);
}

/* The whole output counts, if it comes. */
static void take_output(bash_call *c, const hob_tool_result *r) {
    hob_str text = hob_asked_text(r, c->base.arena);
    if (!text.n) return;
    hob_capture_finish(&c->output);
    hob_capture_init(&c->output, c->builtins->env.max_head, c->builtins->env.max_tail);
    if (r->truncated) hob_capture_add(&c->output, HOB_STR("[\xE2\x80\xA6]\n"));
    hob_capture_add(&c->output, text);
}

static void refuse(bash_call *c, const hob_tool_result *r) {
    hob_str why = hob_asked_text(r, c->base.arena);
    hob_reply_error(c->base.reply, "not run: %s: %.*s", c->builtins->env.backend->name,
                    HOB_FMT(hob_str_first(why, hob_utf8_prefix(why, 300))));
}

static void on_answer(hob_asked *q, const hob_tool_result *r) {
    bash_call *c = HOB_CONTAINER(q, bash_call, asked);
    hob_error err = {.message = ""};
    hob_timer_stop(&c->timeout);
    if (r->passed) {
        c->passed = true;
        if (start(c, &err) >= 0) return;
        hob_reply_error(c->base.reply, "not run: %s", err.message);
    } else if (r->outcome != HOB_OUTCOME_OK) {
        refuse(c, r);
    } else {
        take_output(c, r);
        hob_job_end end = c->timed_out   ? HOB_JOB_TIMED_OUT
                          : c->cancelled ? HOB_JOB_CANCELLED
                                         : HOB_JOB_EXITED;
        answer(c, &(hob_job_result){.end = end, .status = r->exit_code});
    }
    free_call(c);
}

/* It is told to end, and then gets a moment to say what it printed. */
static void on_timeout(hob_timer *t) {
    bash_call *c = HOB_CONTAINER(t, bash_call, timeout);
    if (!c->timed_out) {
        c->timed_out = true;
        hob_timer_start(t, hob_loop_now(c->builtins->env.loop) + ANSWER_MS);
        hob_asked_cancel(&c->asked, false);
        return;
    }
    answer(c, &(hob_job_result){.end = HOB_JOB_TIMED_OUT});
    free_call(c);
}

static void ask(bash_call *c, hob_str command, hob_str cwd) {
    const hob_tool_env *env = &c->builtins->env;
    hob_backend_call what = {.session = c->base.session,
                             .call = c->base.id,
                             .command = command,
                             .cwd = cwd,
                             .timeout_ms = c->timeout_ms,
                             .output_max = env->max_head + env->max_tail};
    c->asked.output = on_asked_output;
    c->asked.answered = on_answer;
    hob_timer_start(&c->timeout, hob_loop_now(env->loop) + c->timeout_ms);
    hob_asked_start(&c->asked, c->builtins, &what, env->backend->run);
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
    hob_timer_init(&c->timeout, c->builtins->env.loop, on_timeout);
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
