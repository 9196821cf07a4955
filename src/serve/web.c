/*
 * web.c - the server's thread: it accepts, wakes streams, hands requests to workers, and ends.
 *
 * Room: at the ceiling of connections the oldest one on which nobody with a token has spoken yet makes room for the new
 * one, so that slow strangers cannot keep others out. When all are known, an idle one does, of the caller who has the most;
 * when all are at work, the new one is turned away.
 */
#include "serve/web.h"

#include "serve/listen.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ACCEPT_AT_ONCE = 64, MAX_CONNECTIONS = 20000, KEPT_FILES = 128, WORKERS = 16, TURN_MS = 10 };

/* ---- connections ---------------------------------------------------------------------------------------- */

static void turn_away(hob_web *w, int fd) {
    static const char full[] =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n"
        "Content-Length: 0\r\n\r\n";
    hob_metric_add(w->metrics, HOB_METRIC_TURNED_AWAY, 1);
    ssize_t ignored = send(fd, full, sizeof full - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)ignored; /* told if it can be told */
    close(fd);
}

/* Between two requests: of the caller who has the most, the one that is silent for longest. */
static hob_conn *idlest(hob_web *w) {
    hob_conn *found = NULL;
    HOB_LIST_EACH (it, &w->conns) {
        hob_conn *c = HOB_CONTAINER(it, hob_conn, link);
        if (c->state != HOB_CONN_HEAD || c->in.n || !c->caller) continue;
        size_t has = hob_caller_turns(c->caller)->conns;
        size_t most = found ? hob_caller_turns(found->caller)->conns : 0;
        if (has > most || (has == most && c->deadline < found->deadline)) found = c;
    }
    return found;
}

static bool make_room(hob_web *w) {
    if (w->nconns < w->max_conns) return true;
    hob_conn *c =
        hob_list_empty(&w->unknown) ? idlest(w) : HOB_LIST_FIRST(&w->unknown, hob_conn, unknown);
    if (!c) return false;
    hob_metric_add(w->metrics, HOB_METRIC_TURNED_AWAY, 1);
    hob_conn_close(c);
    return true;
}

