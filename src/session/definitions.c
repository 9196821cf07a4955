/*
 * definitions.c - the handle of hob/definitions.h: a list, its lock, and who holds it.
 */
#include "session/definitions.h"

#include "config/discover.h"

#include <pthread.h>
#include <stdatomic.h>

#define EXPANDED_MAX ((size_t)16 << 20)

struct hob_definitions {
    atomic_int refs; /* the host's, and one of each session */
    pthread_mutex_t lock;
    hob_def_list *list;
    hob_buf expanded; /* what the host last asked for */
};

int hob_definitions_create(const hob_definitions_opts *o, hob_definitions **out, hob_error *err) {
    hob_mode widest = HOB_MODE_ASK;
    const char *mode = o ? o->permission_mode : NULL;
    if (mode && hob_mode_from(hob_str_z(mode), &widest) < 0)
        return hob_fail(err, HOB_EINVAL, 0, "\"%s\" is not a permission mode", mode);
    hob_definitions *d = HOB_NEW(hob_definitions);
    atomic_init(&d->refs, 1);
    pthread_mutex_init(&d->lock, NULL);
    d->list = hob_def_list_create(widest);
    hob_buf_init(&d->expanded, EXPANDED_MAX);
    *out = d;
    return HOB_OK;
}

hob_definitions *hob_definitions_ref(hob_definitions *d) {
    if (d) atomic_fetch_add(&d->refs, 1);
    return d;
}

void hob_definitions_destroy(hob_definitions *d) {
    if (!d || atomic_fetch_sub(&d->refs, 1) > 1) return;
    hob_def_list_destroy(d->list);
    hob_buf_finish(&d->expanded);
    pthread_mutex_destroy(&d->lock);
    hob_free(d);
}

/* ---- filling ------------------------------------------------------------------------------------ */

hob_mode hob_definitions_widest(const hob_definitions *d) {
    return d->list->widest;
}

int hob_definitions_replace(hob_definitions *d, hob_definition_kind kind, hob_str dir,
                            hob_def_list *stage, hob_error *err) {
    pthread_mutex_lock(&d->lock);
    int code = hob_def_list_replace(d->list, kind, dir, stage, err);
    pthread_mutex_unlock(&d->lock);
    return code;
}

int hob_agents_register_workers(hob_definitions *d, const hob_definition *agents, size_t n,
                                hob_error *err) {
    pthread_mutex_lock(&d->lock);
    int code = hob_def_list_add_workers(d->list, agents, n, err);
    pthread_mutex_unlock(&d->lock);
    return code;
}

int hob_agents_register_worker(hob_definitions *d, const hob_definition *agent, hob_error *err) {
    return hob_agents_register_workers(d, agent, agent ? 1 : 0, err);
}

/* ---- looking, by whoever registers ---------------------------------------------------------------- */

const hob_definition *hob_definitions_find(const hob_definitions *d, hob_definition_kind kind,
                                           hob_str name) {
    return hob_def_list_find(d->list, kind, name);
}

size_t hob_definitions_count(const hob_definitions *d) {
    return d->list->n;
}

const hob_definition *hob_definitions_at(const hob_definitions *d, size_t i) {
    return hob_def_list_at(d->list, i);
}

size_t hob_definitions_live(const hob_definitions *d, hob_definition_kind kind, hob_str dir) {
    return hob_def_list_live(d->list, kind, dir);
}

int hob_definitions_expand(hob_definitions *d, hob_definition_kind kind, hob_str name,
                           hob_str arguments, hob_str *out, hob_error *err) {
    if (kind == HOB_DEFINITION_AGENT)
        return hob_fail(err, HOB_EINVAL, 0, "an agent is not a text to expand");
    const hob_definition *x = hob_definitions_find(d, kind, name);
    if (!x) return hob_definitions_missing(d, kind, name, err);
    hob_str body = x->text, workspace = hob_def_list_workspace_of(d->list, x);
    hob_buf text;
    hob_buf_init(&text, HOB_DISCOVER_FILE_MAX + 1);
    hob_buf_reset(&d->expanded);
    int code =
        kind == HOB_DEFINITION_SKILL ? hob_skill_text(x, workspace, &text, &body, err) : HOB_OK;
    if (code == HOB_OK && hob_template_expand(body, arguments, &d->expanded) < 0)
        code = hob_fail(err, HOB_ETOOBIG, 0, "%.*s with its arguments is too large", HOB_FMT(name));
    if (code == HOB_OK) *out = hob_buf_str(&d->expanded);
    hob_buf_finish(&text);
    return code;
}

/* ---- looking, by sessions ------------------------------------------------------------------------- */

int hob_definitions_copy(hob_definitions *d, hob_definition_kind kind, hob_str name, hob_arena *a,
                         hob_definition *out, hob_str *workspace) {
    if (!d) return HOB_ENOENT;
    pthread_mutex_lock(&d->lock);
    int code = hob_def_list_copy(d->list, kind, name, a, out, workspace);
    pthread_mutex_unlock(&d->lock);
    return code;
}

size_t hob_definitions_all(hob_definitions *d, hob_definition_kind kind, hob_arena *a,
                           hob_definition **out) {
    *out = NULL;
    if (!d) return 0;
    pthread_mutex_lock(&d->lock);
    size_t n = hob_def_list_all(d->list, kind, a, out);
    pthread_mutex_unlock(&d->lock);
    return n;
}

int hob_definitions_missing(hob_definitions *d, hob_definition_kind kind, hob_str name,
                            hob_error *err) {
    const hob_def_list none = {0};
    if (d) pthread_mutex_lock(&d->lock);
    int code = hob_def_list_missing(d ? d->list : &none, kind, name, err);
    if (d) pthread_mutex_unlock(&d->lock);
    return code;
}
