/*
 * A reviewer loop: a writer and a reviewer take turns until the reviewer approves, or five rounds are over. Then a
 * condition decides: what was approved is published, what was not is put aside.
 *
 *     reviewer-loop FOLDER     FOLDER has loop.script.json, the model's part
 */
#include <hob/hob.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int rc, const hob_error *err) {
    if (rc >= 0) return;
    fprintf(stderr, "reviewer-loop: %s\n", err->message);
    exit(1);
}

/* ---- the agents ---------------------------------------------------------------------------------------------- */

static hob_agent *make(hob_agent_opts *o, hob_agent **agents, size_t n) {
    hob_agent *a;
    hob_error err;
    o->agents = agents;
    o->nagents = n;
    must(hob_agent_create(o, &a, &err), &err);
    for (size_t i = 0; i < n; i++) hob_agent_unref(agents[i]); /* the new one holds them now */
    return a;
}

static hob_agent *speaker(const char *name, const char *instruction, const char *key) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.instruction = instruction;
    o.output_key = key;
    return make(&o, NULL, 0);
}

/* A C function as an agent: it is told the state and answers. */
static void publish(const hob_agent_call *call, hob_reply *reply, void *user) {
    hob_str draft = hob_str_z("");
    (void)user;
    hob_state_get(call->state, hob_str_z("draft"), &draft);
    fprintf(stderr, "published: %.*s\n", (int)draft.n, draft.p);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("It is out."));
}

static hob_agent *make_desk(void) {
    hob_agent_opts loop = HOB_AGENT_OPTS_INIT, out = HOB_AGENT_OPTS_INIT;
    hob_agent_opts which = HOB_AGENT_OPTS_INIT, desk = HOB_AGENT_OPTS_INIT;
    hob_agent *pair[] = {
        speaker("writer", "Write a slogan. The last remark about yours: {remark?}", "draft"),
        speaker("reviewer",
                "Review this slogan: {draft}\nIf it is good, call exit_loop and say: approved. "
                "Otherwise say what to change.",
                "remark")};
    loop.name = "rounds";
    loop.kind = HOB_AGENT_LOOP;
    loop.max_iterations = 5;
    out.name = "publisher";
    out.kind = HOB_AGENT_CUSTOM;
    out.run = publish;
    hob_agent *choice[] = {make(&out, NULL, 0),
                           speaker("clerk", "Say that it is put aside.", NULL)};
    which.name = "which";
    which.kind = HOB_AGENT_CONDITIONAL;
    which.condition = "remark == \"approved\"";
    hob_agent *steps[] = {make(&loop, pair, 2), make(&which, choice, 2)};
    desk.name = "desk";
    desk.kind = HOB_AGENT_SEQUENTIAL;
    return make(&desk, steps, 2);
}

/* ---- the work -------------------------------------------------------------------------------------------------- */

static void tell(const hob_event *e) {
    char text[400];
    if (hob_event_type_of(e) != HOB_EVENT_ASSISTANT_MESSAGE) return;
    if (hob_event_text(e, text, sizeof text) <= 0) return;
    printf("%.*s: %s\n", (int)hob_event_agent(e).n, hob_event_agent(e).p, text);
}

int main(int argc, char **argv) {
    hob_runtime_opts ro = HOB_RUNTIME_OPTS_INIT;
    hob_session_opts so = HOB_SESSION_OPTS_INIT;
    hob_runtime *rt;
    hob_session *s;
    hob_event *e;
    hob_error err;
    char model[4096];
    snprintf(model, sizeof model, "scripted:%s/loop.script.json", argc > 1 ? argv[1] : ".");
    ro.store = "memory";
    so.model = model;
    so.team = make_desk();
    must(hob_runtime_create(&ro, &rt, &err), &err);
    must(hob_session_create(rt, &so, &s, &err), &err);
    must(hob_session_prompt(s, hob_str_z("A slogan for a house spirit."), &err), &err);
    while (hob_session_next_event(s, -1, &e) == 1) {
        tell(e);
        hob_event_unref(e);
    }
    hob_session_close(s);
    hob_runtime_destroy(rt);
    hob_agent_unref(so.team);
    return 0;
}
