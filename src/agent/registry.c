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

typedef hob_def_entry entry;

hob_def_list *hob_def_list_create(hob_mode widest) {
    hob_def_list *l = HOB_NEW(hob_def_list);
    l->widest = widest;
    return l;
}

static void entry_destroy(entry *e) {
    hob_arena_destroy(e->arena);
    hob_free(e);
}

void hob_def_list_destroy(hob_def_list *l) {
    if (!l) return;
    for (size_t i = 0; i < l->n; i++) entry_destroy(l->at[i]);
    hob_free(l->at);
    hob_free(l);
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

static void settle(hob_def_list *l, hob_definition_kind kind, hob_str name) {
    entry *best = NULL;
    for (size_t i = 0; i < l->n; i++) {
        entry *e = l->at[i];
        if (takes_part(e, kind, name) && (!best || nearer(best, e))) best = e;
    }
    for (size_t i = 0; i < l->n; i++) {
        entry *e = l->at[i];
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

static entry *entry_create(const hob_def_list *l) {
    entry *e = HOB_NEW(entry);
    e->arena = hob_arena_create(ARENA_MAX);
    e->batch = l->batch;
    return e;
}

static void push(hob_def_list *l, entry *e) {
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 16;
        l->at = hob_realloc(l->at, l->cap * sizeof(l->at[0]));
    }
    l->at[l->n++] = e;
    settle(l, e->x.kind, e->x.name);
}

static int too_many(hob_error *err) {
    return hob_fail(err, HOB_ETOOBIG, 0, "there are more than %d definitions", HOB_DEFINITIONS_MAX);
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

int hob_def_list_add(hob_def_list *l, const hob_def_file *f, hob_error *err) {
    if (l->n == HOB_DEFINITIONS_MAX) return too_many(err);
    entry *e = entry_create(l);
    hob_error why = {.code = HOB_OK};
    hob_def_text text = f->text;
    size_t line = 0;
    text.widest = l->widest;
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
    push(l, e);
    return HOB_OK;
}

static bool is_of(const entry *e, hob_definition_kind kind, hob_str dir) {
    return e->x.kind == kind && e->dir.n && hob_str_eq(e->dir, dir);
}

/* What is shadowed by one that goes is live again. */
static void forget(hob_def_list *l, hob_definition_kind kind, hob_str dir) {
    size_t kept = 0, n = 0;
    entry **gone = hob_alloc((l->n + 1) * sizeof(*gone));
    for (size_t i = 0; i < l->n; i++) {
        if (is_of(l->at[i], kind, dir))
            gone[n++] = l->at[i];
        else
            l->at[kept++] = l->at[i];
    }
    l->n = kept;
    for (size_t i = 0; i < n; i++) {
        settle(l, kind, gone[i]->x.name);
        entry_destroy(gone[i]);
    }
    hob_free(gone);
}

int hob_def_list_replace(hob_def_list *l, hob_definition_kind kind, hob_str dir,
                         hob_def_list *stage, hob_error *err) {
    size_t before = 0;
    for (size_t i = 0; i < l->n; i++) before += is_of(l->at[i], kind, dir);
    if (l->n - before + stage->n > HOB_DEFINITIONS_MAX) return too_many(err);
    forget(l, kind, dir);
    l->batch++;
    for (size_t i = 0; i < stage->n; i++) {
        stage->at[i]->batch = l->batch;
        push(l, stage->at[i]);
    }
    stage->n = 0;
    return HOB_OK;
}

/* ---- agents as values --------------------------------------------------------------------------- */

static int check_worker(const hob_def_list *l, const hob_definition *x, hob_error *err) {
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
    if (hob_mode_wider(mode, l->widest))
        return hob_fail(err, HOB_EINVAL, 0, "%.*s: its permission mode is wider than %s",
                        HOB_FMT(x->name), hob_mode_name(l->widest));
    if (x->max_turns < 0)
        return hob_fail(err, HOB_EINVAL, 0, "%.*s: max_turns is negative", HOB_FMT(x->name));
    return HOB_OK;
}

/* A value registered again takes the place of the one before. */
static void drop_worker(hob_def_list *l, hob_str name) {
    for (size_t i = 0; i < l->n; i++) {
        entry *e = l->at[i];
        if (e->x.path.n || e->x.kind != HOB_DEFINITION_AGENT || !hob_str_eq(e->x.name, name))
            continue;
        memmove(&l->at[i], &l->at[i + 1], (l->n - i - 1) * sizeof(l->at[0]));
        l->n--;
        entry_destroy(e);
        return;
    }
}

static void add_worker(hob_def_list *l, const hob_definition *from) {
    drop_worker(l, from->name);
    l->batch++;
    entry *e = entry_create(l);
    hob_arena *a = e->arena;
    e->x = (hob_definition){.size = sizeof(*from),
                            .kind = from->kind,
                            .flags = from->flags,
                            .name = hob_arena_dup(a, from->name),
                            .description = hob_arena_dup(a, from->description),
                            .text = hob_arena_dup(a, from->text),
                            .model = hob_arena_dup(a, from->model),
                            .permission_mode = hob_arena_dup(a, from->permission_mode),
                            .tools = hob_strs_dup(a, from->tools),
                            .disallowed_tools = hob_strs_dup(a, from->disallowed_tools),
                            .skills = hob_strs_dup(a, from->skills),
                            .max_turns = from->max_turns,
                            .origin = HOB_ORIGIN_FLAG};
    if (from->tools.n) e->x.flags |= HOB_DEFINITION_TOOLS;
    push(l, e);
}

int hob_def_list_add_workers(hob_def_list *l, const hob_definition *agents, size_t n,
                             hob_error *err) {
    int code = l->n + n > HOB_DEFINITIONS_MAX ? too_many(err) : HOB_OK;
    for (size_t i = 0; i < n && code == HOB_OK; i++) code = check_worker(l, &agents[i], err);
    if (code < 0) return code;
    for (size_t i = 0; i < n; i++) add_worker(l, &agents[i]);
    return HOB_OK;
}

/* ---- looking ------------------------------------------------------------------------------------ */

const hob_definition *hob_def_list_find(const hob_def_list *l, hob_definition_kind kind,
                                        hob_str name) {
    for (size_t i = 0; i < l->n; i++) {
        const hob_definition *x = &l->at[i]->x;
        if (x->state == HOB_DEFINITION_LIVE && x->kind == kind && hob_str_eq(x->name, name))
            return x;
    }
    return NULL;
}

size_t hob_def_list_count(const hob_def_list *l) {
    return l->n;
}

const hob_definition *hob_def_list_at(const hob_def_list *l, size_t i) {
    return i < l->n ? &l->at[i]->x : NULL;
}

size_t hob_def_list_live(const hob_def_list *l, hob_definition_kind kind, hob_str dir) {
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const entry *e = l->at[i];
        bool here = !dir.n || (e->x.kind == kind && hob_str_eq(e->dir, dir));
        n += here && e->x.state == HOB_DEFINITION_LIVE;
    }
    return n;
}

hob_str hob_def_list_workspace_of(const hob_def_list *l, const hob_definition *x) {
    for (size_t i = 0; i < l->n; i++)
        if (&l->at[i]->x == x) return l->at[i]->workspace;
    return HOB_STR_NULL;
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
