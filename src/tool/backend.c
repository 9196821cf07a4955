/*
 * backend.c - work that somebody else does: one question, one answer, and giving up.
 */
#include "tool/builtin.h"

static void on_output(void *user, hob_str chunk) {
    hob_asked *q = user;
    if (q->output) q->output(q, chunk);
}

static void on_done(void *user, const hob_tool_result *r) {
    hob_asked *q = user;
    q->reply = NULL;
    q->call = NULL;
    q->answered(q, r);
}

static hob_backend_call *copy(const hob_backend_call *what, hob_arena *a) {
    hob_backend_call *c = HOB_ARENA_NEW(a, hob_backend_call);
    *c = *what;
    c->size = sizeof *c;
    c->session = hob_arena_dup(a, what->session);
    c->call = hob_arena_dup(a, what->call);
    c->path = hob_arena_dup(a, what->path);
    c->content = hob_arena_dup(a, what->content);
    c->before = hob_arena_dup(a, what->before);
    c->command = hob_arena_dup(a, what->command);
    c->cwd = hob_arena_dup(a, what->cwd);
    return c;
}

void hob_asked_start(hob_asked *q, hob_builtins *b, const hob_backend_call *what,
                     hob_backend_fn *fn) {
    static const hob_reply_handler handler = {on_output, on_done};
    hob_arena *a = hob_arena_create(0);
    q->b = b;
    q->call = copy(what, a);
    q->reply = hob_reply_create(b->env.loop, &handler, q);
    hob_reply_keep(q->reply, a);
    fn(q->call, q->reply, b->env.backend_user);
}

void hob_asked_cancel(hob_asked *q, bool hard) {
    const hob_backend_ops *ops = q->reply ? q->b->env.backend : NULL;
    if (ops && ops->cancel) ops->cancel(q->call, hard, q->b->env.backend_user);
}

void hob_asked_drop(hob_asked *q) {
    hob_reply_drop(q->reply);
    q->reply = NULL;
    q->call = NULL;
}

hob_str hob_asked_text(const hob_tool_result *r, hob_arena *a) {
    const hob_json *list = NULL;
    if (hob_json_parse(a, hob_arena_dup(a, r->content), NULL, &list, NULL) < 0) return HOB_STR("");
    return hob_json_get_str(hob_json_first(list), "text");
}
