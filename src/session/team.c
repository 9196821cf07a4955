/*
 * team.c - agents that stand in files as agents that are values (hob/agent.h): a workflow, with the agents that it names.
 *
 * The root's own limits are the session's (agent.c); those of the others are narrowings of the agents below them.
 */
#include "agent/value.h"
#include "session/crew.h"
#include "session/task.h"

#include "config/discover.h"

enum { DEEP = HOB_AGENTS_DEEP };

typedef struct builder {
    hob_definitions *definitions;
    hob_arena *arena;
    hob_str path[DEEP]; /* the agents around the one that is built */
    size_t depth;
    hob_narrow narrows[DEEP]; /* of those around it, without the root's */
    size_t nnarrows;
    hob_error *err;
} builder;

static int build(builder *b, const hob_definition *x, const hob_def_flow *flow, hob_agent **out);

/* ---- words ------------------------------------------------------------------------------------------ */

static int add_skills(builder *b, const hob_definition *x, hob_buf *out) {
    int rc = HOB_OK;
    for (size_t i = 0; i < x->skills.n && rc >= 0; i++) {
        hob_str name = x->skills.at[i], workspace, body;
        hob_definition skill;
        hob_buf text;
        rc = hob_definitions_copy(b->definitions, HOB_DEFINITION_SKILL, name, b->arena, &skill,
                                  &workspace);
        if (rc < 0)
            return hob_definitions_missing(b->definitions, HOB_DEFINITION_SKILL, name, b->err);
        hob_buf_init(&text, HOB_DISCOVER_FILE_MAX + 1);
        rc = hob_skill_text(&skill, workspace, &text, &body, b->err);
        hob_buf_addc(out, '\n');
        if (rc >= 0) hob_skill_write(&skill, body, out);
        hob_buf_finish(&text);
    }
    return rc;
}

static const char *z(builder *b, hob_str s) {
    return s.n ? hob_arena_dup(b->arena, s).p : NULL;
}

static int instruct(builder *b, const hob_definition *x, const char **out) {
    hob_buf text;
    hob_buf_init(&text, HOB_INSTRUCTION_MAX);
    hob_buf_add(&text, x->text);
    int rc = add_skills(b, x, &text);
    if (rc >= 0 && text.err)
        rc = hob_fail(b->err, HOB_ETOOBIG, 0, "the agent %.*s with its skills is over 1 MiB",
                      HOB_FMT(x->name));
    if (rc >= 0) *out = z(b, hob_buf_str(&text));
    hob_buf_finish(&text);
    return rc;
}

/* ---- its agents -------------------------------------------------------------------------------------- */

static int say_circle(builder *b, hob_str name) {
    hob_buf path;
    hob_buf_init(&path, 4096);
    for (size_t i = 0; i < b->depth; i++) hob_buf_addf(&path, "%.*s > ", HOB_FMT(b->path[i]));
    hob_fail(b->err, HOB_EINVAL, 0, "the agent %.*s is part of itself: %s%.*s", HOB_FMT(name),
             hob_buf_z(&path), HOB_FMT(name));
    hob_buf_finish(&path);
    return HOB_EINVAL;
}

/* What its file says beyond a plain agent; nothing for one that is. */
static int read_flow(builder *b, const hob_definition *x, hob_def_flow *flow) {
    const hob_json *o;
    hob_definition again;
    *flow = (hob_def_flow){.kind = HOB_AGENT_LLM};
    if (!x->source.n) return HOB_OK;
    int rc = hob_json_parse(b->arena, x->source, NULL, &o, b->err);
    return rc < 0 ? rc : hob_definition_read_object(b->arena, o, &again, flow, b->err);
}

static int build_named(builder *b, hob_str name, hob_agent **out) {
    hob_definition x;
    hob_def_flow flow;
    for (size_t i = 0; i < b->depth; i++)
        if (hob_str_eq(b->path[i], name)) return say_circle(b, name);
    int rc = hob_definitions_copy(b->definitions, HOB_DEFINITION_AGENT, name, b->arena, &x, NULL);
    if (rc < 0) return hob_definitions_missing(b->definitions, HOB_DEFINITION_AGENT, name, b->err);
    rc = read_flow(b, &x, &flow);
    return rc < 0 ? rc : build(b, &x, &flow, out);
}

