/*
 * copy.c - what leaves the list: copies that live on their own, why there is nothing to copy, and what a definition
 * takes away from whoever uses it.
 */
#include "agent/definition.h"

#include <stdio.h>
#include <stdlib.h>

hob_strs hob_strs_dup(hob_arena *a, hob_strs from) {
    hob_str *at = hob_arena_alloc(a, (from.n + 1) * sizeof(hob_str));
    for (size_t i = 0; i < from.n; i++) at[i] = hob_arena_dup(a, from.at[i]);
    return (hob_strs){at, from.n};
}

hob_definition hob_definition_copy(hob_arena *a, const hob_definition *x) {
    hob_definition copy = *x;
    hob_str *const texts[] = {
        &copy.name,          &copy.description, &copy.text, &copy.model, &copy.permission_mode,
        &copy.argument_hint, &copy.path,        &copy.why,  &copy.source};
    hob_strs *const lists[] = {&copy.tools, &copy.disallowed_tools, &copy.skills, &copy.remarks,
                               &copy.agents};
    for (size_t i = 0; i < HOB_ARRAY_LEN(texts); i++) *texts[i] = hob_arena_dup(a, *texts[i]);
    for (size_t i = 0; i < HOB_ARRAY_LEN(lists); i++) *lists[i] = hob_strs_dup(a, *lists[i]);
    return copy;
}

int hob_def_list_copy(const hob_def_list *l, hob_definition_kind kind, hob_str name, hob_arena *a,
                      hob_definition *out, hob_str *workspace) {
    int code = HOB_ENOENT;
    const hob_definition *x = hob_def_list_find(l, kind, name);
    if (x) {
        *out = hob_definition_copy(a, x);
        if (workspace) *workspace = hob_arena_dup(a, hob_def_list_workspace_of(l, x));
        code = HOB_OK;
    }
    return code;
}

static int by_name(const void *a, const void *b) {
    return hob_str_cmp(((const hob_definition *)a)->name, ((const hob_definition *)b)->name);
}

size_t hob_def_list_all(const hob_def_list *l, hob_definition_kind kind, hob_arena *a,
                        hob_definition **out) {
    size_t n = 0;
    *out = NULL;
    *out = hob_arena_alloc(a, (l->n + 1) * sizeof(hob_definition));
    for (size_t i = 0; i < l->n; i++) {
        const hob_definition *x = &l->at[i]->x;
        if (x->kind == kind && x->state == HOB_DEFINITION_LIVE)
            (*out)[n++] = hob_definition_copy(a, x);
    }
    if (n) qsort(*out, n, sizeof(hob_definition), by_name);
    return n;
}

/* ---- what is not there ---------------------------------------------------------------------------- */

static const char *kind_name(hob_definition_kind kind) {
    switch (kind) {
    case HOB_DEFINITION_AGENT: return "agent";
    case HOB_DEFINITION_SKILL: return "skill";
    case HOB_DEFINITION_COMMAND: return "command";
    }
    return "definition";
}

/* The nearest live name, in the arena; NULL = nothing is near. */
static const char *nearest(const hob_def_list *l, hob_definition_kind kind, hob_str name,
                           hob_arena *a) {
    const char **names = hob_arena_alloc(a, (l->n + 1) * sizeof(*names));
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const hob_definition *x = &l->at[i]->x;
        if (x->kind == kind && x->state == HOB_DEFINITION_LIVE)
            names[n++] = hob_arena_dup(a, x->name).p;
    }
    return hob_str_nearest(name, names, n);
}

static const hob_definition *unusable(const hob_def_list *l, hob_definition_kind kind,
                                      hob_str name) {
    for (size_t i = 0; i < l->n; i++) {
        const hob_definition *x = &l->at[i]->x;
        bool barred = x->state == HOB_DEFINITION_UNTRUSTED || x->state == HOB_DEFINITION_REFUSED;
        if (barred && x->kind == kind && hob_str_eq(x->name, name)) return x;
    }
    return NULL;
}

int hob_def_list_missing(const hob_def_list *l, hob_definition_kind kind, hob_str name,
                         hob_error *err) {
    const hob_definition *x = unusable(l, kind, name);
    if (x && x->state == HOB_DEFINITION_UNTRUSTED)
        return hob_fail(err, HOB_ENOENT, 0,
                        "the %s %.*s (%.*s) is of a folder that is not trusted in this run",
                        kind_name(kind), HOB_FMT(name), HOB_FMT(x->path));
    if (x)
        return hob_fail(err, HOB_ENOENT, 0, "the %s %.*s cannot be used: %.*s:%zu: %.*s",
                        kind_name(kind), HOB_FMT(name), HOB_FMT(x->path), x->line, HOB_FMT(x->why));
    hob_arena *a = hob_arena_create(0);
    const char *near = nearest(l, kind, name, a);
    hob_fail(err, HOB_ENOENT, 0, "there is no %s %.*s%s%s%s", kind_name(kind),
             HOB_FMT(hob_str_first(name, 100)), near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "");
    hob_arena_destroy(a);
    return HOB_ENOENT;
}

/* ---- tools -------------------------------------------------------------------------------------- */

/* "mcp__files__*" stands for all of a server; a rule in parentheses is not looked at. */
static bool names_tool(hob_str entry_, hob_str tool, bool with_rule) {
    ptrdiff_t open = hob_str_chr(entry_, '(');
    if (open >= 0 && !with_rule) return false;
    hob_str name = hob_str_trim(hob_str_first(entry_, open < 0 ? entry_.n : (size_t)open));
    if (!hob_str_ends(name, HOB_STR("*"))) return hob_str_ieq(hob_tool_our_name(name), tool);
    name.n--;
    return tool.n >= name.n && hob_str_ieq(hob_str_first(tool, name.n), name);
}

int hob_definition_allows(const hob_definition *x, hob_str tool) {
    bool listed = !(x->flags & HOB_DEFINITION_TOOLS);
    for (size_t i = 0; i < x->disallowed_tools.n; i++)
        if (names_tool(x->disallowed_tools.at[i], tool, false)) return 0;
    for (size_t i = 0; i < x->tools.n && !listed; i++)
        listed = names_tool(x->tools.at[i], tool, true);
    return listed;
}

/* Handing over and ending a loop is how the agents of a workflow work together: no list of tools takes that away. */
static void add_flow_tools(hob_narrow *n, hob_arena *a) {
    hob_str *tools = hob_arena_alloc(a, (n->ntools + 2) * sizeof *tools);
    if (n->ntools) memcpy(tools, n->tools, n->ntools * sizeof *tools);
    tools[n->ntools++] = HOB_STR("transfer_to_agent");
    tools[n->ntools++] = HOB_STR("exit_loop");
    n->tools = tools;
}

hob_narrow hob_definition_narrow_part(const hob_definition *x, hob_arena *a) {
    hob_narrow n = hob_definition_narrow(x, a);
    if (n.only) add_flow_tools(&n, a);
    return n;
}

hob_narrow hob_definition_narrow(const hob_definition *x, hob_arena *a) {
    char who[HOB_DEFINITION_NAME_MAX + 16];
    int n = snprintf(who, sizeof who, "%s %.*s", kind_name(x->kind), HOB_FMT(x->name));
    return (hob_narrow){.who = hob_arena_dup(a, hob_str_n(who, (size_t)n)),
                        .only = x->flags & HOB_DEFINITION_TOOLS,
                        .tools = x->tools.at,
                        .ntools = x->tools.n,
                        .disallowed = x->disallowed_tools.at,
                        .ndisallowed = x->disallowed_tools.n,
                        .mode = x->permission_mode};
}
