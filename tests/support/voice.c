#include "support/voice.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

void voice_note(voice *v, const char *what) {
    if (!v->journal) return;
    size_t n = strlen(v->journal);
    snprintf(v->journal + n, JOURNAL_MAX - n, "%s%s%s ", v->name, *v->name ? "." : "", what);
}

static void keep(char *out, size_t cap, hob_str s) {
    snprintf(out, cap, "%.*s", (int)s.n, s.p);
}

static void answer(voice *v, point p, hob_reply *reply) {
    hob_error err;
    if (v->delta[p])
        assert_ok(hob_reply_state(reply, hob_str_z(v->delta[p]), hob_str_z(""), &err), err);
    if (v->transfer && p == AFTER_MODEL)
        assert_ok(hob_reply_transfer(reply, hob_str_z(v->transfer), &err), err);
    if (v->escalate && p == AFTER_MODEL) hob_reply_escalate(reply);
    if (v->says[p])
        hob_reply_text(reply, v->outcome[p], hob_str_z(v->says[p]));
    else
        hob_reply_pass(reply);
}

static void hear(voice *v, point p, const char *what, const hob_agent_call *call,
                 hob_reply *reply) {
    hob_str value;
    voice_note(v, what);
    keep(v->content, sizeof v->content, call->content);
    keep(v->args, sizeof v->args, call->args);
    if (v->reads && hob_state_get(call->state, hob_str_z(v->reads), &value) >= 0)
        keep(v->read, sizeof v->read, value);
    if (!v->waits) {
        answer(v, p, reply);
        return;
    }
    pthread_mutex_lock(&v->lock);
    v->reply = reply;
    pthread_cond_broadcast(&v->cond);
    pthread_mutex_unlock(&v->lock);
}

#define POINT(NAME, name)                                                                          \
    static void on_##name(const hob_agent_call *call, hob_reply *reply, void *user) {              \
        hear(user, NAME, #name, call, reply);                                                      \
    }
POINT(BEFORE_AGENT, before_agent)
POINT(AFTER_AGENT, after_agent)
POINT(BEFORE_MODEL, before_model)
POINT(AFTER_MODEL, after_model)
POINT(BEFORE_TOOL, before_tool)
POINT(AFTER_TOOL, after_tool)

void voice_init(voice *v, const char *name, char *journal) {
    memset(v, 0, sizeof *v);
    v->name = name;
    v->journal = journal;
    pthread_mutex_init(&v->lock, NULL);
    pthread_cond_init(&v->cond, NULL);
    v->callbacks =
        (hob_agent_callbacks){sizeof v->callbacks, on_before_agent, on_after_agent, on_before_model,
                              on_after_model,      on_before_tool,  on_after_tool,  v};
}

void voice_finish(voice *v) {
    pthread_cond_destroy(&v->cond);
    pthread_mutex_destroy(&v->lock);
}

void voice_only(voice *v, point p) {
    hob_agent_fn *all[] = {&v->callbacks.before_agent, &v->callbacks.after_agent,
                           &v->callbacks.before_model, &v->callbacks.after_model,
                           &v->callbacks.before_tool,  &v->callbacks.after_tool};
    for (int i = 0; i < 6; i++)
        if (i != (int)p) *all[i] = NULL;
}

hob_reply *voice_wait(voice *v) {
    pthread_mutex_lock(&v->lock);
    while (!v->reply) pthread_cond_wait(&v->cond, &v->lock);
    hob_reply *r = v->reply;
    v->reply = NULL;
    pthread_mutex_unlock(&v->lock);
    return r;
}

hob_agent *voice_agent(const char *name, voice *v) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.instruction = name;
    o.callbacks = &v->callbacks;
    return llm_with(&o);
}

static const char script[] = "{'rules':[{'when':{'step':1},'reply':[{'tool':'quick','args':{}}]},"
                             "{'reply':[{'text':'seen: {{result}}'}]}]}";

void talked_init(talked *f, const char *store) {
    memset(f, 0, sizeof *f);
    host_init(&f->h, script);
    f->h.ro.store = store;
    voice_init(&f->plugin, "P", f->journal);
    f->tool = host_tool("quick", HOB_TOOL_READ_ONLY, &f->ran);
    f->h.so.tools = &f->tool;
    f->h.so.ntools = 1;
    f->h.so.callbacks = &f->plugin.callbacks;
}

void talked_open(talked *f, hob_agent *team) {
    f->h.so.team = team;
    host_open(&f->h);
    hob_agent_unref(team);
    f->h.so.team = NULL;
}

void talked_finish(talked *f) {
    host_finish(&f->h);
    voice_finish(&f->plugin);
}
