/*
 * An orchestrator: a session whose model hands two tasks to sub-agents in the background and is told of their ends. The
 * program watches them at work, and afterwards holds a conversation with one sub-agent itself.
 *
 *     orchestrator FOLDER     FOLDER has orchestrator.script.json, the model's part
 */
#include <hob/hob.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int rc, const hob_error *err) {
    if (rc >= 0) return;
    fprintf(stderr, "orchestrator: %s\n", err->message);
    exit(1);
}

/* Agents as values; nothing is read from disk. */
static void add_agents(hob_session *s) {
    hob_definition team[2] = {HOB_DEFINITION_INIT, HOB_DEFINITION_INIT};
    hob_error err;
    team[0].name = hob_str_z("counter");
    team[0].description = hob_str_z("counts things");
    team[0].text = hob_str_z("You count.");
    team[1].name = hob_str_z("critic");
    team[1].description = hob_str_z("finds what can go wrong");
    team[1].text = hob_str_z("You find risks.");
    must(hob_session_register_worker_agents(s, team, 2, &err), &err);
}

static void tell(const hob_event *e) {
    char agent[80] = "", status[32] = "", text[400] = "";
    hob_event_field(e, "agent", agent, sizeof agent);
    hob_event_field(e, "status", status, sizeof status);
    switch ((int)hob_event_type_of(e)) {
    case HOB_EVENT_CHILD_STARTED: printf("started: %s\n", agent); break;
    case HOB_EVENT_CHILD_FINISHED:
        hob_event_text(e, text, sizeof text);
        printf("%s: %s: %s\n", status, agent, text);
        break;
    case HOB_EVENT_ASSISTANT_MESSAGE:
        if (hob_event_text(e, text, sizeof text) > 0) printf("orchestrator: %s\n", text);
        break;
    default: break;
    }
}

static void list(hob_session *s) {
    hob_page *tasks;
    hob_error err;
    must(hob_session_subagent_tasks(s, &tasks, &err), &err);
    for (size_t i = 0; i < hob_page_count(tasks); i++) {
        char agent[80], status[32];
        hob_json_field(hob_page_row(tasks, i), "agent", agent, sizeof agent);
        hob_json_field(hob_page_row(tasks, i), "status", status, sizeof status);
        printf("task %zu: %s, %s\n", i + 1, agent, status);
    }
    hob_page_destroy(tasks);
}

/* The same agent, asked twice: the second question builds on the first. */
static void talk(hob_session *parent) {
    hob_subagent_opts o = HOB_SUBAGENT_OPTS_INIT;
    hob_subagent *critic;
    hob_result *r;
    hob_error err;
    o.parent = parent;
    o.agent_name = "critic";
    must(hob_subagent_create(NULL, &o, &critic, &err), &err);
    must(hob_subagent_send(critic, hob_str_z("name the risks"), -1, &r, &err), &err);
    hob_result_destroy(r);
    must(hob_subagent_send(critic, hob_str_z("more risks?"), -1, &r, &err), &err);
    printf("after %d turns: %.*s\n", hob_subagent_turns(critic), (int)hob_result_text(r).n,
           hob_result_text(r).p);
    hob_result_destroy(r);
    hob_subagent_destroy(critic);
}

int main(int argc, char **argv) {
    char model[400];
    hob_runtime_opts ro = HOB_RUNTIME_OPTS_INIT;
    hob_session_opts so = HOB_SESSION_OPTS_INIT;
    hob_runtime *rt;
    hob_session *s;
    hob_event *e;
    hob_error err;
    snprintf(model, sizeof model, "scripted:%s/orchestrator.script.json", argc > 1 ? argv[1] : ".");
    ro.store = "memory";
    so.model = model;
    must(hob_runtime_create(&ro, &rt, &err), &err);
    must(hob_session_create(rt, &so, &s, &err), &err);
    add_agents(s);
    must(hob_session_prompt(s, hob_str_z("Look at this project."), &err), &err);
    while (hob_session_next_event(s, -1, &e) > 0) {
        tell(e);
        hob_event_unref(e);
    }
    list(s);
    talk(s);
    hob_session_close(s);
    hob_runtime_destroy(rt);
    return 0;
}
