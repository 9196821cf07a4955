/*
 * server.c - hob/server.h: the parts in their order of life.
 */
#include "serve/server.h"

#include "serve/callers.h"
#include "serve/names.h"
#include "serve/tally.h"
#include "serve/web.h"

#include <errno.h>
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>

#define DEFAULT_MODE "accept-edits"

enum { IDLE_MS = 60 * 1000, TICK_MS = 1000 };

struct hob_server_life {
    pthread_mutex_t lock; /* stop, once */
    bool stopped;
    char *token_file;
};

/* ---- options -------------------------------------------------------------------------------------------- */

/* Older callers know fewer options. */
static hob_server_opts read_opts(const hob_server_opts *o) {
    hob_server_opts own = HOB_SERVER_OPTS_INIT;
    memcpy(&own, o, HOB_MIN(o->size, sizeof own));
    own.size = sizeof own;
    return own;
}

static int check_opts(const hob_server_opts *o, hob_error *err) {
    if (!o->token == !o->token_file)
        return hob_fail(err, HOB_EINVAL, 0, "a server needs either a token or a token file");
    if (o->max_mode && hob_mode_rank(hob_str_z(o->max_mode)) < 0)
        return hob_fail(err, HOB_EINVAL, 0, "max_mode is plan, ask, accept-edits or yolo, not '%s'",
                        o->max_mode);
    return HOB_OK;
}

static int keep_roots(hob_server *s, const char *const *roots, hob_error *err) {
    size_t n = 0;
    char real[PATH_MAX];
    struct stat st;
    while (roots && roots[n]) n++;
    s->roots = hob_alloc((n + 1) * sizeof *s->roots);
    for (size_t i = 0; i < n; i++) {
        if (!realpath(roots[i], real) || stat(real, &st) < 0)
            return hob_fail_errno(err, HOB_EINVAL, "the folder %s cannot be used", roots[i]);
        if (!S_ISDIR(st.st_mode))
            return hob_fail(err, HOB_EINVAL, 0, "%s is not a folder", roots[i]);
        s->roots[i] = hob_dupz(hob_str_z(real));
    }
    return HOB_OK;
}

static int read_callers(hob_server *s, const hob_server_opts *o, hob_error *err) {
    s->callers = hob_callers_create(hob_str_z(s->max_mode));
    if (o->token) return hob_callers_set_token(s->callers, hob_str_z(o->token), err);
    s->life->token_file = hob_dupz(hob_str_z(o->token_file));
    return hob_callers_load(s->callers, o->token_file, err);
}

/* ---- life ----------------------------------------------------------------------------------------------- */

int hob_server_create_on(hob_runtime *rt, const hob_server_opts *opts, const hob_server_ground *g,
                         hob_server **out, hob_error *err) {
    hob_server_opts o = read_opts(opts);
    hob_clock *clock = hob_clock_real();
    int r = check_opts(&o, err);
    if (r < 0) return r;
    if (sodium_init() < 0) return hob_fail(err, HOB_EIO, 0, "libsodium cannot be initialised");
    hob_server *s = HOB_NEW(hob_server);
    s->life = HOB_NEW(struct hob_server_life);
    pthread_mutex_init(&s->life->lock, NULL);
    s->rt = rt;
    s->flags = o.flags;
    s->definitions = o.definitions;
    s->state_dir = o.state_dir ? hob_dupz(hob_str_z(o.state_dir)) : NULL;
    s->not_ready = rt != NULL;
    s->idle_ms = g && g->idle_ms ? g->idle_ms : IDLE_MS;
    s->tick_ms = g && g->tick_ms ? g->tick_ms : TICK_MS;
    s->max_mode = hob_dupz(hob_str_z(o.max_mode ? o.max_mode : DEFAULT_MODE));
    s->started_ms = clock->wall_ms(clock);
    r = keep_roots(s, o.roots, err);
    if (r >= 0) r = hob_names_init(s, err);
    if (r >= 0) r = read_callers(s, &o, err);
    if (r >= 0 && rt) r = hob_tally_create(rt, &s->tally, err);
    if (r >= 0 && rt) r = hob_hub_create(s, &s->hub, err);
    if (r >= 0) r = hob_web_create(s, &o, g, &s->web, err);
    if (r >= 0 && rt && o.on_log) r = hob_runtime_watch(rt, hob_web_log_event, s->web, err);
    if (r >= 0) r = hob_web_start(s->web, err);
    if (r < 0) {
        hob_server_destroy(s);
        return r;
    }
    if (s->hub) hob_hub_start(s->hub);
    *out = s;
    return HOB_OK;
}

int hob_server_create(hob_runtime *rt, const hob_server_opts *o, hob_server **out, hob_error *err) {
    hob_server_ground own = {.clock = NULL};
    own.routes = hob_routes(&own.nroutes);
    return hob_server_create_on(rt, o, &own, out, err);
}

int hob_server_url(const hob_server *s, char *buf, size_t cap) {
    return hob_str_out(hob_str_z(s->web->url), buf, cap);
}

bool hob_server_has_token_file(const hob_server *s) {
    return s->life->token_file != NULL;
}

int hob_server_reload(hob_server *s, hob_error *err) {
    if (!s->life->token_file)
        return hob_fail(err, HOB_EINVAL, 0,
                        "this server has one token and no token file: there is nothing to reload");
    int r = hob_callers_load(s->callers, s->life->token_file, err);
    if (r < 0) return r;
    hob_web_end_revoked(s->web);
    hob_web_log(s->web, "info", "token file read: %zu callers", hob_callers_count(s->callers));
    return r;
}

void hob_server_stop(hob_server *s, int64_t timeout_ms) {
    pthread_mutex_lock(&s->life->lock);
    if (!s->life->stopped) {
        atomic_store(&s->draining, true);
        if (s->hub) hob_hub_stop(s->hub, timeout_ms);
        if (s->web) hob_web_stop(s->web, timeout_ms);
        s->life->stopped = true;
    }
    pthread_mutex_unlock(&s->life->lock);
}

void hob_server_destroy(hob_server *s) {
    if (!s) return;
    hob_server_stop(s, 0);
    if (s->rt && s->web) hob_runtime_unwatch(s->rt, hob_web_log_event, s->web, NULL);
    hob_web_halt(s->web); /* handlers need the hub, and the hub has something for the log */
    hob_hub_destroy(s->hub);
    hob_web_destroy(s->web);
    hob_tally_destroy(s->tally);
    hob_callers_destroy(s->callers);
    for (size_t i = 0; s->roots && s->roots[i]; i++) hob_free(s->roots[i]);
    hob_free(s->roots);
    hob_free(s->max_mode);
    hob_free(s->state_dir);
    pthread_mutex_destroy(&s->life->lock);
    hob_free(s->life->token_file);
    hob_free(s->life);
    hob_free(s);
}
