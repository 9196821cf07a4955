/*
 * registry.c - definitions by name.
 *
 * Every file that was looked at is kept, with its state: what is not live says why. Of several of one
 * kind and name one is live: what a host registered before what was discovered, then the later folder
 * before the earlier, then the first file of a folder. What is not trusted takes no part in that, so it
 * cannot stand before anything.
 */
#include "agent/definition.h"

#include <stdio.h>

#define ARENA_MAX ((size_t)4 << 20) /* of one definition */
#define EXPANDED_MAX ((size_t)16 << 20)

typedef struct entry {
    hob_definition x;
    hob_arena *arena;
    hob_str dir, workspace;
    unsigned batch;
} entry;

struct hob_definitions {
    entry **at;
    size_t n, cap;
    hob_mode widest;
    unsigned batch;
    hob_buf expanded;
};

int hob_definitions_create(const hob_definitions_opts *o, hob_definitions **out, hob_error *err) {
    hob_mode widest = HOB_MODE_ASK;
    const char *mode = o ? o->permission_mode : NULL;
    if (mode && hob_mode_from(hob_str_z(mode), &widest) < 0)
        return hob_fail(err, HOB_EINVAL, 0, "\"%s\" is not a permission mode", mode);
    hob_definitions *d = HOB_NEW(hob_definitions);
    d->widest = widest;
    hob_buf_init(&d->expanded, EXPANDED_MAX);
    *out = d;
    return HOB_OK;
}

static void entry_destroy(entry *e) {
    hob_arena_destroy(e->arena);
    hob_free(e);
}

void hob_definitions_destroy(hob_definitions *d) {
    if (!d) return;
    for (size_t i = 0; i < d->n; i++) entry_destroy(d->at[i]);
    hob_buf_finish(&d->expanded);
    hob_free(d->at);
    hob_free(d);
}

/* ---- which one is live -------------------------------------------------------------------------- */

static bool takes_part(const entry *e, hob_definition_kind kind, hob_str name) {
    bool may = e->x.state == HOB_DEFINITION_LIVE || e->x.state == HOB_DEFINITION_SHADOWED;
    return may && e->x.kind == kind && hob_str_eq(e->x.name, name);
}

/* b was added after a. */
static bool nearer(const entry *a, const entry *b) {
    bool host_a = a->x.origin == HOB_ORIGIN_FLAG, host_b = b->x.origin == HOB_ORIGIN_FLAG;
    if (host_a != host_b) return host_b;
    return b->batch > a->batch;
}

static void shadow(entry *e, const entry *by) {
    char why[600];
    hob_str path = by->x.path.n ? by->x.path : HOB_STR("one that the program registered");
    snprintf(why, sizeof(why), "the same name is in %.*s", HOB_FMT(hob_str_first(path, 500)));
    e->x.state = HOB_DEFINITION_SHADOWED;
    e->x.why = hob_arena_dup(e->arena, hob_str_z(why));
}

static void settle(hob_definitions *d, hob_definition_kind kind, hob_str name) {
    entry *best = NULL;
    for (size_t i = 0; i < d->n; i++) {
        entry *e = d->at[i];
        if (takes_part(e, kind, name) && (!best || nearer(best, e))) best = e;
    }
    for (size_t i = 0; i < d->n; i++) {
        entry *e = d->at[i];
        if (!takes_part(e, kind, name)) continue;
        if (e != best) {
            shadow(e, best);
        } else if (e->x.state == HOB_DEFINITION_SHADOWED) {
            e->x.state = HOB_DEFINITION_LIVE;
            e->x.why = HOB_STR_NULL;
        }
    }
}

/* ---- adding ------------------------------------------------------------------------------------- */

void hob_definitions_batch(hob_definitions *d) {
    d->batch++;
}

static entry *entry_create(const hob_definitions *d) {
    entry *e = HOB_NEW(entry);
    e->arena = hob_arena_create(ARENA_MAX);
    e->batch = d->batch;
    return e;
}

static int push(hob_definitions *d, entry *e, hob_error *err) {
    if (d->n == HOB_DEFINITIONS_MAX) {
        entry_destroy(e);
        return hob_fail(err, HOB_ETOOBIG, 0, "there are more than %d definitions",
                        HOB_DEFINITIONS_MAX);
    }
    if (d->n == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 16;
        d->at = hob_realloc(d->at, d->cap * sizeof(d->at[0]));
    }
    d->at[d->n++] = e;
    settle(d, e->x.kind, e->x.name);
    return HOB_OK;
}