/* No descriptor is left: with the spare one the client is at least let go. */
static void without_files(hob_web *w) {
    char peer[64];
    close(w->spare_fd);
    int fd = hob_listen_accept(w->listen_fd, w->unix_path != NULL, peer, sizeof peer);
    if (fd >= 0) turn_away(w, fd);
    w->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_connection(hob_io *io, int events, void *user) {
    hob_web *w = user;
    char peer[64];
    (void)io, (void)events;
    for (int i = 0; i < ACCEPT_AT_ONCE; i++) {
        int fd = hob_listen_accept(w->listen_fd, w->unix_path != NULL, peer, sizeof peer);
        if (fd == -1) return;
        if (fd == -2) {
            without_files(w);
            return;
        }
        if (fd < 0) continue;
        hob_metric_add(w->metrics, HOB_METRIC_ACCEPTED, 1);
        if (make_room(w))
            hob_conn_create(w, fd, peer);
        else
            turn_away(w, fd);
    }
}

/* ---- streams -------------------------------------------------------------------------------------------- */

static hob_web_stream *take_woken(hob_web *w, hob_list *batch) {
    hob_web_stream *st = NULL;
    pthread_mutex_lock(&w->wake_lock);
    if (!hob_list_empty(batch)) {
        st = HOB_LIST_FIRST(batch, hob_web_stream, woken);
        hob_list_remove(&st->woken);
        st->is_woken = false;
    }
    pthread_mutex_unlock(&w->wake_lock);
    return st;
}

static void move_all(hob_list *from, hob_list *to) {
    while (!hob_list_empty(from)) {
        hob_list *first = from->next;
        hob_list_remove(first);
        hob_list_push(to, first);
    }
}

/* Those whose turn it was not are the first next time. */
static void put_back(hob_web *w, hob_list *batch) {
    pthread_mutex_lock(&w->wake_lock);
    bool post = !hob_list_empty(batch) && !w->wake_posted;
    move_all(&w->woken, batch);
    move_all(batch, &w->woken);
    w->wake_posted |= post;
    pthread_mutex_unlock(&w->wake_lock);
    if (post) hob_loop_post(w->loop, &w->wake_msg);
}

/* Many streams may have much to do, when something large happens that all of them show: then sockets and workers have
 * their turn in between. */
static void on_wake(hob_msg *m) {
    hob_web *w = HOB_CONTAINER(m, hob_web, wake_msg);
    hob_clock *clock = hob_clock_real();
    int64_t until = clock->mono_ms(clock) + TURN_MS;
    hob_list batch;
    hob_web_stream *st;
    hob_list_init(&batch);
    pthread_mutex_lock(&w->wake_lock);
    w->wake_posted = false;
    move_all(&w->woken, &batch);
    pthread_mutex_unlock(&w->wake_lock);
    while (clock->mono_ms(clock) < until && (st = take_woken(w, &batch))) {
        bool waits = !st->conn || st->conn->out.n; /* not begun, or the socket is full */
        if (!waits) hob_conn_run(st->conn);
    }
    put_back(w, &batch);
}

/* A stream that waits for its socket ends when that is free: nothing more is read for it. */
static void on_look(hob_msg *m) {
    hob_web *w = HOB_CONTAINER(m, hob_web, look_msg);
    pthread_mutex_lock(&w->wake_lock);
    w->look_posted = false;
    pthread_mutex_unlock(&w->wake_lock);
    HOB_LIST_EACH_SAFE (it, &w->conns) {
        hob_conn *c = HOB_CONTAINER(it, hob_conn, link);
        if (c->state == HOB_CONN_STREAM && hob_stream_revoked(c->request->stream)) hob_conn_run(c);
    }
}

void hob_web_end_revoked(hob_web *w) {
    pthread_mutex_lock(&w->wake_lock);
    bool post = !w->look_posted;
    w->look_posted = true;
    pthread_mutex_unlock(&w->wake_lock);
    if (post) hob_loop_post(w->loop, &w->look_msg);
}

/* ---- the thread ----------------------------------------------------------------------------------------- */

static void on_stop_time(hob_timer *t) {
    HOB_CONTAINER(t, hob_web, stop_timer)->cut = true;
}

static void on_stop(hob_msg *m) {
    hob_web *w = HOB_CONTAINER(m, hob_web, stop_msg);
    w->stopping = true;
    hob_io_destroy(w->listener);
    w->listener = NULL;
    close(w->listen_fd);
    if (w->unix_path) unlink(w->unix_path);
    hob_timer_start(&w->stop_timer, hob_loop_now(w->loop) + w->stop_ms);
    HOB_LIST_EACH_SAFE (it, &w->conns) {
        hob_conn_stop(HOB_CONTAINER(it, hob_conn, link));
    }
}

static bool finished(const hob_web *w) {
    return w->stopping && (w->cut || (!w->nconns && !w->nworking));
}

static void *run(void *arg) {
    hob_web *w = arg;
    while (!finished(w)) hob_loop_run_once(w->loop, -1);
    hob_timer_stop(&w->stop_timer);
    while (!hob_list_empty(&w->conns)) hob_conn_close(HOB_LIST_FIRST(&w->conns, hob_conn, link));
    return NULL;
}

int hob_web_start(hob_web *w, hob_error *err) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals belong to the host's threads */
    int r = pthread_create(&w->thread, NULL, run, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r) return hob_fail(err, HOB_EIO, r, "cannot start the server's thread: %s", strerror(r));
    pthread_setname_np(w->thread, "hob-serve");
    w->joined = false;
    return HOB_OK;
}

/* ---- life ----------------------------------------------------------------------------------------------- */

static size_t room_for(unsigned wanted) {
    struct rlimit files;
    size_t max = wanted ? wanted : MAX_CONNECTIONS;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == RLIM_INFINITY) return max;
    size_t left =
        files.rlim_cur > 2 * KEPT_FILES ? (size_t)files.rlim_cur - KEPT_FILES : KEPT_FILES;
    return HOB_MIN(max, left);
}

