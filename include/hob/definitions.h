/*
 * hob/definitions.h - agents, skills and prompt templates that stand in files: found, read, listed.
 *
 * A definition is data. Reading one runs nothing, and what it says about tools and permissions only
 * narrows what whoever uses it has already. What a workspace holds counts once the user trusts that
 * workspace; until then it is listed as HOB_DEFINITION_UNTRUSTED and never found by name.
 *
 *     hob_definitions_create(NULL, &d, &err);
 *     int n = hob_agents_register_dir(d, "team", &err);      how many are live now
 *     const hob_definition *a = hob_definitions_find(d, HOB_DEFINITION_AGENT, hob_str_z("reviewer"));
 *
 * Given to sessions (hob_session_opts) they are used by those sessions' runs, and what is registered later is live for
 * them at once. A session holds on to them: the host may destroy its own handle when it likes.
 *
 * Threads: one at a time; sessions that have them may be at work meanwhile. What is borrowed from `hob_definitions`
 * lives until the next call that registers, discovers or expands. docs/agents.md describes the files.
 */
#ifndef HOB_DEFINITIONS_H
#define HOB_DEFINITIONS_H

#include <hob/base.h>
#include <hob/config.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_definitions hob_definitions;

typedef enum hob_definition_kind {
    HOB_DEFINITION_AGENT,
    HOB_DEFINITION_SKILL,
    HOB_DEFINITION_COMMAND /* a prompt template */
} hob_definition_kind;

typedef enum hob_definition_state {
    HOB_DEFINITION_LIVE,
    HOB_DEFINITION_UNTRUSTED, /* of a workspace that the user does not trust */
    HOB_DEFINITION_SHADOWED,  /* another of the same name is nearer */
    HOB_DEFINITION_REFUSED    /* the file cannot be used; name, path, line and why are set */
} hob_definition_state;

enum {
    HOB_DEFINITION_TOOLS = 1,      /* only `tools` may be used; not set = all that there are */
    HOB_DEFINITION_BACKGROUND = 2, /* agent: runs beside its caller unless told otherwise */
    HOB_DEFINITION_WORKTREE = 4,   /* agent: in a git worktree of its own */
    HOB_DEFINITION_USER_ONLY = 8   /* skill, command: never started by the model itself */
};

typedef struct hob_strs {
    const hob_str *at;
    size_t n;
} hob_strs;

/* One definition. Members are added at the end; `size` says which are there. */
typedef struct hob_definition {
    size_t size;
    hob_definition_kind kind;
    unsigned flags; /* HOB_DEFINITION_… */
    hob_str name, description;
    hob_str text;  /* agent: the instruction; command: the template; skill: "", see expand */
    hob_str model; /* "" = that of the caller */
    hob_str permission_mode;   /* ask, accept-edits, plan, yolo; "" = that of the caller */
    hob_strs tools;            /* entries "name" or "name(rule)" */
    hob_strs disallowed_tools; /* wins over tools */
    hob_strs skills;           /* names, to be loaded whole at the start */
    hob_str argument_hint;     /* skill, command */
    int64_t max_turns;         /* 0 = that of the caller */
    /* set by the library */
    hob_definition_state state;
    hob_origin origin; /* USER, WORKSPACE, or FLAG for what a host registered */
    hob_str path;      /* "" = from a C struct */
    size_t line;       /* of what `why` speaks of; 0 = of the whole file */
    hob_str why;       /* why it is not live */
    hob_strs remarks;  /* what in it does not count, and why: "line 4: …" */
    /* agents of more than one part, or with an output of their own (docs/agents.md) */
    hob_str workflow; /* llm, sequential, parallel, loop, conditional; "" = a plain agent */
    hob_strs agents;  /* the names of its parts */
    hob_str source;   /* what its file says, as JSON */
} hob_definition;
#define HOB_DEFINITION_INIT                                                                        \
    { .size = sizeof(hob_definition) }

typedef struct hob_definitions_opts {
    size_t size;
    const char *permission_mode; /* the widest that a definition may ask for; NULL = ask */
} hob_definitions_opts;
#define HOB_DEFINITIONS_OPTS_INIT                                                                  \
    { sizeof(hob_definitions_opts), NULL }

/* opts may be NULL. HOB_EINVAL: no such permission mode. */
HOB_API int hob_definitions_create(const hob_definitions_opts *o, hob_definitions **out,
                                   hob_error *err);
HOB_API void hob_definitions_destroy(hob_definitions *d);

/* ---- filling it ---------------------------------------------------------------------------- */

/* What the host names is the host's word: live at once, before anything discovered, the later before
 * the earlier. All three read one folder and return how many of its files are live; a folder that is
 * not there has 0. Files that cannot be used are listed as REFUSED. A file read again replaces what it
 * was. HOB_EIO, HOB_ETOOBIG (over 4096 definitions in all). */
HOB_API int hob_agents_register_dir(hob_definitions *d, const char *dir, hob_error *err);
HOB_API int hob_skills_register_dir(hob_definitions *d, const char *dir, hob_error *err);
HOB_API int hob_commands_register_dir(hob_definitions *d, const char *dir, hob_error *err);
/* Agents as values. Everything is copied; all of them or none; one of the same name takes the place of the one before.
 * HOB_EINVAL names what does not fit. */
HOB_API int hob_agents_register_worker(hob_definitions *d, const hob_definition *agent,
                                       hob_error *err);
HOB_API int hob_agents_register_workers(hob_definitions *d, const hob_definition *agents, size_t n,
                                        hob_error *err);

typedef struct hob_discover_opts {
    size_t size;
    const hob_config *config; /* after load: where the user's folder is; NULL = no user's files */
    const char *cwd;          /* the workspace; NULL = none */
    int trusted;              /* the user trusts it */
} hob_discover_opts;
#define HOB_DISCOVER_OPTS_INIT                                                                     \
    { sizeof(hob_discover_opts), NULL, NULL, 0 }

/* agents/, skills/, commands/ in the user's folder, then `agents` of the configuration, then .claude, .agents and .hob of
 * the workspace, and `agents` of its configuration; the later are nearer and win. Returns how many are live in all. */
HOB_API int hob_definitions_discover(hob_definitions *d, const hob_discover_opts *o,
                                     hob_error *err);

/* ---- looking ------------------------------------------------------------------------------- */

/* The live one of that name, or NULL. */
HOB_API const hob_definition *hob_definitions_find(const hob_definitions *d,
                                                   hob_definition_kind kind, hob_str name);
/* All, whatever their state, in the order in which they were registered. */
HOB_API size_t hob_definitions_count(const hob_definitions *d);
HOB_API const hob_definition *hob_definitions_at(const hob_definitions *d, size_t i);
HOB_API const char *hob_definition_state_name(hob_definition_state s); /* "live", "untrusted", … */

/* May somebody with this definition use a tool that its caller has? 1 or 0. An entry with a rule in
 * parentheses counts for its tool in `tools` and for nothing in `disallowed_tools`: the rules are for the
 * policy of whoever runs it. */
HOB_API int hob_definition_allows(const hob_definition *x, hob_str tool);

/* The text of a live skill (read now, at most 256 KiB) or command, with its arguments in place: $ARGUMENTS, $1 …
 * $9, ${1:-otherwise}. Nothing is run: !`command` stays as it stands. *out is borrowed. HOB_ENOENT, HOB_ETOOBIG,
 * HOB_EACCES, HOB_EPARSE, HOB_EIO. */
HOB_API int hob_definitions_expand(hob_definitions *d, hob_definition_kind kind, hob_str name,
                                   hob_str arguments, hob_str *out, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
