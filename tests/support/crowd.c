#include "support/crowd.h"

#include <stdio.h>
#include <string.h>

static void name(const hob_tool_call *call, char out[200]) {
    snprintf(out, 200, "%.*s %.*s", (int)call->session.n, call->session.p, (int)call->call.n,
             call->call.p);
}

static void run(const hob_tool_call *call, hob_reply *reply, void *user) {
    crowd *c = user;
    pthread_mutex_lock(&c->lock);
    name(call, c->at[c->n].who);
    c->at[c->n++].reply = reply;
    c->started++;
    pthread_cond_broadcast(&c->cond);
    pthread_mutex_unlock(&c->lock);
}

static hob_reply *take(crowd *c, const char *who) {
    hob_reply *reply = NULL;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->n && !reply; i++) {
        if (who && strcmp(who, c->at[i].who)) continue;
        reply = c->at[i].reply;
        c->at[i] = c->at[--c->n];
    }
    pthread_mutex_unlock(&c->lock);
    return reply;
}

static void cancel(const hob_tool_call *call, int hard, void *user) {
    char who[200];
    (void)hard;
    name(call, who);
    hob_reply *reply = take(user, who);
    if (!reply) return;
    ((crowd *)user)->cancelled++;
    hob_reply_text(reply, HOB_OUTCOME_CANCELLED, hob_str_z("sent away"));
}

void crowd_init(crowd *c) {
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->cond, NULL);
    c->tool = (hob_tool)HOB_TOOL_INIT;
    c->tool.name = "gate";
    c->tool.description = "waits until it is let go";
    c->tool.class_ = HOB_TOOL_READ_ONLY;
    c->tool.run = run;
    c->tool.cancel = cancel;
    c->tool.user = c;
}

void crowd_finish(crowd *c) {
    pthread_cond_destroy(&c->cond);
    pthread_mutex_destroy(&c->lock);
}

void crowd_wait(crowd *c, int started) {
    pthread_mutex_lock(&c->lock);
    while (c->started < started) pthread_cond_wait(&c->cond, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void crowd_let_go(crowd *c, const char *answer) {
    hob_reply *reply;
    while ((reply = take(c, NULL))) hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z(answer));
}
