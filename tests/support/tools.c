#include "support/tools.h"
#include "support/check.h"
#include "support/job.h"

#include <stdio.h>
#include <unistd.h>

static void make_token(hob_test_tools *t) {
    uint64_t random;
    hob_random(&random, sizeof(random));
    snprintf(t->token, sizeof(t->token), "LC_HOB_TEST=%d-%016llx", (int)getpid(),
             (unsigned long long)random);
    t->envp[0] = "PATH=/usr/local/bin:/usr/bin:/bin";
    t->envp[1] = t->token;
}

int hob_test_tools_setup(void **state) {
    hob_test_tools *t = HOB_NEW(hob_test_tools);
    hob_error err;
    make_token(t);
    hob_test_folder_make(&t->folder);
    hob_test_mkdir(&t->folder, "proj");
    hob_str root = hob_str_z(hob_test_path(&t->folder, "proj"));
    assert_ok(hob_loop_create(NULL, &t->loop, &err), err);
    assert_ok(hob_pool_create(2, 16, &t->pool, &err), err);
    assert_ok(hob_workspace_open(&root, 1, &t->workspace, &err), err);
    t->exec = hob_test_exec(t->loop);
    t->tools = hob_tools_create();
    hob_tool_env env = {.loop = t->loop,
                        .pool = t->pool,
                        .exec = t->exec,
                        .workspace = t->workspace,
                        .envp = t->envp};
    assert_ok(hob_builtins_create(&env, t->tools, &t->builtins, &err), err);
    hob_buf_init(&t->args, 16 << 20);
    hob_buf_init(&t->output, 4 << 20);
    hob_buf_init(&t->content, 64 << 20);
    hob_buf_init(&t->text, 64 << 20);
    *state = t;
    return 0;
}

int hob_test_tools_teardown(void **state) {
    hob_test_tools *t = *state;
    hob_builtins_destroy(t->builtins);
    hob_tools_destroy(t->tools);
    hob_workspace_close(t->workspace);
    hob_exec_destroy(t->exec);
    hob_pool_destroy(t->pool);
    hob_loop_destroy(t->loop);
    hob_test_folder_remove(&t->folder);
    hob_buf_finish(&t->args);
    hob_buf_finish(&t->output);
    hob_buf_finish(&t->content);
    hob_buf_finish(&t->text);
    hob_free(t);
    return 0;
}

static void on_output(void *user, hob_str chunk) {
    hob_test_tools *t = user;
    assert_true(hob_utf8_valid(chunk));
    t->outputs++;
    hob_buf_add(&t->output, chunk);
}

static void join_text(hob_test_tools *t) {
    hob_arena *arena = hob_arena_create(0);
    const hob_json *v = NULL;
    hob_error err;
    assert_ok(hob_json_parse(arena, hob_buf_str(&t->content), NULL, &v, &err), err);
    for (const hob_json *b = hob_json_first(v); b; b = hob_json_next(b))
        hob_buf_add(&t->text, hob_json_get_str(b, "text"));
    assert_true(hob_utf8_valid(hob_buf_str(&t->text)));
    hob_arena_destroy(arena);
}

static void on_done(void *user, const hob_tool_result *r) {
    hob_test_tools *t = user;
    t->done++;
    t->reply = NULL;
    t->outcome = r->outcome;
    t->exit_code = r->exit_code;
    t->truncated = r->truncated;
    hob_buf_add(&t->content, r->content);
    join_text(t);
}

static const hob_tool *find(hob_test_tools *t, const char *tool) {
    const hob_tool *found = hob_tools_find(t->tools, hob_str_z(tool));
    assert_non_null(found);
    return found;
}

void hob_test_tool_start(hob_test_tools *t, const char *tool, const char *args) {
    static const hob_reply_handler handler = {on_output, on_done};
    const hob_tool *found = find(t, tool);
    hob_error err;
    assert_ok(hob_tools_check(t->tools, found, hob_str_z(args), &err), err);
    hob_buf_reset(&t->args);
    hob_buf_reset(&t->output);
    hob_buf_reset(&t->content);
    hob_buf_reset(&t->text);
    t->done = t->outputs = 0;
    hob_buf_addz(&t->args, args);
    t->call = (hob_tool_call){.size = sizeof(hob_tool_call),
                              .session = HOB_STR("s"),
                              .run = HOB_STR("r"),
                              .call = HOB_STR("m1.0"),
                              .tool = hob_str_z(tool),
                              .args = hob_buf_str(&t->args),
                              .cwd = hob_workspace_root(t->workspace, 0)};
    t->reply = hob_reply_create(t->loop, &handler, t);
    found->run(&t->call, t->reply, found->user);
}

void hob_test_tool_wait(hob_test_tools *t) {
    while (!t->done) hob_loop_run_once(t->loop, -1);
}

void hob_test_tool_until(hob_test_tools *t, const char *word) {
    while (!t->done && hob_str_find(hob_buf_str(&t->output), hob_str_z(word)) < 0)
        hob_loop_run_once(t->loop, -1);
    assert_false(t->done);
}

void hob_test_tool_cancel(hob_test_tools *t, int hard) {
    const hob_tool *found = hob_tools_find(t->tools, t->call.tool);
    found->cancel(&t->call, hard, found->user);
}

hob_str hob_test_tool(hob_test_tools *t, const char *tool, const char *args) {
    hob_test_tool_start(t, tool, args);
    hob_test_tool_wait(t);
    return hob_buf_str(&t->text);
}

const char *hob_test_tool_check(hob_test_tools *t, const char *tool, const char *args) {
    static hob_error err;
    int r = hob_tools_check(t->tools, find(t, tool), hob_str_z(args), &err);
    return r < 0 ? err.message : "";
}