static hob_web *make(hob_server *s, const hob_server_opts *o, const hob_server_ground *g) {
    hob_web *w = HOB_NEW(hob_web);
    w->server = s;
    w->on_log = o->on_log;
    w->log_user = o->user;
    w->listen_fd = w->spare_fd = -1;
    w->max_conns = room_for(o->max_connections);
    w->routes = g->routes;
    w->nroutes = g->nroutes;
    w->metrics = hob_metrics_create(g->routes, g->nroutes);
    w->wake_msg.fn = on_wake;
    w->look_msg.fn = on_look;
    w->stop_msg.fn = on_stop;
    w->joined = true;
    hob_list_init(&w->conns);
    hob_list_init(&w->unknown);
    hob_list_init(&w->woken);
    hob_list_init(&w->waiting);
    pthread_mutex_init(&w->wake_lock, NULL);
    pthread_mutex_init(&w->log_lock, NULL);
    return w;
}

static int open_listener(hob_web *w, const hob_server_opts *o, hob_error *err) {
    hob_listen at;
    const char *where = o->listen ? o->listen : "127.0.0.1:4042";
    int r = hob_listen_open(where, o->flags & HOB_SERVER_INSECURE, &at, err);
    if (r < 0) return r;
    w->listen_fd = at.fd;
    w->unix_path = at.is_unix ? hob_dupz(hob_str_z(at.path)) : NULL;
    hob_str_out(hob_str_z(at.url), w->url, sizeof w->url);
    r = hob_door_init(&w->door, o, at.is_unix ? NULL : &at.host, err);
    if (r >= 0) r = hob_io_create(w->loop, w->listen_fd, on_connection, w, &w->listener, err);
    return r < 0 ? r : hob_io_want(w->listener, HOB_IO_READ);
}

int hob_web_create(hob_server *s, const hob_server_opts *o, const hob_server_ground *g,
                   hob_web **out, hob_error *err) {
    hob_web *w = make(s, o, g);
    w->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int r = hob_loop_create(g->clock, &w->loop, err);
    if (r >= 0) {
        hob_timer_init(&w->stop_timer, w->loop, on_stop_time);
        w->nworkers = o->workers ? o->workers : WORKERS;
        r = hob_pool_create(w->nworkers, HOB_WEB_QUEUE, &w->pool, err);
    }
    if (r >= 0) r = open_listener(w, o, err);
    if (r < 0) {
        hob_web_destroy(w);
        return r;
    }
    *out = w;
    return HOB_OK;
}

void hob_web_stop(hob_web *w, int64_t timeout_ms) {
    if (w->joined) return;
    w->joined = true;
    w->stop_ms = HOB_MAX(timeout_ms, 0);
    hob_loop_post(w->loop, &w->stop_msg);
    pthread_join(w->thread, NULL);
}

/* A listener that never had its thread. */
static void close_listener(hob_web *w) {
    if (!w->listener && w->listen_fd < 0) return;
    hob_io_destroy(w->listener);
    w->listener = NULL;
    if (w->stopping) return; /* its thread closed it */
    close(w->listen_fd);
    w->listen_fd = -1;
    if (w->unix_path) unlink(w->unix_path);
}

void hob_web_halt(hob_web *w) {
    if (!w) return;
    hob_web_stop(w, 0);
    close_listener(w);
    hob_web_drop_waiting(w);
    hob_pool_destroy(w->pool);
    w->pool = NULL;
}

void hob_web_destroy(hob_web *w) {
    if (!w) return;
    hob_web_halt(w);
    hob_loop_destroy(w->loop);
    if (w->spare_fd >= 0) close(w->spare_fd);
    hob_door_finish(&w->door);
    hob_metrics_destroy(w->metrics);
    pthread_mutex_destroy(&w->wake_lock);
    pthread_mutex_destroy(&w->log_lock);
    hob_free(w->unix_path);
    hob_free(w);
}
