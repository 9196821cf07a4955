/*
 * hob/agent.h - agents as values, and the work they do together.
 *
 * An agent is a value: it is made once, never changes, and is counted. An LLM agent asks a model, with an instruction,
 * tools and agents it may hand the conversation to. The others say in which order agents work: one after the other,
 * side by side, again and again, this one or that one; or they are a C function. Given to a session
 * (hob_session_opts.team) an agent does the work of every run; where it stands is in the session's log, so it goes on
 * after a crash as everything else does.
 *
 *     hob_agent_opts a = HOB_AGENT_OPTS_INIT, b = HOB_AGENT_OPTS_INIT, team = HOB_AGENT_OPTS_INIT;
 *     a.name = "writer";   a.instruction = "Write a draft.";        a.output_key = "draft";
 *     b.name = "editor";   b.instruction = "Shorten this: {draft}";
 *     hob_agent_create(&a, &agents[0], &err);
 *     hob_agent_create(&b, &agents[1], &err);
 *     team.name = "desk";  team.kind = HOB_AGENT_SEQUENTIAL;  team.agents = agents;  team.nagents = 2;
 *     hob_agent_create(&team, &desk, &err);
 *
 * Names are unique within a tree. All calls are [any]. docs/workflows.md is the tour.
 */
#ifndef HOB_AGENT_H
#define HOB_AGENT_H

#include <hob/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_agent hob_agent;

typedef enum hob_agent_kind {
    HOB_AGENT_LLM,
    HOB_AGENT_SEQUENTIAL, /* its agents one after the other; one that fails ends it */
    HOB_AGENT_PARALLEL,   /* side by side, each on a branch of its own; all come to their end */
    HOB_AGENT_LOOP,       /* again and again, until one escalates or max_iterations is reached */
    HOB_AGENT_CONDITIONAL, /* the first of its agents if the condition holds, else the second, if any */
    HOB_AGENT_CUSTOM       /* a C function */
} hob_agent_kind;

enum {
    HOB_AGENT_NO_PARENT_TRANSFER =
        1, /* LLM: never hands over to its parent; the next prompt begins at the root */
    HOB_AGENT_NO_PEER_TRANSFER = 2, /* LLM: nor to the other agents of its parent */
    HOB_AGENT_STOP_ON_ESCALATE = 4, /* SEQUENTIAL: an agent that escalates ends the sequence, too */
    HOB_AGENT_RESTARTABLE = 8,    /* CUSTOM: is called again after a crash, instead of `unknown` */
    HOB_AGENT_NO_CONTENTS = 16,   /* LLM: sees the current turn only, not what was said before */
    HOB_AGENT_ISOLATE = 32,       /* LLM: what other agents said is left out, not told */
    HOB_AGENT_KEEP_RESPONSES = 64 /* with ISOLATE: other agents' tool results are told */
};

/* What a callback or a custom agent is told. Slices live until the reply is answered. */
typedef struct hob_agent_call {
    size_t size;
    hob_str session, run, agent, branch;
    hob_str prompt;           /* JSON array of blocks: what the user asked for last */
    hob_str content;          /* after_model, after_tool: JSON array of blocks; else "" */
    hob_str tool, call, args; /* before_tool, after_tool */
    const hob_state *state;
} hob_agent_call;

/* Answers with a hob_reply, now or later, from any thread. Content in the answer counts instead of what would come:
 * the agent is not run, the model not asked, the tool not called; after_* replaces what came. hob_reply_pass() lets
 * things take their course. No answer within a minute is an error: the result of the call at the tool's points, the end
 * of the agent at the others. docs/callbacks.md has the details. */
typedef void (*hob_agent_fn)(const hob_agent_call *call, hob_reply *reply, void *user);

typedef struct hob_agent_callbacks {
    size_t size;
    hob_agent_fn before_agent, after_agent;
    hob_agent_fn before_model, after_model;
    hob_agent_fn before_tool, after_tool;
    void *user;
} hob_agent_callbacks;
#define HOB_AGENT_CALLBACKS_INIT                                                                   \
    { sizeof(hob_agent_callbacks), NULL, NULL, NULL, NULL, NULL, NULL, NULL }

typedef struct hob_agent_opts {
    size_t size;
    hob_agent_kind kind;
    unsigned flags;
    const char *name; /* a letter or _, then letters, digits, _ and -; at most 64; not "user" */
    const char *description;  /* tells other agents' models when to hand over to it */
    hob_agent *const *agents; /* those it is made of; LLM: those it may hand over to */
    size_t nagents;
    /* LLM */
    const char
        *instruction;  /* {key} is replaced by the state's value, {key?} by "" if there is none */
    const char *model; /* NULL = the session's */
    const char *thinking;
    const char *const
        *tools; /* names of the session's tools that it may use, NULL-terminated; NULL = all */
    const hob_tool *own_tools; /* further ones, of its own */
    size_t nown_tools;
    const char *output_key; /* the state's key for its final answer */
    const char
        *output_schema; /* JSON schema that the final answer fits: then output_key holds JSON */
    int64_t max_turns;  /* each time it is at work; 0 = as many as the run may have */
    /* LOOP */
    int max_iterations; /* at least 1 */
    /* CONDITIONAL: a test of the state, "key", "!key", "key == JSON" or "key != JSON"; or a function of it. */
    const char *condition;
    int (*holds)(const hob_state *state, void *user); /* pure: its answer is written down */
    /* CUSTOM */
    hob_agent_fn run;
    void (*cancel)(const hob_agent_call *call, int hard, void *user); /* may be NULL */
    int64_t timeout_ms;                                               /* of `run`; 0 = 10 minutes */
    const hob_agent_callbacks *callbacks;
    void *user; /* of run, cancel and holds */
} hob_agent_opts;
#define HOB_AGENT_OPTS_INIT                                                                        \
    {                                                                                              \
        sizeof(hob_agent_opts), HOB_AGENT_LLM, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL,     \
            NULL, 0, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL                       \
    }

/* Everything is copied; the agents are referenced. HOB_EINVAL (name, kind, loop without an end, condition, schema),
 * HOB_EEXIST (a name twice in the tree), HOB_ETOOBIG (over 256 agents, or 32 deep). */
HOB_API int hob_agent_create(const hob_agent_opts *o, hob_agent **out, hob_error *err);
HOB_API hob_agent *hob_agent_ref(hob_agent *a);
HOB_API void hob_agent_unref(hob_agent *a); /* NULL is fine */

HOB_API hob_str hob_agent_name(const hob_agent *a);
HOB_API hob_str hob_agent_description(const hob_agent *a);
HOB_API hob_agent_kind hob_agent_kind_of(const hob_agent *a);
HOB_API size_t hob_agent_count(const hob_agent *a);            /* of its agents */
HOB_API hob_agent *hob_agent_at(const hob_agent *a, size_t i); /* borrowed; NULL beyond the end */
HOB_API hob_agent *hob_agent_find(const hob_agent *a,
                                  hob_str name); /* in the whole tree; borrowed */

#ifdef __cplusplus
}
#endif

#endif
