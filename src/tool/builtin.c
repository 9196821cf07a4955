/*
 * builtin.c - read, write and bash as a set: their calls under way, and file work on the pool.
 *
 * A call ends by its answer. Until then it is in the list, so that a cancel finds it.
 */
#include "tool/builtin.h"

#include <stdio.h>
#include <unistd.h>

#define DEFAULT_KEPT (32 * 1024)
#define DEFAULT_TIMEOUT_MS (120 * 1000)
#define LARGEST 9e15 /* exact as a double, and more than anybody means */
#define MAX_ARGS_MEMORY ((size_t)512 * 1024 * 1024)

/* ---- calls --------------------------------------------------------------------------------- */

/* The arguments were checked against the schema; they are parsed again because they outlive that. */
int hob_builtin_call_init(hob_builtin_call *c, hob_builtins *b, const hob_tool_call *call,
                          hob_reply *reply) {
    hob_list_init(&c->link);
    c->reply = reply;
    c->arena = hob_arena_create(MAX_ARGS_MEMORY);
    c->session = hob_arena_dup(c->arena, call->session);
    c->id = hob_arena_dup(c->arena, call->call);
    hob_error err = {.message = ""};
    hob_str args = hob_str_trim(call->args).n ? call->args : HOB_STR("{}");
    int r = hob_json_parse(c->arena, hob_arena_dup(c->arena, args), NULL, &c->args, &err);
    if (r < 0) {
        hob_reply_error(reply, "the arguments cannot be used: %s", err.message);
        hob_arena_destroy(c->arena);
        return r;
    }
    hob_list_push(&b->calls, &c->link);
    return HOB_OK;
}

void hob_builtin_call_finish(hob_builtin_call *c) {
    hob_list_remove(&c->link);
    hob_arena_destroy(c->arena);
}

int64_t hob_builtin_call_int(const hob_builtin_call *c, const char *key, int64_t otherwise) {
    const hob_json *v = hob_json_get(c->args, key);
    int64_t i;
    if (!hob_json_is(v, HOB_JSON_NUMBER)) return otherwise;
    if (hob_json_int(v, &i) == HOB_OK) return i;
    double d = hob_json_double(v);
    return d >= LARGEST ? (int64_t)LARGEST : d <= -LARGEST ? -(int64_t)LARGEST : (int64_t)d;
}

static void cancel(const hob_tool_call *call, int hard, void *user) {
    hob_builtins *b = user;
    HOB_LIST_EACH_SAFE (it, &b->calls) {
        hob_builtin_call *c = HOB_CONTAINER(it, hob_builtin_call, link);
        if (!hob_str_eq(c->id, call->call) || !hob_str_eq(c->session, call->session)) continue;
        c->cancel(c, hard != 0, false);
        return;
    }
}

void hob_reply_error(hob_reply *r, const char *fmt, ...) {
    va_list args;
    hob_error words;
    va_start(args, fmt);
    vsnprintf(words.message, sizeof(words.message), fmt, args);
    va_end(args);
    hob_reply_text(r, HOB_OUTCOME_ERROR, hob_str_z(words.message));
}

/* ---- file work ----------------------------------------------------------------------------- */

static void on_work(hob_work *w) {
    hob_file_call *f = HOB_CONTAINER(w, hob_file_call, work);
    f->run(f);
}

void hob_file_call_end(hob_file_call *f) {
    hob_asked_drop(&f->asked);
    hob_workspace_close(f->workspace);
    hob_policy_destroy(f->policy);
    hob_builtin_call_finish(&f->base);
    hob_free(f);
}

static void on_work_done(hob_work *w) {
    hob_file_call *f = HOB_CONTAINER(w, hob_file_call, work);
    void (*next)(hob_file_call * f) = f->next;
    f->next = NULL;
    if (next && f->b && !atomic_load(&f->cancelled)) {
        next(f);
        return;
    }
    if (w->dropped || next)
        hob_reply_text(f->base.reply, HOB_OUTCOME_CANCELLED, HOB_STR("cancelled before it began"));
    hob_file_call_end(f);
}

/* What is on a worker ends by itself. What the back end does is given up, unless it may be done already: then its answer
 * is worth waiting for, as long as the run does. */
static void cancel_file_call(hob_builtin_call *c, bool hard, bool gone) {
    hob_file_call *f = HOB_CONTAINER(c, hob_file_call, base);
    (void)hard;
    atomic_store(&f->cancelled, true);
    if (gone) {
        hob_list_remove(&c->link);
        f->b = NULL;
    }
    if (!f->asked.reply || (f->firm && !gone)) return;
    if (f->firm)
        hob_reply_text(f->base.reply, HOB_OUTCOME_UNKNOWN, HOB_STR("unknown: no answer came"));
    else
        hob_reply_text(f->base.reply, HOB_OUTCOME_CANCELLED, HOB_STR("cancelled"));
    hob_file_call_end(f);
}

static void submit(hob_file_call *f) {
    if (hob_pool_submit(f->pool, f->loop, &f->work) >= 0) return;
    hob_reply_error(f->base.reply, "too much is going on at once; try again");
    hob_file_call_end(f);
}

