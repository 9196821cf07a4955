#include "agent/value.h"

static const char *const kinds[] = {
    [HOB_AGENT_LLM] = "llm",
    [HOB_AGENT_SEQUENTIAL] = "sequential",
    [HOB_AGENT_PARALLEL] = "parallel",
    [HOB_AGENT_LOOP] = "loop",
    [HOB_AGENT_CONDITIONAL] = "conditional",
    [HOB_AGENT_CUSTOM] = "custom",
};

const char *hob_agent_kind_name(hob_agent_kind k) {
    return kinds[k];
}

bool hob_agent_has(const hob_agent *a, unsigned flag) {
    return (a->o.flags & flag) == flag;
}

bool hob_agent_named(const hob_agent *a, hob_str name) {
    return hob_str_eqz(name, a->o.name);
}

/* ---- checks ---------------------------------------------------------------------------------------- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int check_name(const char *name, hob_error *err) {
    hob_str s = hob_str_z(name);
    bool fits = s.n && s.n <= 64 && is_letter(s.p[0]) && !hob_str_eqz(s, "user");
    for (size_t i = 0; fits && i < s.n; i++)
        fits = is_letter(s.p[i]) || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-';
    if (fits) return HOB_OK;
    return hob_fail(
        err, HOB_EINVAL, 0,
        "\"%.80s\" is no name for an agent: a letter or _, then letters, digits, _ and -, at most 64, "
        "and not \"user\"",
        name ? name : "");
}

static int check_given(const hob_agent_opts *o, hob_error *err) {
    for (size_t i = 0; i < o->nagents; i++)
        if (!o->agents || !o->agents[i])
            return hob_fail(err, HOB_EINVAL, 0, "%s: its agent %zu is NULL", o->name, i);
    if (o->max_turns >= 0 && o->timeout_ms >= 0) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, 0, "%s: max_turns and timeout_ms are not negative", o->name);
}

static int check_count(const hob_agent_opts *o, hob_error *err) {
    size_t least = 1, most = HOB_AGENTS_MAX;
    if (o->kind == HOB_AGENT_LLM) least = 0;
    if (o->kind == HOB_AGENT_CUSTOM) least = most = 0;
    if (o->kind == HOB_AGENT_CONDITIONAL) most = 2;
    if (o->nagents >= least && o->nagents <= most) return check_given(o, err);
    return hob_fail(err, HOB_EINVAL, 0, "%s: a %s agent has %zu to %zu agents, not %zu", o->name,
                    kinds[o->kind], least, most, o->nagents);
}

static int check_kind(const hob_agent_opts *o, hob_error *err) {
    switch (o->kind) {
    case HOB_AGENT_LLM:
    case HOB_AGENT_SEQUENTIAL:
    case HOB_AGENT_PARALLEL: return check_count(o, err);
    case HOB_AGENT_LOOP:
        if (o->max_iterations < 1)
            return hob_fail(err, HOB_EINVAL, 0, "%s: a loop needs max_iterations of at least 1",
                            o->name);
        return check_count(o, err);
    case HOB_AGENT_CONDITIONAL:
        if (!o->condition == !o->holds)
            return hob_fail(err, HOB_EINVAL, 0, "%s: needs a condition, as text or as a function",
                            o->name);
        if (o->condition && hob_condition_check(hob_str_z(o->condition), err) < 0)
            return HOB_EINVAL;
        return check_count(o, err);
    case HOB_AGENT_CUSTOM:
        if (!o->run) return hob_fail(err, HOB_EINVAL, 0, "%s: a custom agent needs `run`", o->name);
        return check_count(o, err);
    }
    return hob_fail(err, HOB_EINVAL, 0, "%s: unknown kind of agent %d", o->name, (int)o->kind);
}

static bool is_llm_thing(const hob_agent_opts *o) {
    return o->instruction || o->model || o->tools || o->nown_tools || o->output_key ||
           o->output_schema;
}

static int check(const hob_agent_opts *o, hob_error *err) {
    int rc = check_name(o->name, err);
    if (rc >= 0) rc = check_kind(o, err);
    if (rc < 0) return rc;
    if (o->kind != HOB_AGENT_LLM && is_llm_thing(o))
        return hob_fail(err, HOB_EINVAL, 0,
                        "%s: instruction, model, tools and output are for LLM agents", o->name);
    if (o->output_key) rc = hob_state_check_key(hob_str_z(o->output_key), err);
    if (rc >= 0 && o->instruction && strlen(o->instruction) > HOB_INSTRUCTION_MAX)
        rc = hob_fail(err, HOB_ETOOBIG, 0, "%s: the instruction is over 1 MiB", o->name);
    return rc;
}

/* ---- the tree --------------------------------------------------------------------------------------- */

