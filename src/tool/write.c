/*
 * write.c - the tool `write`.
 */
#include "tool/builtin.h"

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
