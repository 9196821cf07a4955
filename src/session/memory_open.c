/*
 * memory_open.c - which memory a session has, and what becomes of it if there is none to be had.
 *
 * A memory that cannot be opened does not keep a session from working: it goes without, and says so, to the host
 * (hob_session_init_warning) and in its log.
 */
#include "session/memory.h"

/* ---- the runtime's part ----------------------------------------------------------------------------------------- */

static int take_host(hob_runtime *rt, const hob_memory_ops *given, hob_error *err) {
    hob_memory_ops *ops = HOB_NEW(hob_memory_ops);
    rt->host_memory = ops;
    int rc = hob_take_options(ops, sizeof *ops, given, given->size, err);
    if (rc >= 0 && (!ops->find || !ops->change))
        rc = hob_fail(err, HOB_EINVAL, 0, "the host's memory needs find and change");
    return rc;
}

int hob_runtime_open_memory(hob_runtime *rt, const hob_runtime_opts *o, hob_error *err) {
    hob_str file = hob_config_str(rt->config, "memory.file");
    if (o->memory) return take_host(rt, o->memory, err);
    if (!file.n || !hob_config_bool(rt->config, "memory.enabled", true)) return HOB_OK;
    hob_sqlite_opts so = {.path = file, .pool = rt->pool};
    return hob_store_sqlite_open(rt->loop, &so, &rt->memory_store, err);
}

void hob_runtime_close_memory(hob_runtime *rt) {
    hob_memory_host_drop(rt);
    if (rt->memory_store) rt->memory_store->ops->close(rt->memory_store);
    rt->memory_store = NULL;
    hob_free(rt->host_memory);
    rt->host_memory = NULL;
}

/* ---- can it be used? ---------------------------------------------------------------------------------------------- */

typedef struct probe {
    hob_op op;
    hob_memory *m;
} probe;

static void on_probed(int code, const hob_error *err, const hob_store_memory *items, size_t n,
                      const hob_store_tenant *numbers, hob_str next, void *user) {
    (void)items, (void)n, (void)numbers, (void)next;
    hob_op_done(&((probe *)user)->op, code, err);
}

static void start_probe(hob_op *op) {
    probe *p = HOB_CONTAINER(op, probe, op);
    hob_store_memory_query q = {.recent = 1, .limit = 1};
    hob_memory_ask(p->m, &q, on_probed, p);
}

/* Memory in the runtime's own store needs no question: without that store there is no session. */
void hob_memory_probe(hob_runtime *rt, hob_error *err) {
    err->code = HOB_OK;
    if (!rt->memory_store && !rt->host_memory) return;
    probe p = {.op = {.start = start_probe}};
    p.m = hob_memory_create(rt, NULL, HOB_STR("hob"), HOB_STR("local"));
    hob_op_run(rt, &p.op, err);
    hob_memory_destroy(p.m);
}

/* ---- the session's part ------------------------------------------------------------------------------------------- */

static bool is_wanted(hob_session *s, const hob_session_opts *o) {
    return o->choice != HOB_SESSION_IN_MEMORY && !(o->flags & HOB_SESSION_NO_MEMORY) &&
           hob_config_bool(s->rt->config, "memory.enabled", true);
}

int hob_session_init_memory(hob_session *s, const hob_session_opts *o, hob_error *err) {
    const hob_error *unusable = s->memory_error;
    if (!is_wanted(s, o)) return HOB_OK;
    if (unusable && unusable->code < 0) {
        char text[sizeof unusable->message + 64];
        snprintf(text, sizeof text, "this session has no memory: %s", unusable->message);
        s->init_warning = hob_dupz(hob_str_z(text));
        hob_log(HOB_LOG_WARN, "session", "%s: %s", s->id, text);
        return HOB_OK;
    }
    s->memory = hob_memory_create(s->rt, s, hob_str_z(s->app_name), hob_str_z(s->user_id));
    bool tools = s->cwd && !(o->flags & HOB_SESSION_NO_BUILTIN_TOOLS);
    return tools ? hob_memory_add_tools(s, err) : HOB_OK;
}

int hob_session_say_warning(hob_session *s, hob_error *err) {
    hob_draft d;
    hob_jsonw w;
    if (!s->init_warning || s->warned) return HOB_OK;
    s->warned = true;
    hob_draft_init(&d, HOB_EVENT_WARNING);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "code", HOB_STR("memory_unavailable"));
    hob_jsonw_kstr(&w, "text", hob_str_z(s->init_warning));
    hob_jsonw_object_end(&w);
    return hob_session_append(s, &d, err);
}

hob_memory *hob_session_memory(hob_session *s) {
    return s->memory; /* never changes while the session is open */
}

int hob_session_init_warning(hob_session *s, char *buf, size_t cap) {
    return hob_str_out(hob_str_z(s->init_warning), buf, cap);
}

/* ---- without a session ---------------------------------------------------------------------------------------------- */

int hob_memory_open(hob_runtime *rt, const char *app_name, const char *user_id, hob_memory **out,
                    hob_error *err) {
    hob_str app = hob_str_z(app_name ? app_name : "hob");
    hob_str user = hob_str_z(user_id ? user_id : "local");
    if (!app.n || !user.n || !hob_utf8_valid(app) || !hob_utf8_valid(user))
        return hob_fail(err, HOB_EINVAL, 0, "whose memory? an application and a user are needed");
    *out = hob_memory_create(rt, NULL, app, user);
    return HOB_OK;
}

void hob_memory_close(hob_memory *m) {
    if (m && !m->s) hob_memory_destroy(m);
}
