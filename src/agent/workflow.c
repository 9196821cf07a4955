/*
 * workflow.c - the keys by which an agent's file is more than one agent: which kind of work, which agents, and what
 * becomes of the answer.
 *
 * What is read here is checked for its form only. Names of other files are looked up when the agent is used
 * (session/team.c), for they may come later.
 */
#include "agent/definition.h"
#include "agent/value.h"

#include <stdio.h>

static const struct {
    const char *word;
    hob_agent_kind kind;
} kinds[] = {{"llm", HOB_AGENT_LLM},
             {"sequential", HOB_AGENT_SEQUENTIAL},
             {"parallel", HOB_AGENT_PARALLEL},
             {"loop", HOB_AGENT_LOOP},
             {"conditional", HOB_AGENT_CONDITIONAL}};

static int read_kind(hob_def_reader *r, hob_def_flow *out) {
    hob_str word = HOB_STR_NULL, other = HOB_STR_NULL;
    int code = hob_def_get_line(r, "kind", HOB_DEFINITION_LINE, &word);
    if (code == HOB_OK) code = hob_def_get_line(r, "type", HOB_DEFINITION_LINE, &other);
    if (!word.n) word = other;
    if (code < 0 || !word.n) return code;
    for (size_t i = 0; i < HOB_ARRAY_LEN(kinds); i++) {
        if (!hob_str_eqz(word, kinds[i].word)) continue;
        out->kind = kinds[i].kind;
        return HOB_OK;
    }
    return hob_def_refuse(r, other.n ? "type" : "kind",
                          "kind has to be llm, sequential, parallel, loop or conditional");
}

/* ---- its agents ------------------------------------------------------------------------------------ */

static int check_part(hob_def_reader *r, const char *key, const hob_json *v, size_t i,
                      hob_str *name) {
    hob_definition x;
    hob_def_flow flow;
    hob_error why = {.message = ""};
    const char *reason;
    if (hob_json_is(v, HOB_JSON_STRING)) {
        *name = hob_json_str(v);
        if (hob_agent_name_valid(*name, &reason)) return HOB_OK;
        return hob_def_refuse(r, key, "%s: number %zu: %s", key, i + 1, reason);
    }
    if (!hob_json_is(v, HOB_JSON_OBJECT))
        return hob_def_refuse(r, key, "%s: number %zu is neither a name nor an agent", key, i + 1);
    if (hob_definition_read_object(r->a, v, &x, &flow, &why) < 0)
        return hob_def_refuse(r, key, "%s: number %zu: %s", key, i + 1, why.message);
    *name = x.name;
    return HOB_OK;
}

static int read_agents(hob_def_reader *r, hob_def_flow *out) {
    const hob_json *agents = NULL, *subs = NULL;
    int code = hob_def_find(r, "agents", &agents);
    if (code == HOB_OK) code = hob_def_find(r, "sub_agents", &subs);
    if (code < 0 || (!agents && !subs)) return code;
    const char *key = agents ? "agents" : "sub_agents";
    if (agents && subs)
        return hob_def_refuse(r, key, "agents and sub_agents say the same; use one");
    out->agents = agents ? agents : subs;
    size_t n = hob_json_count(out->agents), i = 0;
    if (!hob_json_is(out->agents, HOB_JSON_ARRAY) || n < 1 || n > HOB_AGENTS_MAX)
        return hob_def_refuse(r, key, "%s has to be a list of 1 to %d agents", key, HOB_AGENTS_MAX);
    hob_str *names = hob_arena_alloc(r->a, n * sizeof *names);
    if (!names) return hob_fail(r->err, HOB_ETOOBIG, 0, "too large");
    for (const hob_json *v = hob_json_first(out->agents); v && code == HOB_OK;
         v = hob_json_next(v), i++)
        code = check_part(r, key, v, i, &names[i]);
    r->out->agents = (hob_strs){names, n};
    return code;
}

/* ---- the rest --------------------------------------------------------------------------------------- */

static int read_history(hob_def_reader *r, hob_def_flow *out) {
    hob_str word = HOB_STR_NULL;
    int code = hob_def_get_line(r, "history", HOB_DEFINITION_LINE, &word);
    if (code < 0 || !word.n || hob_str_eqz(word, "narrate")) return code;
    if (hob_str_eqz(word, "isolate"))
        out->flags |= HOB_AGENT_ISOLATE;
    else if (hob_str_eqz(word, "current"))
        out->flags |= HOB_AGENT_NO_CONTENTS;
    else
        return hob_def_refuse(r, "history", "history has to be narrate, isolate or current");
    return HOB_OK;
}