void hob_file_call_start(hob_builtins *b, const hob_tool_call *call, hob_reply *reply,
                         void (*run)(hob_file_call *f)) {
    hob_file_call *f = HOB_NEW(hob_file_call);
    if (hob_builtin_call_init(&f->base, b, call, reply) < 0) {
        hob_free(f);
        return;
    }
    f->base.cancel = cancel_file_call;
    f->b = b;
    f->pool = b->env.pool;
    f->loop = b->env.loop;
    if (b->env.backend) {
        f->backend = *b->env.backend;
        f->backend.name = hob_arena_dup(f->base.arena, hob_str_z(f->backend.name)).p;
    }
    f->workspace = hob_workspace_ref(b->env.workspace);
    f->policy = hob_policy_ref((hob_policy *)(uintptr_t)b->env.policy);
    f->run = run;
    f->work.work = on_work;
    f->work.done = on_work_done;
    submit(f);
}

void hob_file_call_again(hob_file_call *f, void (*run)(hob_file_call *f)) {
    f->run = run;
    submit(f);
}

void hob_file_call_ask(hob_file_call *f, hob_backend_fn *fn,
                       void (*answered)(hob_asked *q, const hob_tool_result *r)) {
    f->what.session = f->base.session;
    f->what.call = f->base.id;
    f->asked.answered = answered;
    hob_asked_start(&f->asked, f->b, &f->what, fn);
}

/* ---- links: the decision was made on the name of the file, which says nothing of where it is ---- */

static void ask_policy(hob_file_call *f, const hob_tool *tool, hob_str path,
                       hob_policy_answer *out) {
    hob_buf args;
    hob_jsonw w;
    hob_buf_init(&args, 64 * 1024);
    hob_jsonw_init(&w, &args);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "path", path);
    hob_jsonw_object_end(&w);
    hob_policy_check(f->policy, hob_str_z(tool->name), tool->class_, hob_buf_str(&args), out);
    hob_buf_finish(&args);
}

/* What needs more than the name did is asked for by its own. */
static bool may_follow(hob_file_call *f, const hob_tool *tool, hob_str asked, hob_str real) {
    hob_policy_answer name, target;
    if (!f->policy) return true;
    ask_policy(f, tool, asked, &name);
    ask_policy(f, tool, real, &target);
    if (target.decision <= name.decision) return true;
    hob_reply_error(f->base.reply, "refused: %.*s is a link that leads to %.*s: %s",
                    HOB_FMT(hob_str_first(asked, 300)), HOB_FMT(hob_str_first(real, 300)),
                    target.decision == HOB_DENY && target.reason[0] ? target.reason
                                                                    : "name that path itself");
    return false;
}

bool hob_file_call_path(hob_file_call *f, const hob_tool *tool, hob_str *out) {
    hob_str asked = hob_json_get_str(f->base.args, "path");
    hob_buf real;
    hob_error err = {.message = ""};
    hob_buf_init(&real, 16 * 1024);
    int r = hob_workspace_follow(f->workspace, asked, &real, &err);
    bool may = r >= 0;
    if (r < 0) hob_reply_error(f->base.reply, "%s", err.message);
    if (r > 0) may = may_follow(f, tool, asked, hob_buf_str(&real));
    *out = r > 0 ? hob_arena_dup(f->base.arena, hob_buf_str(&real)) : asked;
    hob_buf_finish(&real);
    return may;
}

/* ---- the set ------------------------------------------------------------------------------- */

static int add_tools(hob_builtins *b, hob_tools *t, hob_error *err) {
    const hob_tool *all[] = {&hob_read_tool, &hob_write_tool, &hob_bash_tool};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) {
        hob_tool tool = *all[i];
        tool.cancel = cancel;
        tool.user = b;
        int r = hob_tools_add_lasting(t, &tool, err);
        while (r < 0 && i > 0) hob_tools_remove(t, hob_str_z(all[--i]->name));
        if (r < 0) return r;
    }
    return HOB_OK;
}

int hob_builtins_create(const hob_tool_env *env, hob_tools *t, hob_builtins **out, hob_error *err) {
    hob_builtins *b = HOB_NEW(hob_builtins);
    b->env = *env;
    if (!b->env.max_head) b->env.max_head = DEFAULT_KEPT;
    if (!b->env.max_tail) b->env.max_tail = DEFAULT_KEPT;
    if (b->env.timeout_ms <= 0) b->env.timeout_ms = DEFAULT_TIMEOUT_MS;
    b->shell = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
    hob_list_init(&b->calls);
    int r = add_tools(b, t, err);
    if (r < 0) {
        hob_free(b);
        return r;
    }
    *out = b;
    return HOB_OK;
}

void hob_builtins_set_policy(hob_builtins *b, const hob_policy *p) {
    b->env.policy = p;
}

void hob_builtins_destroy(hob_builtins *b) {
    if (!b) return;
    HOB_LIST_EACH_SAFE (it, &b->calls) {
        hob_builtin_call *c = HOB_CONTAINER(it, hob_builtin_call, link);
        c->cancel(c, true, true);
    }
    hob_free(b);
}
