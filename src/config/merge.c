/*
 * merge.c - layers into the settings in force.
 *
 *   built-in < admin < user < workspace (what it may say) < environment < flag < admin's policy
 *
 * Objects are merged, everything else is replaced, but lists of rules and hooks are joined: a rule
 * that denies can be added by anyone and taken back by nobody. The workspace comes from whoever wrote
 * the repository, so it only narrows: a value of it counts if it is stricter than what administrator
 * and user say together. A policy is the other end: flags and variables count below it only as far as
 * they are stricter.
 */
#include "config/merge.h"

typedef struct merging {
    const hob_layers *layers;
    hob_setting *result;
    hob_notes *notes;
} merging;

static bool leaf(const hob_setting *s) {
    return s && !s->object;
}

static hob_str inner(const hob_setting *array) {
    return hob_str_trim(hob_str_n(array->json + 1, array->json_n - 2));
}

/* `into` becomes first + second, two arrays; said by both. */
static void join(hob_setting *into, const hob_setting *first, const hob_setting *second) {
    hob_str a = inner(first), b = inner(second);
    if (a.n == 0 || b.n == 0) {
        const hob_setting *whole = b.n ? second : first;
        if (whole != into) hob_setting_copy(into, whole);
        return;
    }
    hob_buf json, source;
    hob_buf_init(&json, (size_t)64 << 20);
    hob_buf_init(&source, 64 << 10);
    hob_buf_addf(&json, "[%.*s,%.*s]", HOB_FMT(a), HOB_FMT(b));
    hob_buf_addf(&source, "%s, %s", first->source, second->source);
    hob_setting_put(into, hob_buf_str(&json), HOB_MAX(first->origin, second->origin),
                    hob_buf_str(&source));
    hob_buf_finish(&json);
    hob_buf_finish(&source);
}

static void put_leaf(hob_setting *into, const hob_setting *from, const hob_path *path) {
    const hob_known *k = hob_known_find(path);
    if (k && (k->flags & HOB_KNOWN_CONCAT) && leaf(into))
        join(into, into, from);
    else
        hob_setting_copy(into, from);
}

static void overlay(hob_setting *into, const hob_setting *from, hob_path *path) {
    if (leaf(from)) {
        put_leaf(into, from, path);
        return;
    }
    if (leaf(into)) hob_setting_copy(into, from); /* "cost": null below, an object above */
    for (const hob_setting *c = from->first; c; c = c->next) {
        path->keys[path->n++] = hob_setting_key(c);
        overlay(hob_setting_ensure(into, hob_setting_key(c)), c, path);
        path->n--;
    }
}

/* ---- the workspace -------------------------------------------------------------------------- */

static const hob_setting *first_leaf(const hob_setting *s) {
    while (s && s->object) s = s->first;
    return s;
}

static void ignored(merging *m, const hob_setting *s, const hob_path *path, const char *why) {
    hob_buf name;
    hob_buf_init(&name, 4096);
    hob_path_print(path, &name);
    hob_notes_add(m->notes, "%s: %s is ignored: %s", s->source, hob_buf_z(&name), why);
    hob_buf_finish(&name);
}

static bool has_provider(const merging *m, hob_str name) {
    const hob_setting *trees[] = {m->result, m->layers->of[HOB_ORIGIN_ENV],
                                  m->layers->of[HOB_ORIGIN_FLAG], m->layers->of[HOB_LAYER_POLICY]};
    for (size_t i = 0; i < HOB_ARRAY_LEN(trees); i++) {
        const hob_setting *all = trees[i] ? hob_setting_find_z(trees[i], "providers") : NULL;
        if (all && hob_setting_child(all, name)) return true;
    }
    return false;
}

/* A name, or one of a provider that others have set up: never a file to play back. */
static bool model_is_open(const merging *m, const hob_setting *s) {
    hob_arena *a = hob_arena_create(HOB_CONFIG_MAX_FILE * 4);
    const hob_json *v;
    bool open = hob_json_parse(a, hob_setting_json(s), NULL, &v, NULL) == HOB_OK;
    hob_str model = open ? hob_json_str(v) : HOB_STR_NULL;
    ptrdiff_t slash = hob_str_chr(model, '/');
    if (hob_str_starts(model, HOB_STR("scripted:")) || hob_str_starts(model, HOB_STR("recorded:")))
        open = false;
    else if (slash >= 0)
        open = has_provider(m, hob_str_first(model, (size_t)slash));
    hob_arena_destroy(a);
    return open;
}

