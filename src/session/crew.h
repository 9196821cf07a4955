/*
 * crew.h - the agents of a workflow at work in a session.
 *
 * agent/flow.h decides who works when; a crew gives each agent that is at work a strand, and the strand its parts: model,
 * tools, instruction, the conversation as this agent sees it. A session without a workflow has none.
 */
#ifndef HOB_SRC_CREW_H
#define HOB_SRC_CREW_H

#include "agent/flow.h"
#include "log/history_view.h"
#include "session/strand.h"

typedef struct hob_member {
    hob_strand *strand; /* while it is at work */
    hob_tools *tools;   /* LLM: those it may use */
    hob_policy *policy; /* NULL = the session's */
    uint64_t tools_of;  /* the version of the session's tools that they were taken from */
    hob_buf system;
    hob_history_view view;
    bool has_model; /* of its own; else the session's */
    hob_model_info model;
    hob_provider *provider;
    char *model_name;
    hob_thinking thinking;
} hob_member;

typedef struct hob_crew {
    hob_session *s;
    hob_flow *flow;
    hob_member *members; /* one a frame */
} hob_crew;

hob_crew *hob_crew_create(hob_session *s, hob_agent *root); /* before the log is folded */
void hob_crew_destroy(hob_crew *c);
void hob_crew_reset(hob_crew *c); /* the log is folded anew */
/* Models and tools of all agents, or why one cannot work. */
int hob_crew_fit(hob_crew *c, hob_error *err);
/* After the session got another policy; nobody may be at work. */
int hob_crew_fit_policies(hob_crew *c, hob_error *err);
/* Strands for those at work, none for the others: after each event, or after the last of a fold. */
void hob_crew_sync(hob_crew *c);
/* An event was appended by this process: values of temp: keys that it only names join the state. */
void hob_crew_note(hob_crew *c, const hob_event *e, const hob_json *data);

int hob_crew_next(hob_crew *c, hob_draft *out);
/* Before the model is asked: its conversation and instruction are brought up to date. HOB_ENOENT: a {key} is missing. */
int hob_crew_prepare(hob_strand *st, hob_error *err);
hob_agent *hob_crew_agent(const hob_strand *st); /* NULL for the session's own strand */
/* The session's agent that answers a function of the host. */
int hob_session_agent_answered(hob_session *s, const hob_flow_answer *a,
                               hob_error *err); /* append.c */

/* ---- crew_tools.c ---------------------------------------------------------------------------------- */
/* Takes what the agent may use from the session's tools, if they changed; adds its own, and those for handing over and
 * ending a loop. HOB_ENOENT: a name that nobody knows. */
int hob_crew_fit_tools(hob_crew *c, size_t frame, hob_error *err);

/* prompt.c: of the session's system prompt what is not hob's own words: environment, instruction files, and skills if
 * there is a tool to load them. */
void hob_session_add_surroundings(const hob_session *s, const hob_tools *tools, hob_buf *out);

#endif
