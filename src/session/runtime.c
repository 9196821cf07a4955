/*
 * runtime.c - creating and taking down what sessions share: loop, pool, store, HTTP client, models.
 */
#include "session/session.h"

#include <signal.h>

/* ---- the store ----------------------------------------------------------------------------------- */

static int open_sqlite(hob_runtime *rt, hob_str file, hob_error *err) {
    hob_sqlite_opts o = {.path = file, .pool = rt->pool};
    return hob_store_sqlite_open(rt->loop, &o, &rt->store, err);
}

static int open_default_sqlite(hob_runtime *rt, hob_error *err) {
    hob_str dir = hob_str_z(rt->state_dir);
    hob_buf path;
    if (!dir.n)
        return hob_fail(
            err, HOB_ECONFIG, 0,
            "the store `sqlite` needs a folder: set state_dir, or say sqlite:FILE or memory");
    hob_buf_init(&path, 4096);
    hob_buf_addf(&path, "%.*s/hob.db", HOB_FMT(dir));
    int rc = path.err ? hob_fail(err, HOB_ECONFIG, 0, "the state folder's name is too long")
                      : open_sqlite(rt, hob_buf_str(&path), err);
    hob_buf_finish(&path);
    return rc;
}

static int open_store(hob_runtime *rt, const hob_runtime_opts *o, hob_error *err) {
    hob_str want = o->store ? hob_str_z(o->store) : hob_config_str(rt->config, "store");
    bool said = o->store || hob_config_origin(rt->config, "store", NULL) != HOB_ORIGIN_BUILTIN;
    if (!said && !*rt->state_dir) want = HOB_STR("memory");
    if (hob_str_eqz(want, "memory")) return hob_store_memory_open(rt->loop, &rt->store, err);
    if (hob_str_starts(want, HOB_STR("sqlite:")))
        return open_sqlite(rt, hob_str_skip(want, 7), err);
    if (!want.n || hob_str_eqz(want, "sqlite")) return open_default_sqlite(rt, err);
    return hob_fail(err, HOB_ECONFIG, 0,
                    "unknown store %.*s: sqlite, sqlite:FILE or memory are known", HOB_FMT(want));
}

int hob_runtime_memory(hob_runtime *rt, hob_store **out, hob_error *err) {
    if (!rt->memory) {
        int rc = hob_store_memory_open(rt->loop, &rt->memory, err);
        if (rc < 0) return rc;
    }
    *out = rt->memory;
    return HOB_OK;
}

int hob_runtime_exec(hob_runtime *rt, hob_exec **out, hob_error *err) {
    if (!rt->exec) {
        hob_exec_opts o = {.helper = rt->exec_helper, .libexec_dir = rt->libexec_dir};
        int rc = hob_exec_create(rt->loop, &o, &rt->exec, err);
        if (rc < 0) return rc;
    }
    *out = rt->exec;
    return HOB_OK;
}

/* Rounding makes wall time less monotonic time waver by a millisecond; sessions must not. A clock that was set anew is
 * followed. */
int64_t hob_runtime_clock_base(hob_runtime *rt) {
    hob_clock *c = hob_loop_clock(rt->loop);
    int64_t base = c->wall_ms(c) - hob_loop_now(rt->loop);
    if (base < rt->clock_base - 1000 || base > rt->clock_base + 1000) rt->clock_base = base;
    return rt->clock_base;
}

/* ---- parts ------------------------------------------------------------------------------------------ */

static int open_http(hob_runtime *rt, hob_error *err) {
    char *ca = hob_dupz(hob_config_str(rt->config, "net.ca_file"));
    hob_str https = hob_config_str(rt->config, "net.https_proxy");
    char *proxy = hob_dupz(https.n ? https : hob_config_str(rt->config, "net.all_proxy"));
    char *none = hob_dupz(hob_config_str(rt->config, "net.no_proxy"));
    hob_http_opts o = {.pool = rt->pool,
                       .ca_file = *ca ? ca : NULL,
                       .proxy = *proxy ? proxy : NULL,
                       .no_proxy = *none ? none : NULL};
    int rc = hob_http_create(rt->loop, &o, &rt->http, err);
    hob_free(ca);
    hob_free(proxy);
    hob_free(none);
    return rc;
}

static int open_parts(hob_runtime *rt, const hob_runtime_opts *o, hob_error *err) {
    int rc = hob_loop_create(NULL, &rt->loop, err);
    if (rc >= 0) rc = hob_pool_create(o->workers ? o->workers : 4, 4096, &rt->pool, err);
    if (rc >= 0) rc = open_store(rt, o, err);
    if (rc >= 0) rc = hob_runtime_open_memory(rt, o, err);
    if (rc >= 0) rc = open_http(rt, err);
    if (rc >= 0) rc = hob_models_create(rt->config, &rt->models, err);
    if (rc >= 0) rc = hob_telemetry_open(rt, err);
    return rc;
}

/* Runs on the loop thread, when no session is left. */
static void close_parts(hob_runtime *rt) {
    hob_telemetry_close(rt);
    hob_models_destroy(rt->models);
    hob_http_destroy(rt->http);
    hob_exec_destroy(rt->exec);
    hob_runtime_close_memory(rt);
    if (rt->store) rt->store->ops->close(rt->store);
    if (rt->memory) rt->memory->ops->close(rt->memory);
    rt->store = rt->memory = NULL;
}