hob_agent *hob_agent_find(const hob_agent *a, hob_str name) {
    if (hob_agent_named(a, name)) return (hob_agent *)a;
    for (size_t i = 0; i < a->n; i++) {
        hob_agent *found = hob_agent_find(a->agents[i], name);
        if (found) return found;
    }
    return NULL;
}

static int check_names(hob_map *seen, const hob_agent *a, hob_error *err) {
    if (hob_map_put(seen, hob_str_z(a->o.name), (void *)a))
        return hob_fail(
            err, HOB_EEXIST, 0,
            "there are two agents %s in one tree: names are unique, and an agent has one parent",
            a->o.name);
    for (size_t i = 0; i < a->n; i++) {
        int rc = check_names(seen, a->agents[i], err);
        if (rc < 0) return rc;
    }
    return HOB_OK;
}

static int check_tree(hob_agent *a, hob_error *err) {
    a->total = 1;
    for (size_t i = 0; i < a->n; i++) {
        a->total += a->agents[i]->total;
        a->depth = HOB_MAX(a->depth, a->agents[i]->depth);
    }
    a->depth++;
    if (a->total > HOB_AGENTS_MAX || a->depth > HOB_AGENTS_DEEP)
        return hob_fail(err, HOB_ETOOBIG, 0, "%s: over %d agents, or over %d deep", a->o.name,
                        HOB_AGENTS_MAX, HOB_AGENTS_DEEP);
    hob_map *seen = hob_map_create();
    int rc = check_names(seen, a, err);
    hob_map_destroy(seen);
    return rc;
}

/* ---- copies ------------------------------------------------------------------------------------------- */

static const char *copy(hob_arena *a, const char *z) {
    return z ? hob_arena_dup(a, hob_str_z(z)).p : NULL;
}

static const char *const *copy_list(hob_arena *a, const char *const *list) {
    size_t n = 0;
    if (!list) return NULL;
    while (list[n]) n++;
    const char **to = hob_arena_alloc(a, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++) to[i] = copy(a, list[i]);
    return to;
}

static void copy_tools(hob_agent *a) {
    hob_tool *to = hob_arena_alloc(a->arena, HOB_MAX(a->o.nown_tools, 1) * sizeof *to);
    for (size_t i = 0; i < a->o.nown_tools; i++) {
        memcpy(&to[i], &a->o.own_tools[i], HOB_MIN(a->o.own_tools[i].size, sizeof *to));
        to[i].size = sizeof *to;
        to[i].name = copy(a->arena, to[i].name);
        to[i].description = copy(a->arena, to[i].description);
        to[i].schema = copy(a->arena, to[i].schema);
    }
    a->o.own_tools = to;
}

