/*
 * session/subagent.h - a conversation that a host holds with one agent, from the inside.
 */
#ifndef HOB_SRC_SESSION_SUBAGENT_H
#define HOB_SRC_SESSION_SUBAGENT_H

#include "session/task.h"

struct hob_subagent {
    hob_runtime *rt;
    hob_session *parent, *s;
    hob_agent *agent; /* a reference, or NULL */
    hob_arena *arena;
    hob_inherited given;
    char name[72];
    int parent_depth, max_depth;
    unsigned flags;
    hob_subagent_event_fn on_event;
    void *user;
    hob_timer look;
    /* the turn under way */
    hob_limits own, granted; /* its own; of the parent's run, for this turn */
    uint64_t before;         /* the entry that the conversation stood at; 0 = none */
    hob_result *result;
    /* protected by rt->lock */
    int turns;
    bool busy;
};

void hob_subagent_on_look(hob_timer *t);
void hob_subagent_on_event(hob_session *s, hob_event *e, void *user);

#endif