static const char *objection(const merging *m, const hob_known *k, const hob_setting *s,
                             const hob_setting *now) {
    switch (k->bound) {
    case HOB_BOUND_NONE: return "a workspace may not set it";
    case HOB_BOUND_MODEL:
        return model_is_open(m, s) ? NULL
                                   : "a workspace may only name a model of a provider that "
                                     "you or the administrator have set up";
    case HOB_BOUND_TRUST:
        if (!m->layers->trusted) return "it counts once you trust this folder";
        return leaf(now) && !(k->flags & HOB_KNOWN_CONCAT)
                   ? "there is one of that name already, and a workspace may not change it"
                   : NULL;
    case HOB_BOUND_RULES: return NULL;
    case HOB_BOUND_GRANTS: return inner(s).n ? "a workspace may deny and ask, not allow" : NULL;
    case HOB_BOUND_MODE:
    case HOB_BOUND_LEVEL:
    case HOB_BOUND_FALSE:
    case HOB_BOUND_PATHS:
    case HOB_BOUND_LOWER:
        return hob_known_stricter(k, now, s) ? NULL
                                             : "a workspace may only be stricter than what is set";
    }
    return "it is not a setting";
}

static void narrow_leaf(merging *m, const hob_setting *s, const hob_path *path) {
    const hob_known *k = hob_known_find(path);
    const hob_setting *now = hob_setting_find(m->result, path);
    const char *why = k ? objection(m, k, s, now) : "it is not a setting";
    if (why) {
        ignored(m, s, path, why);
        return;
    }
    hob_setting *into = m->result;
    for (size_t i = 0; i < path->n; i++) into = hob_setting_ensure(into, path->keys[i]);
    if (k->bound != HOB_BOUND_GRANTS) put_leaf(into, s, path);
}

static void narrow(merging *m, const hob_setting *s, hob_path *path) {
    if (leaf(s)) {
        narrow_leaf(m, s, path);
        return;
    }
    for (const hob_setting *c = s->first; c; c = c->next) {
        path->keys[path->n++] = hob_setting_key(c);
        const hob_setting *spoken = first_leaf(c);
        if (hob_known_open(path))
            narrow(m, c, path);
        else if (spoken)
            ignored(m, spoken, path, "a workspace may not set it");
        path->n--;
    }
}

/* ---- the policy ----------------------------------------------------------------------------- */

static void overruled(merging *m, const hob_setting *now, const hob_setting *policy,
                      const hob_path *path) {
    if (now->origin <= HOB_ORIGIN_ADMIN) return; /* nobody's wish but the administrator's own */
    hob_buf name;
    hob_buf_init(&name, 4096);
    hob_path_print(path, &name);
    hob_notes_add(m->notes, "%s: %s is ignored: %s allows no more than %.*s", now->source,
                  hob_buf_z(&name), policy->source, HOB_FMT(hob_setting_json(policy)));
    hob_buf_finish(&name);
}

static void bind_leaf(merging *m, hob_setting *into, const hob_setting *policy,
                      const hob_path *path) {
    const hob_known *k = hob_known_find(path);
    bool ordered = k && k->bound >= HOB_BOUND_MODE;
    bool joined = k && (k->flags & HOB_KNOWN_CONCAT) && k->bound != HOB_BOUND_GRANTS;
    if (leaf(into) && joined) {
        hob_setting *rest = hob_setting_dup(into);
        join(into, policy, rest);
        hob_setting_destroy(rest);
        return;
    }
    if (leaf(into) && ordered) {
        if (hob_known_stricter(k, policy, into)) return;
        overruled(m, into, policy, path);
    }
    hob_setting_copy(into, policy);
}

static void bind(merging *m, hob_setting *into, const hob_setting *policy, hob_path *path) {
    if (leaf(policy)) {
        bind_leaf(m, into, policy, path);
        return;
    }
    for (const hob_setting *c = policy->first; c; c = c->next) {
        path->keys[path->n++] = hob_setting_key(c);
        bind(m, hob_setting_ensure(into, hob_setting_key(c)), c, path);
        path->n--;
    }
}

hob_setting *hob_layers_merge(const hob_layers *l, hob_notes *notes) {
    merging m = {.layers = l, .result = hob_setting_create(HOB_STR("")), .notes = notes};
    hob_path path = {.n = 0};
    for (int i = HOB_ORIGIN_BUILTIN; i < HOB_LAYERS; i++) {
        if (!l->of[i]) continue;
        if (i == HOB_ORIGIN_WORKSPACE)
            narrow(&m, l->of[i], &path);
        else if (i == HOB_LAYER_POLICY)
            bind(&m, m.result, l->of[i], &path);
        else
            overlay(m.result, l->of[i], &path);
    }
    return m.result;
}