static void refused(entry *e, const hob_def_file *f, size_t line, const char *why) {
    hob_str stem = f->text.stem;
    e->x = (hob_definition)HOB_DEFINITION_INIT;
    e->x.kind = f->text.kind;
    e->x.name = hob_arena_dup(e->arena, hob_str_first(stem, hob_utf8_prefix(stem, 128)));
    e->x.state = HOB_DEFINITION_REFUSED;
    e->x.line = line;
    e->x.why = hob_arena_dup(e->arena, hob_str_z(why));
}

int hob_definitions_add(hob_definitions *d, const hob_def_file *f, hob_error *err) {
    entry *e = entry_create(d);
    hob_error why = {.code = HOB_OK};
    hob_def_text text = f->text;
    size_t line = 0;
    text.widest = d->widest;
    if (f->why)
        refused(e, f, 0, f->why);
    else if (hob_definition_read(e->arena, &text, &e->x, &line, &why) < 0)
        refused(e, f, line, why.message);
    else if (f->origin == HOB_ORIGIN_WORKSPACE && !f->trusted)
        e->x.state = HOB_DEFINITION_UNTRUSTED;
    if (e->x.state == HOB_DEFINITION_UNTRUSTED) e->x.why = HOB_STR("this folder is not trusted");
    e->x.origin = f->origin;
    e->x.path = hob_arena_dup(e->arena, f->path);
    e->dir = hob_arena_dup(e->arena, f->dir);
    e->workspace = hob_arena_dup(e->arena, f->workspace);
    return push(d, e, err);
}

void hob_definitions_forget(hob_definitions *d, hob_definition_kind kind, hob_str dir) {
    size_t kept = 0;
    hob_arena *a = hob_arena_create(0);
    hob_str *names = hob_arena_alloc(a, (d->n + 1) * sizeof(hob_str));
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++) {
        entry *e = d->at[i];
        if (e->x.kind != kind || !e->dir.n || !hob_str_eq(e->dir, dir)) {
            d->at[kept++] = e;
            continue;
        }
        names[n++] = hob_arena_dup(a, e->x.name);
        entry_destroy(e);
    }
    d->n = kept;
    for (size_t i = 0; i < n; i++) settle(d, kind, names[i]);
    hob_arena_destroy(a);
}

/* ---- agents as values --------------------------------------------------------------------------- */

static hob_strs copy_words(hob_arena *a, hob_strs from) {
    hob_str *at = hob_arena_alloc(a, (from.n + 1) * sizeof(hob_str));
    for (size_t i = 0; i < from.n; i++) at[i] = hob_arena_dup(a, from.at[i]);
    return (hob_strs){at, from.n};
}

static int check_worker(const hob_definitions *d, const hob_definition *x, hob_error *err) {
    const char *why;
    hob_mode mode = HOB_MODE_PLAN;
    if (!x || x->size != sizeof(*x) || x->kind != HOB_DEFINITION_AGENT)
        return hob_fail(err, HOB_EINVAL, 0, "a worker starts as HOB_DEFINITION_INIT, an agent");
    if (!hob_agent_name_valid(x->name, &why)) return hob_fail(err, HOB_EINVAL, 0, "%s", why);
    size_t bytes = x->text.n + x->description.n + x->model.n;
    size_t words = x->tools.n + x->disallowed_tools.n + x->skills.n;
    if (bytes > ARENA_MAX / 4 || words > HOB_DEFINITION_WORDS * 3)
        return hob_fail(err, HOB_EINVAL, 0, "%.*s is too large", HOB_FMT(x->name));
    if (x->permission_mode.n && hob_mode_from(x->permission_mode, &mode) < 0)
        return hob_fail(err, HOB_EINVAL, 0, "%.*s: no such permission mode", HOB_FMT(x->name));
    if (hob_mode_wider(mode, d->widest))
        return hob_fail(err, HOB_EINVAL, 0, "%.*s: its permission mode is wider than %s",
                        HOB_FMT(x->name), hob_mode_name(d->widest));
    if (x->max_turns < 0)
        return hob_fail(err, HOB_EINVAL, 0, "%.*s: max_turns is negative", HOB_FMT(x->name));
    return HOB_OK;
}

