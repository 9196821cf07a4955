#include "log/keep.h"

#if __SIZEOF_POINTER__ == 8
_Static_assert(sizeof(hob_view) == 416, "a member came to hob_view: keep it below");
_Static_assert(sizeof(hob_kid) == 960, "a member came to hob_kid: keep it below");
#endif

#define VIEW_INTS(X)                                                                               \
    X(last_seq)                                                                                    \
    X(opened_ts)                                                                                   \
    X(last_ts)                                                                                     \
    X(depth)                                                                                       \
    X(messages)                                                                                    \
    X(usage.input_tokens)                                                                          \
    X(usage.output_tokens)                                                                         \
    X(usage.cache_read_tokens)                                                                     \
    X(usage.cache_write_tokens)                                                                    \
    X(usage.reasoning_tokens)                                                                      \
    X(cost_known)                                                                                  \
    X(state_revision)                                                                              \
    X(kids.forgotten)

#define VIEW_STRS(X)                                                                               \
    X(id)                                                                                          \
    X(cwd)                                                                                         \
    X(model)                                                                                       \
    X(thinking)                                                                                    \
    X(title)                                                                                       \
    X(permission_mode)                                                                             \
    X(system_prompt)                                                                               \
    X(forked_from)                                                                                 \
    X(parent)                                                                                      \
    X(first_prompt)                                                                                \
    X(app_name)                                                                                    \
    X(user_id)                                                                                     \
    X(agent)                                                                                       \
    X(limits)

#define KID_INTS(X)                                                                                \
    X(ended_seq)                                                                                   \
    X(background)                                                                                  \
    X(host)                                                                                        \
    X(orphan)                                                                                      \
    X(place)                                                                                       \
    X(depth)                                                                                       \
    X(turn)                                                                                        \
    X(started_ts)                                                                                  \
    X(ended_ts)                                                                                    \
    X(usage.input_tokens)                                                                          \
    X(usage.output_tokens)                                                                         \
    X(usage.cache_read_tokens)                                                                     \
    X(usage.cache_write_tokens)                                                                    \
    X(usage.reasoning_tokens)                                                                      \
    X(cost_known)                                                                                  \
    X(turns)                                                                                       \
    X(tool_calls)                                                                                  \
    X(children)

#define KID_TEXTS(X)                                                                               \
    X(id)                                                                                          \
    X(agent)                                                                                       \
    X(call)                                                                                        \
    X(run)                                                                                         \
    X(status)                                                                                      \
    X(prompt)                                                                                      \
    X(text)

/* Whoever is at work has events of the log in hand. */
bool hob_view_keeps(const hob_view *v) {
    for (size_t i = 0; i < v->kids.n; i++)
        if (v->kids.at[i]->open || v->kids.at[i]->started || v->kids.at[i]->nasks) return false;
    return !v->working.n;
}

static void write_kid(const hob_kid *p, hob_jsonw *w) {
    hob_jsonw_object(w);
    KID_INTS(HOB_KEEP_WRITE_INT)
    KID_TEXTS(HOB_KEEP_WRITE_TEXT)
    HOB_KEEP_WRITE_DOUBLE(cost_usd)
    hob_jsonw_object_end(w);
}

void hob_view_write(const hob_view *p, hob_jsonw *w) {
    hob_jsonw_object(w);
    VIEW_INTS(HOB_KEEP_WRITE_INT)
    VIEW_STRS(HOB_KEEP_WRITE_STR)
    HOB_KEEP_WRITE_DOUBLE(cost_usd)
    hob_jsonw_key(w, "kids");
    hob_jsonw_array(w);
    for (size_t i = 0; i < p->kids.n; i++) write_kid(p->kids.at[i], w);
    hob_jsonw_array_end(w);
    hob_jsonw_key(w, "state");
    hob_state_write(&p->state, HOB_SCOPE_SESSION, w); /* what is shared, the store has */
    hob_jsonw_object_end(w);
}

static int read_kid(hob_kid *p, const hob_json *o) {
    int64_t number;
    KID_INTS(HOB_KEEP_READ_INT)
    KID_TEXTS(HOB_KEEP_READ_TEXT)
    HOB_KEEP_READ_DOUBLE(cost_usd)
    return HOB_OK;
}

static int read_kids(hob_kids *k, const hob_json *list) {
    size_t n = hob_json_count(list);
    int rc = hob_json_is(list, HOB_JSON_ARRAY) && n <= HOB_KIDS_MAX ? HOB_OK : HOB_EPARSE;
    if (rc < 0 || !n) return rc;
    k->at = hob_alloc(n * sizeof *k->at);
    k->cap = n;
    for (const hob_json *v = hob_json_first(list); v && rc >= 0; v = hob_json_next(v)) {
        k->at[k->n] = HOB_NEW(hob_kid);
        rc = read_kid(k->at[k->n++], v);
    }
    return rc;
}

static int read_state(hob_state *s, const hob_json *o) {
    if (!hob_json_is(o, HOB_JSON_OBJECT)) return HOB_EPARSE;
    for (const hob_json *m = hob_json_first(o); m; m = hob_json_next(m)) {
        hob_str key = hob_json_key(m);
        if (hob_state_check_key(key, NULL) < 0 || hob_state_scope(key) != HOB_SCOPE_SESSION)
            return HOB_EPARSE;
        hob_state_assign(s, key, hob_json_raw(m));
    }
    return HOB_OK;
}

int hob_view_read(hob_view *p, const hob_json *o) {
    int64_t number;
    VIEW_INTS(HOB_KEEP_READ_INT)
    VIEW_STRS(HOB_KEEP_READ_STR)
    HOB_KEEP_READ_DOUBLE(cost_usd)
    int rc = read_kids(&p->kids, hob_json_get(o, "kids"));
    return rc < 0 ? rc : read_state(&p->state, hob_json_get(o, "state"));
}