static int build_part(builder *b, const hob_json *part, hob_agent **out) {
    hob_definition x;
    hob_def_flow flow;
    if (hob_json_is(part, HOB_JSON_STRING)) return build_named(b, hob_json_str(part), out);
    int rc = hob_definition_read_object(b->arena, part, &x, &flow, b->err);
    return rc < 0 ? rc : build(b, &x, &flow, out);
}

static int build_parts(builder *b, const hob_def_flow *flow, hob_agent ***out, size_t *n) {
    int rc = HOB_OK;
    *n = 0;
    *out = hob_arena_alloc(b->arena, (hob_json_count(flow->agents) + 1) * sizeof(hob_agent *));
    for (const hob_json *p = hob_json_first(flow->agents); p && rc >= 0; p = hob_json_next(p)) {
        rc = build_part(b, p, &(*out)[*n]);
        if (rc >= 0) (*n)++;
    }
    return rc;
}

/* ---- one of them --------------------------------------------------------------------------------------- */

static int create(builder *b, const hob_definition *x, const hob_def_flow *flow, hob_agent_opts *o,
                  hob_agent **out) {
    bool llm = flow->kind == HOB_AGENT_LLM;
    o->kind = flow->kind;
    o->flags = flow->flags;
    o->name = z(b, x->name);
    o->description = z(b, x->description);
    o->condition = z(b, flow->condition);
    o->max_iterations = (int)flow->max_iterations;
    int rc = llm ? instruct(b, x, &o->instruction) : HOB_OK;
    if (llm) {
        o->model = b->depth > 1 ? z(b, x->model) : NULL; /* the root's is the session's */
        o->output_key = z(b, flow->output_key);
        o->output_schema = z(b, flow->output_schema);
        o->max_turns = x->max_turns;
    }
    if (rc >= 0) rc = hob_agent_create(o, out, b->err);
    if (rc >= 0 && llm && b->nnarrows) hob_agent_narrow(*out, b->narrows, b->nnarrows);
    return rc;
}

static int build(builder *b, const hob_definition *x, const hob_def_flow *flow, hob_agent **out) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    hob_agent **parts = NULL;
    size_t n = 0;
    if (b->depth == DEEP)
        return hob_fail(b->err, HOB_ETOOBIG, 0, "agents are over %d deep in one another", DEEP);
    bool root = b->depth == 0;
    b->path[b->depth++] = x->name;
    if (!root) b->narrows[b->nnarrows++] = hob_definition_narrow_part(x, b->arena);
    int rc = build_parts(b, flow, &parts, &n);
    o.agents = parts;
    o.nagents = n;
    if (rc >= 0) rc = create(b, x, flow, &o, out);
    for (size_t i = 0; i < n; i++) hob_agent_unref(parts[i]);
    if (!root) b->nnarrows--;
    b->depth--;
    return rc;
}

static int definition_team(hob_definitions *d, const hob_definition *x, hob_agent **out,
                           hob_error *err) {
    hob_error why = {.code = HOB_OK};
    hob_def_flow flow;
    *out = NULL;
    if (!x->source.n) return HOB_OK;
    builder b = {.definitions = d, .arena = hob_arena_create(0), .err = &why};
    int rc = read_flow(&b, x, &flow);
    if (rc >= 0) rc = build(&b, x, &flow, out);
    if (rc < 0)
        hob_fail(err, rc, why.sub, "the agent %.*s cannot work: %s", HOB_FMT(x->name), why.message);
    hob_arena_destroy(b.arena);
    return rc;
}

static int definitions_team(hob_definitions *d, hob_str name, hob_agent **out, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    hob_definition x;
    int rc = hob_definitions_copy(d, HOB_DEFINITION_AGENT, name, a, &x, NULL);
    rc = rc < 0 ? hob_definitions_missing(d, HOB_DEFINITION_AGENT, name, err)
                : definition_team(d, &x, out, err);
    hob_arena_destroy(a);
    return rc;
}

/* ---- at work ------------------------------------------------------------------------------------------- */

int hob_session_form_crew(hob_session *s, hob_definitions *d, hob_str name, hob_error *err) {
    hob_agent *team = NULL;
    int rc = HOB_OK;
    if (s->given) /* a child was told which agent it is */
        rc = definition_team(d, &s->given->agent, &team, err);
    else if (name.n)
        rc = definitions_team(d, name, &team, err);
    if (rc >= 0 && team) s->crew = hob_crew_create(s, team);
    hob_agent_unref(team);
    return rc;
}