static int add_worker(hob_definitions *d, const hob_definition *from, hob_error *err) {
    entry *e = entry_create(d);
    hob_arena *a = e->arena;
    e->x = (hob_definition){.size = sizeof(*from),
                            .kind = from->kind,
                            .flags = from->flags,
                            .name = hob_arena_dup(a, from->name),
                            .description = hob_arena_dup(a, from->description),
                            .text = hob_arena_dup(a, from->text),
                            .model = hob_arena_dup(a, from->model),
                            .permission_mode = hob_arena_dup(a, from->permission_mode),
                            .tools = copy_words(a, from->tools),
                            .disallowed_tools = copy_words(a, from->disallowed_tools),
                            .skills = copy_words(a, from->skills),
                            .max_turns = from->max_turns,
                            .origin = HOB_ORIGIN_FLAG};
    if (from->tools.n) e->x.flags |= HOB_DEFINITION_TOOLS;
    return push(d, e, err);
}

int hob_agents_register_workers(hob_definitions *d, const hob_definition *agents, size_t n,
                                hob_error *err) {
    int code = d->n + n > HOB_DEFINITIONS_MAX
                   ? hob_fail(err, HOB_ETOOBIG, 0, "there are more than %d definitions",
                              HOB_DEFINITIONS_MAX)
                   : HOB_OK;
    for (size_t i = 0; i < n && code == HOB_OK; i++) code = check_worker(d, &agents[i], err);
    for (size_t i = 0; i < n && code == HOB_OK; i++) {
        hob_definitions_batch(d);
        code = add_worker(d, &agents[i], err);
    }
    return code;
}

int hob_agents_register_worker(hob_definitions *d, const hob_definition *agent, hob_error *err) {
    return hob_agents_register_workers(d, agent, agent ? 1 : 0, err);
}

/* ---- looking ------------------------------------------------------------------------------------ */

const hob_definition *hob_definitions_find(const hob_definitions *d, hob_definition_kind kind,
                                           hob_str name) {
    for (size_t i = 0; i < d->n; i++) {
        const hob_definition *x = &d->at[i]->x;
        if (x->state == HOB_DEFINITION_LIVE && x->kind == kind && hob_str_eq(x->name, name))
            return x;
    }
    return NULL;
}

size_t hob_definitions_count(const hob_definitions *d) {
    return d->n;
}

const hob_definition *hob_definitions_at(const hob_definitions *d, size_t i) {
    return i < d->n ? &d->at[i]->x : NULL;
}

size_t hob_definitions_live(const hob_definitions *d, hob_definition_kind kind, hob_str dir) {
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++) {
        const entry *e = d->at[i];
        bool here = !dir.n || (e->x.kind == kind && hob_str_eq(e->dir, dir));
        n += here && e->x.state == HOB_DEFINITION_LIVE;
    }
    return n;
}

hob_str hob_definitions_workspace_of(const hob_definitions *d, const hob_definition *x) {
    for (size_t i = 0; i < d->n; i++)
        if (&d->at[i]->x == x) return d->at[i]->workspace;
    return HOB_STR_NULL;
}

hob_buf *hob_definitions_scratch(hob_definitions *d) {
    hob_buf_reset(&d->expanded);
    return &d->expanded;
}

const char *hob_definition_state_name(hob_definition_state s) {
    switch (s) {
    case HOB_DEFINITION_LIVE: return "live";
    case HOB_DEFINITION_UNTRUSTED: return "untrusted";
    case HOB_DEFINITION_SHADOWED: return "shadowed";
    case HOB_DEFINITION_REFUSED: return "refused";
    }
    return "?";
}

/* ---- tools -------------------------------------------------------------------------------------- */

/* "mcp__files__*" stands for all of a server; a rule in parentheses is not looked at. */
static bool names_tool(hob_str entry_, hob_str tool, bool with_rule) {
    ptrdiff_t open = hob_str_chr(entry_, '(');
    if (open >= 0 && !with_rule) return false;
    hob_str name = hob_str_trim(hob_str_first(entry_, open < 0 ? entry_.n : (size_t)open));
    if (!hob_str_ends(name, HOB_STR("*"))) return hob_str_ieq(name, tool);
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