static void free_runtime(hob_runtime *rt) {
    hob_runtime_drop_watchers(rt);
    hob_pool_destroy(rt->pool);
    while (rt->loop && hob_loop_process(rt->loop) > 0) {
    }
    hob_loop_destroy(rt->loop);
    hob_arena_destroy(rt->scratch);
    hob_config_destroy(rt->own_config);
    hob_free(rt->envp);
    hob_free(rt->exec_helper);
    hob_free(rt->libexec_dir);
    hob_free(rt->state_dir);
    pthread_cond_destroy(&rt->cond);
    pthread_mutex_destroy(&rt->lock);
    hob_free(rt);
}

/* ---- the thread -------------------------------------------------------------------------------------- */

static bool stopping(hob_runtime *rt) {
    pthread_mutex_lock(&rt->lock);
    bool yes = rt->stopping;
    pthread_mutex_unlock(&rt->lock);
    return yes;
}

/* Who was to be woken waits on another thread. */
static void pass_wake_on(hob_runtime *rt) {
    if (!atomic_load(&rt->woken)) return;
    pthread_mutex_lock(&rt->lock);
    pthread_cond_broadcast(&rt->cond);
    pthread_mutex_unlock(&rt->lock);
}

static void *run_loop(void *arg) {
    hob_runtime *rt = arg;
    while (!stopping(rt)) {
        hob_loop_run_once(rt->loop, -1);
        pass_wake_on(rt);
    }
    return NULL;
}

/* Signals are the host's: its handlers run on its own threads. */
static int start_thread(hob_runtime *rt, hob_error *err) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int e = pthread_create(&rt->thread, NULL, run_loop, rt);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e ? hob_fail(err, HOB_ENOMEM, e, "no thread for the loop: %s", strerror(e)) : HOB_OK;
}

static void init_locks(hob_runtime *rt) {
    pthread_condattr_t attr;
    pthread_mutex_init(&rt->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&rt->cond, &attr);
    pthread_condattr_destroy(&attr);
}

/* ---- public ------------------------------------------------------------------------------------------- */

static int check_options(const hob_runtime_opts *o, hob_error *err) {
    if (o->loop > HOB_LOOP_HOST)
        return hob_fail(err, HOB_EINVAL, 0, "there is no loop mode %d", (int)o->loop);
    if (o->workers > 1024) return hob_fail(err, HOB_EINVAL, 0, "at most 1024 workers");
    return HOB_OK;
}

int hob_runtime_create(const hob_runtime_opts *given, hob_runtime **out, hob_error *err) {
    hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
    int rc = given ? hob_take_options(&o, sizeof o, given, given->size, err) : HOB_OK;
    if (rc >= 0) rc = check_options(&o, err);
    if (rc < 0) return rc;
    hob_runtime *rt = HOB_NEW(hob_runtime);
    hob_list_init(&rt->sessions);
    hob_list_init(&rt->memory_replies);
    hob_list_init(&rt->watchers);
    init_locks(rt);
    rt->scratch = hob_arena_create(0);
    rt->mode = o.loop;
    rt->own_config = o.config ? NULL : hob_config_create();
    rt->config = o.config ? o.config : rt->own_config;
    rt->exec_helper = o.exec_helper ? hob_dupz(hob_str_z(o.exec_helper)) : NULL;
    rt->libexec_dir = o.libexec_dir ? hob_dupz(hob_str_z(o.libexec_dir)) : NULL;
    rt->state_dir =
        hob_dupz(o.state_dir ? hob_str_z(o.state_dir) : hob_config_state_dir(rt->config));
    rt->thread = pthread_self();
    rt->envp = hob_tool_environment(o.envp, NULL, 0);
    rc = open_parts(rt, &o, err);
    if (rc >= 0 && rt->mode == HOB_LOOP_OWN_THREAD) rc = start_thread(rt, err);
    if (rc < 0) {
        close_parts(rt);
        free_runtime(rt);
        return rc;
    }
    *out = rt;
    return HOB_OK;
}

static void take_down(hob_op *op) {
    hob_runtime *rt = op->rt;
    close_parts(rt);
    pthread_mutex_lock(&rt->lock);
    rt->stopping = true;
    pthread_mutex_unlock(&rt->lock);
    hob_op_done(op, HOB_OK, NULL);
}

void hob_runtime_destroy(hob_runtime *rt) {
    hob_op op = {.start = take_down};
    if (!rt || hob_inside_callback(rt)) return; /* inside a callback: refused, nothing is freed */
    while (!hob_list_empty(&rt->sessions))
        hob_session_detach(HOB_LIST_FIRST(&rt->sessions, hob_session, link));
    hob_telemetry_flush(rt);
    hob_op_run(rt, &op, NULL);
    if (rt->mode == HOB_LOOP_OWN_THREAD) pthread_join(rt->thread, NULL);
    free_runtime(rt);
}

int hob_runtime_fd(hob_runtime *rt) {
    return hob_loop_fd(rt->loop);
}

int hob_runtime_timeout(hob_runtime *rt) {
    return hob_loop_timeout(rt->loop);
}

int hob_runtime_process(hob_runtime *rt) {
    return hob_loop_process(rt->loop);
}

const hob_config *hob_runtime_config(hob_runtime *rt) {
    return rt->config;
}

void hob_runtime_wake(hob_runtime *rt) {
    atomic_store(&rt->woken, true);
    hob_loop_wake(rt->loop);
}
