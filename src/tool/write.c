/*
 * write.c - the tool `write`.
 */
#include "tool/builtin.h"

#include <errno.h>
#include <unistd.h>

#define BEFORE_MAX (2 * 1024 * 1024) /* bytes of the old text that the back end is shown */

static void answer(hob_file_call *f, int how, hob_str path, size_t bytes) {
    hob_buf words;
    hob_buf_init(&words, 16 * 1024);
    hob_buf_addf(&words, "%s %.*s (%zu bytes)", how == HOB_WRITE_CREATED ? "created" : "overwrote",
                 HOB_FMT(path), bytes);
    if (how == HOB_WRITE_SPLIT)
        hob_buf_addz(&words, "; the file had other names (hard links), which keep the old content");
    hob_reply_text(f->base.reply, HOB_OUTCOME_OK, hob_buf_str(&words));
    hob_buf_finish(&words);
}

static void run_work(hob_file_call *f);

/* ---- the back end writes it --------------------------------------------------------------------- */

static void on_answer(hob_asked *q, const hob_tool_result *result) {
    hob_file_call *f = HOB_CONTAINER(q, hob_file_call, asked);
    if (result->passed) {
        f->told = true;
        hob_file_call_again(f, run_work);
        return;
    }
    f->answer = hob_asked_text(result, f->base.arena);
    if (result->outcome == HOB_OUTCOME_OK)
        answer(f, f->what.existed ? HOB_WRITE_REPLACED : HOB_WRITE_CREATED,
               hob_json_get_str(f->base.args, "path"), f->what.content.n);
    else
        hob_reply_error(f->base.reply, "not written: %s: %.*s", f->backend.name,
                        HOB_FMT(hob_str_first(f->answer, hob_utf8_prefix(f->answer, 300))));
    hob_file_call_end(f);
}

static void ask(hob_file_call *f) {
    f->firm = true;
    hob_file_call_ask(f, f->backend.write, on_answer);
}

static bool read_all(int fd, hob_buf *out) {
    char piece[16 * 1024];
    ssize_t n;
    while ((n = read(fd, piece, sizeof piece)) != 0 && !out->err) {
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) hob_buf_add(out, hob_str_n(piece, (size_t)n));
    }
    return !out->err && hob_utf8_valid(hob_buf_str(out)) &&
           !memchr(out->p ? out->p : "", 0, out->n);
}

static void find_before(hob_file_call *f, hob_str real) {
    hob_buf text;
    int fd = -1;
    int code = hob_workspace_open_file(f->workspace, real, &fd, NULL);
    hob_buf_init(&text, BEFORE_MAX);
    f->what.existed = code == HOB_ENOENT ? 0 : -1;
    if (code >= 0 && read_all(fd, &text)) {
        f->what.existed = 1;
        f->what.before = hob_arena_dup(f->base.arena, hob_buf_str(&text));
    }
    if (fd >= 0) close(fd);
    hob_buf_finish(&text);
}

static void prepare(hob_file_call *f, hob_str real, hob_str content) {
    hob_error err = {.message = ""};
    hob_buf name;
    hob_buf_init(&name, 16 * 1024);
    if (hob_workspace_name(f->workspace, real, HOB_WORKSPACE_WRITE, &name, &err) < 0) {
        hob_reply_error(f->base.reply, "not written: %s", err.message);
    } else {
        f->what.path = hob_arena_dup(f->base.arena, hob_buf_str(&name));
        f->what.content = content;
        find_before(f, real);
        f->next = ask;
    }
    hob_buf_finish(&name);
}

/* ---- the call ---------------------------------------------------------------------------------- */

/* A file is replaced in one step, so there is nothing to cancel once that has begun. */
static void run_work(hob_file_call *f) {
    hob_str path = hob_json_get_str(f->base.args, "path"), real;
    hob_str content = hob_json_get_str(f->base.args, "content");
    hob_error err = {.message = ""};
    if (atomic_load(&f->cancelled)) {
        hob_reply_text(f->base.reply, HOB_OUTCOME_CANCELLED, HOB_STR("cancelled, nothing written"));
        return;
    }
    if (!hob_file_call_path(f, &hob_write_tool, &real)) return;
    if (f->backend.write && !f->told) {
        prepare(f, real, content);
        return;
    }
    int r = hob_workspace_write(f->workspace, real, content, &err);
    if (r < 0)
        hob_reply_error(f->base.reply, "not written: %s", err.message);
    else
        answer(f, r, path, content.n);
}

static void run(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_file_call_start(user, call, reply, run_work);
}

const hob_tool hob_write_tool = {
    .size = sizeof(hob_tool),
    .name = "write",
    .description = "Writes a file in the workspace: creates it, with missing folders, or replaces "
                   "all of its content. The change is atomic.",
    .schema = "{\"type\":\"object\",\"properties\":{"
              "\"path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"relative to the workspace, or absolute inside it\"},"
              "\"content\":{\"type\":\"string\",\"description\":\"the whole new content\"}},"
              "\"required\":[\"path\",\"content\"],\"additionalProperties\":false}",
    .class_ = HOB_TOOL_IDEMPOTENT,
    .timeout_ms = 60 * 1000,
    .run = run,
};