static void copy_strings(hob_agent *a) {
    hob_agent_opts *o = &a->o;
    const char **fields[] = {&o->name,     &o->description, &o->instruction,   &o->model,
                             &o->thinking, &o->output_key,  &o->output_schema, &o->condition};
    for (size_t i = 0; i < HOB_ARRAY_LEN(fields); i++) *fields[i] = copy(a->arena, *fields[i]);
    o->tools = copy_list(a->arena, o->tools);
    if (!o->callbacks) return;
    hob_agent_callbacks *c = HOB_ARENA_NEW(a->arena, hob_agent_callbacks);
    memcpy(c, o->callbacks, HOB_MIN(o->callbacks->size, sizeof *c));
    o->callbacks = c;
}

static void take_agents(hob_agent *a) {
    a->n = a->o.nagents;
    a->agents = hob_arena_alloc(a->arena, HOB_MAX(a->n, 1) * sizeof(hob_agent *));
    for (size_t i = 0; i < a->n; i++) a->agents[i] = hob_agent_ref(a->o.agents[i]);
    a->o.agents = a->agents;
}

/* The tools are tried out once, so that a wrong one is found here and not in the middle of a run. */
static int check_tools(const hob_agent *a, hob_error *err) {
    hob_tools *t = hob_tools_create();
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && i < a->o.nown_tools; i++)
        rc = hob_tools_add(t, &a->o.own_tools[i], err);
    hob_tools_destroy(t);
    return rc;
}

int hob_agent_create(const hob_agent_opts *given, hob_agent **out, hob_error *err) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    memcpy(&o, given, HOB_MIN(given->size, sizeof o));
    int rc = check(&o, err);
    if (rc < 0) return rc;
    hob_agent *a = HOB_NEW(hob_agent);
    atomic_init(&a->refs, 1);
    a->arena = hob_arena_create(0);
    a->o = o;
    copy_strings(a);
    copy_tools(a);
    take_agents(a);
    rc = check_tree(a, err);
    if (rc >= 0) rc = check_tools(a, err);
    if (rc >= 0 && o.output_schema)
        rc = hob_schema_create(hob_str_z(o.output_schema), &a->schema, err);
    if (rc < 0)
        hob_agent_unref(a);
    else
        *out = a;
    return rc;
}

static const hob_str *copy_strs(hob_arena *a, const hob_str *from, size_t n) {
    hob_str *to = hob_arena_alloc(a, HOB_MAX(n, 1) * sizeof *to);
    for (size_t i = 0; i < n; i++) to[i] = hob_arena_dup(a, from[i]);
    return to;
}

void hob_agent_narrow(hob_agent *a, const hob_narrow *list, size_t n) {
    a->nnarrows = n;
    a->narrows = hob_arena_alloc(a->arena, HOB_MAX(n, 1) * sizeof *a->narrows);
    for (size_t i = 0; i < n; i++) {
        hob_narrow *to = &a->narrows[i];
        *to = list[i];
        to->who = hob_arena_dup(a->arena, to->who);
        to->mode = hob_arena_dup(a->arena, to->mode);
        to->tools = copy_strs(a->arena, to->tools, to->ntools);
        to->disallowed = copy_strs(a->arena, to->disallowed, to->ndisallowed);
    }
}

/* ---- life ------------------------------------------------------------------------------------------------ */

hob_agent *hob_agent_ref(hob_agent *a) {
    if (a) atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void hob_agent_unref(hob_agent *a) {
    if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1) return;
    for (size_t i = 0; i < a->n; i++) hob_agent_unref(a->agents[i]);
    hob_schema_destroy(a->schema);
    hob_arena_destroy(a->arena);
    hob_free(a);
}

hob_str hob_agent_name(const hob_agent *a) {
    return hob_str_z(a->o.name);
}

hob_str hob_agent_description(const hob_agent *a) {
    return hob_str_z(a->o.description);
}

hob_agent_kind hob_agent_kind_of(const hob_agent *a) {
    return a->o.kind;
}

size_t hob_agent_count(const hob_agent *a) {
    return a->n;
}

hob_agent *hob_agent_at(const hob_agent *a, size_t i) {
    return i < a->n ? a->agents[i] : NULL;
}
