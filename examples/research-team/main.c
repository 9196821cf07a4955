/*
 * A research team: three agents look things up side by side, each puts what it found into the shared state, and a writer
 * makes one text of it.
 *
 *     research-team FOLDER     FOLDER has team.script.json, the model's part
 */
#include <hob/hob.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int rc, const hob_error *err) {
    if (rc >= 0) return;
    fprintf(stderr, "research-team: %s\n", err->message);
    exit(1);
}

/* ---- a tool: what a library of the team's would know ------------------------------------------------------- */

static void run_search(const hob_tool_call *call, hob_reply *reply, void *user) {
    static const char *const shelf[][2] = {{"nest", "Owls nest in hollow trees and old barns."},
                                           {"hunt", "They hear a mouse under the snow."},
                                           {"flight", "Their feathers make no sound."}};
    char args[200];
    (void)user;
    snprintf(args, sizeof args, "%.*s", (int)call->args.n, call->args.p);
    for (size_t i = 0; i < sizeof shelf / sizeof shelf[0]; i++)
        if (strstr(args, shelf[i][0])) {
            hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z(shelf[i][1]));
            return;
        }
    hob_reply_text(reply, HOB_OUTCOME_ERROR, hob_str_z("nothing is known of that"));
}

/* ---- the agents ---------------------------------------------------------------------------------------------- */

static hob_agent *make(const hob_agent_opts *o) {
    hob_agent *a;
    hob_error err;
    must(hob_agent_create(o, &a, &err), &err);
    return a;
}

static hob_agent *researcher(const char *topic, const hob_tool *search) {
    char instruction[200];
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    snprintf(instruction, sizeof instruction,
             "You look up one thing about owls: %s. Search, then answer in one sentence.", topic);
    o.name = topic;
    o.instruction = instruction;
    o.own_tools = search;
    o.nown_tools = 1;
    o.output_key = topic; /* its answer, for everybody */
    return make(&o);
}

static hob_agent *group(const char *name, hob_agent_kind kind, hob_agent **agents, size_t n) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.kind = kind;
    o.agents = agents;
    o.nagents = n;
    hob_agent *made = make(&o);
    for (size_t i = 0; i < n; i++) hob_agent_unref(agents[i]); /* the group holds them now */
    return made;
}

static hob_agent *make_team(void) {
    hob_tool search = HOB_TOOL_INIT;
    hob_agent_opts writer = HOB_AGENT_OPTS_INIT;
    search.name = "search";
    search.description = "Looks a word up.";
    search.schema = "{\"type\":\"object\",\"properties\":{\"word\":{\"type\":\"string\"}},"
                    "\"required\":[\"word\"]}";
    search.class_ = HOB_TOOL_READ_ONLY;
    search.run = run_search;
    hob_agent *three[] = {researcher("nest", &search), researcher("hunt", &search),
                          researcher("flight", &search)};
    writer.name = "writer";
    writer.instruction = "Write a paragraph from these notes:\n- {nest}\n- {hunt}\n- {flight}";
    writer.flags = HOB_AGENT_ISOLATE; /* the notes are all it needs */
    hob_agent *both[] = {group("research", HOB_AGENT_PARALLEL, three, 3), make(&writer)};
    return group("team", HOB_AGENT_SEQUENTIAL, both, 2);
}

/* ---- the work -------------------------------------------------------------------------------------------------- */

/* One line for each agent that comes to its end. */
static void tell(const hob_event *e) {
    char status[32];
    if (hob_event_type_of(e) != HOB_EVENT_AGENT_FINISHED) return;
    hob_event_field(e, "status", status, sizeof status);
    fprintf(stderr, "%.*s: %s\n", (int)hob_event_agent(e).n, hob_event_agent(e).p, status);
}

int main(int argc, char **argv) {
    hob_runtime_opts ro = HOB_RUNTIME_OPTS_INIT;
    hob_session_opts so = HOB_SESSION_OPTS_INIT;
    hob_runtime *rt;
    hob_session *s;
    hob_result *r;
    hob_event *e;
    hob_error err;
    char model[4096];
    snprintf(model, sizeof model, "scripted:%s/team.script.json", argc > 1 ? argv[1] : ".");
    ro.store = "memory";
    so.model = model;
    so.team = make_team();
    must(hob_runtime_create(&ro, &rt, &err), &err);
    must(hob_session_create(rt, &so, &s, &err), &err);
    must(hob_session_prompt(s, hob_str_z("Tell me about owls."), &err), &err);
    while (hob_session_next_event(s, -1, &e) == 1) {
        tell(e);
        hob_event_unref(e);
    }
    must(hob_session_wait(s, -1, &r, &err), &err);
    int code = hob_result_code(r);
    printf("%.*s\n", (int)hob_result_text(r).n, hob_result_text(r).p);
    hob_result_destroy(r);
    hob_session_close(s);
    hob_runtime_destroy(rt);
    hob_agent_unref(so.team);
    return code < 0;
}