/* As text, or written out. */
static int read_schema(hob_def_reader *r, hob_def_flow *out) {
    const hob_json *v = NULL;
    hob_schema *schema = NULL;
    hob_error why;
    int code = hob_def_find(r, "output_schema", &v);
    if (code < 0 || !v) return code;
    out->output_schema = hob_json_is(v, HOB_JSON_STRING) ? hob_json_str(v) : hob_json_raw(v);
    if (hob_schema_create(out->output_schema, &schema, &why) < 0)
        return hob_def_refuse(r, "output_schema", "output_schema: %s", why.message);
    hob_schema_destroy(schema);
    return HOB_OK;
}

static int read_output(hob_def_reader *r, hob_def_flow *out) {
    hob_error why;
    int code = hob_def_get_line(r, "output_key", HOB_STATE_KEY_MAX, &out->output_key);
    if (code == HOB_OK && out->output_key.n && hob_state_check_key(out->output_key, &why) < 0)
        code = hob_def_refuse(r, "output_key", "output_key: %s", why.message);
    if (code == HOB_OK) code = read_schema(r, out);
    return code;
}

static int read_condition(hob_def_reader *r, hob_def_flow *out) {
    hob_error why;
    int code = hob_def_get_line(r, "condition", 1024, &out->condition);
    if (code == HOB_OK && out->condition.n && hob_condition_check(out->condition, &why) < 0)
        code = hob_def_refuse(r, "condition", "condition: %s", why.message);
    return code;
}

/* What belongs to another kind would not be done. */
static int check_kind(hob_def_reader *r, const hob_def_flow *f) {
    bool llm = f->kind == HOB_AGENT_LLM, loop = f->kind == HOB_AGENT_LOOP;
    bool choice = f->kind == HOB_AGENT_CONDITIONAL;
    if (!llm && !f->agents) return hob_def_refuse(r, "kind", "has no agents");
    if (loop && !f->max_iterations)
        return hob_def_refuse(r, "kind", "a loop needs max_iterations, at least 1");
    if (!loop && f->max_iterations)
        return hob_def_refuse(r, "max_iterations", "max_iterations is for a loop");
    if (choice && !f->condition.n) return hob_def_refuse(r, "kind", "has no condition");
    if (!choice && f->condition.n)
        return hob_def_refuse(r, "condition", "condition is for kind: conditional");
    if (choice && hob_json_count(f->agents) > 2)
        return hob_def_refuse(r, "agents", "the agents of a condition are two: if it holds, else");
    if (!llm && (f->output_key.n || f->output_schema.n || f->flags))
        return hob_def_refuse(r, f->output_key.n ? "output_key" : "kind",
                              "output_key, output_schema and history are for llm agents");
    return HOB_OK;
}

/* Words that other programs use for parts: without them it would be another agent. */
static int refuse_steps(hob_def_reader *r) {
    const hob_json *v = NULL;
    int code = hob_def_find(r, "steps", &v);
    return code == HOB_OK && v ? hob_def_refuse(r, "steps", "steps: write them as agents") : code;
}

int hob_def_flow_read(hob_def_reader *r, hob_def_flow *out) {
    *out = (hob_def_flow){.kind = HOB_AGENT_LLM};
    int code = refuse_steps(r);
    if (code == HOB_OK) code = read_kind(r, out);
    if (code == HOB_OK) code = read_agents(r, out);
    if (code == HOB_OK) code = hob_def_get_count(r, "max_iterations", &out->max_iterations);
    if (code == HOB_OK) code = read_condition(r, out);
    if (code == HOB_OK) code = read_output(r, out);
    if (code == HOB_OK) code = read_history(r, out);
    if (code == HOB_OK) code = check_kind(r, out);
    out->any = out->kind != HOB_AGENT_LLM || out->agents || out->output_key.n ||
               out->output_schema.n || out->flags;
    if (code < 0 || !out->any) return code;
    r->out->workflow = hob_str_z(hob_agent_kind_name(out->kind));
    r->out->source = hob_json_raw(r->front.root);
    return HOB_OK;
}

int hob_definition_read_object(hob_arena *a, const hob_json *o, hob_definition *x,
                               hob_def_flow *flow, hob_error *err) {
    hob_def_text text = {.kind = HOB_DEFINITION_AGENT, .yaml = true, .widest = HOB_MODE_YOLO};
    size_t line = 0;
    hob_def_reader r = {.a = a, .from = &text, .out = x, .line = &line, .err = err, .body_line = 1};
    *x = (hob_definition)HOB_DEFINITION_INIT;
    x->kind = HOB_DEFINITION_AGENT;
    r.front.root = o;
    r.remarks = hob_arena_alloc(a, HOB_DEFINITION_REMARKS * sizeof(hob_str));
    if (!r.remarks) return hob_fail(err, HOB_ETOOBIG, 0, "too large");
    x->remarks.at = r.remarks;
    return hob_agent_read(&r, flow);
}
