/*
 * stored_state.c - the state of a stored session, without opening it: its log is read for what changed it, and the
 * store for what it shares with others.
 */
#include "session/session.h"

enum { PAGE = 512 };

typedef struct looking {
    hob_op op;
    hob_store *store;
    hob_str id;
    uint64_t after;
    hob_state *state;
    hob_str app, user; /* heap */
} looking;

static void read_page(looking *l);

static void take_name(hob_str *to, const hob_json *data, const char *key) {
    hob_str name = hob_json_get_str(data, key);
    if (!name.n) return;
    hob_free((char *)to->p);
    *to = hob_str_n(hob_dupz(name), name.n);
}

static int fold(looking *l, hob_str json, hob_error *err) {
    hob_arena *scratch = l->op.rt->scratch;
    const hob_json *data;
    hob_event *e;
    hob_arena_reset(scratch);
    int rc = hob_event_read(json, scratch, &e, &data, err);
    if (rc < 0) return rc;
    l->after = e->seq;
    if (e->type == HOB_EVENT_STATE_CHANGED) hob_state_fold(l->state, data);
    if (e->type == HOB_EVENT_SESSION_OPENED) {
        take_name(&l->app, data, "app_name");
        take_name(&l->user, data, "user_id");
    }
    hob_event_unref(e);
    return HOB_OK;
}

static void on_states(int code, const hob_error *err, const hob_store_state *rows, size_t n,
                      void *user) {
    looking *l = user;
    hob_state_drop(l->state, HOB_SCOPE_APP | HOB_SCOPE_USER);
    for (size_t i = 0; code >= 0 && i < n; i++)
        hob_state_assign(l->state, rows[i].key, rows[i].value);
    hob_op_done(&l->op, code, err);
}

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    looking *l = user;
    hob_error e;
    for (size_t i = 0; code >= 0 && i < n; i++)
        if ((code = fold(l, events[i].json, &e)) < 0) err = &e;
    if (code < 0)
        hob_op_done(&l->op, code, err);
    else if (more)
        read_page(l);
    else
        l->store->ops->states(l->store, l->app.n ? l->app : HOB_STR("hob"),
                              l->user.n ? l->user : HOB_STR("local"), on_states, l);
}

static void read_page(looking *l) {
    l->store->ops->read(l->store, l->id, l->after, PAGE, 0, on_page, l);
}

static void start(hob_op *op) {
    read_page(HOB_CONTAINER(op, looking, op));
}

int hob_runtime_session_state(hob_runtime *rt, const char *id, hob_state **out, hob_error *err) {
    looking l = {.op = {.start = start}, .store = rt->store, .id = hob_str_z(id)};
    l.state = HOB_NEW(hob_state);
    int rc = hob_op_run(rt, &l.op, err);
    hob_free((char *)l.app.p);
    hob_free((char *)l.user.p);
    if (rc < 0)
        hob_state_destroy(l.state);
    else
        *out = l.state;
    return rc;
}
