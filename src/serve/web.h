/*
 * web.h - the HTTP side of a server, from the inside: connections, requests on their way, streams.
 *
 * One thread (web.c) runs one loop and owns every connection and every field here, except where a comment says
 * otherwise. A request is lent to a worker from hob_web_dispatch until its hob_work is done; meanwhile the server's
 * thread touches nothing of it but `conn`, which becomes NULL when the client goes away.
 *
 *   conn.c     a connection: reading heads and bodies, writing answers, times, the end
 *   stream.c   a connection that carries a stream
 *   request.c  what a handler asks          answer.c  what it answers
 *   door.c     who comes in                 router.c  where to
 *   turns.c    when a worker has it
 */
#ifndef HOB_SRC_SERVE_WEB_H
#define HOB_SRC_SERVE_WEB_H

#include "base/host.h"
#include "loop/loop.h"
#include "serve/callers.h"
#include "serve/metrics.h"
#include "serve/server.h"
#include "serve/wire.h"

#include <pthread.h>

enum {
    HOB_WEB_SCRATCH = 64 * 1024, /* read from a socket at once */
    HOB_WEB_IN_MAX = 96 * 1024,  /* bytes of a connection that nobody took yet */
    HOB_WEB_ANSWER_MAX = 256 << 20,
    HOB_WEB_BODY_MAX = 1 << 20, /* of a route that does not say otherwise */
    HOB_WEB_PARAMS = 4,         /* in a path */
    HOB_WEB_QUEUE = 1024        /* requests that wait for a worker */
};

/* Milliseconds. */
enum {
    HOB_WEB_HEAD_MS =
        10 * 1000, /* from the first byte of a head to its last; the first byte of a connection */
    HOB_WEB_IDLE_MS = 60 * 1000,    /* between two requests */
    HOB_WEB_BODY_MS = 30 * 1000,    /* between two pieces of a body */
    HOB_WEB_UPLOAD_MS = 300 * 1000, /* a whole body */
    HOB_WEB_STALL_MS = 30 * 1000,   /* a client that takes nothing of its answer */
    HOB_WEB_STUCK_MS = 60 * 1000,   /* … of its stream: it can come back with Last-Event-ID */
    HOB_WEB_LINGER_MS = 2 * 1000,   /* for what a refused client still sends */
    HOB_WEB_ALIVE_MS = 15 * 1000    /* of silence, then a comment in an event stream */
};

typedef struct hob_conn hob_conn;

/* ---- requests ------------------------------------------------------------------------------------------ */

struct hob_web_request {
    hob_web *web;
    hob_conn *conn; /* NULL: the client is gone. Server's thread only */
    hob_arena *arena;
    const hob_head *head; /* in the arena */
    const hob_route *route;
    const hob_caller *caller; /* a reference */
    hob_str params[HOB_WEB_PARAMS];
    hob_str session; /* the handler's: which one the path means; in the arena */
    hob_buf body;
    hob_work work;
    hob_list waiting; /* web->waiting */
    char id[37], trace[56];
    bool near;              /* on this machine, and not sent on by a proxy */
    int64_t began, replied; /* mono_ms: the head was there; the answer began */
    size_t held;            /* bytes that are kept of its body, then of its answer */
    /* the answer */
    bool answered, close; /* close: the connection does not go on after it */
    bool done;            /* the handler has returned. Server's thread only */
    int status;
    hob_str type;
    hob_buf fields, content; /* further header lines; the body */
    hob_web_stream *stream;
    /* for the log */
    hob_buf notes; /* ,"key":"value" … */
    char *line;    /* METHOD /path */
    uint64_t sent; /* bytes of the answer */
};

/* request.c. The head must be whole; the request copies it. NULL: refused, *why. */
hob_web_request *hob_request_create(hob_conn *c, hob_str head, const hob_wire_error **why);
void hob_request_destroy(hob_web_request *r);
/* So many bytes are kept for its caller now. HOB_ELIMIT: that is too much; then it is what it was. */
int hob_request_keep(hob_web_request *r, size_t bytes, hob_error *err);
/* Percent-decoded into the arena; false for a broken escape or a NUL. */
bool hob_web_decode(hob_arena *a, hob_str raw, bool plus, hob_str *out);
/* The type of a parameter in a table of routes: is it a list of words, of which it must be one? */
bool hob_web_has_words(hob_str type);

/* router.c: the row for this method and path, its params decoded. NULL: *status is 400, 404 or 405, and `allow` lists
 * the methods that the path has. */
const hob_route *hob_router_find(hob_web_request *r, int *status, hob_buf *allow);
bool hob_route_match(const char *pattern, hob_str path, hob_str params[HOB_WEB_PARAMS]);
hob_str hob_route_param(const hob_web_request *r, const char *name);

/* door.c: may this request come in? False: it was answered. */
typedef struct hob_door {
    hob_host *hosts; /* rules */
    size_t nhosts;
    bool any_address; /* a public address: every IP literal with our port is us */
    int port;
    hob_origin_of *origins;
    size_t norigins;
} hob_door;
int hob_door_init(hob_door *d, const hob_server_opts *o, const hob_host *listen, hob_error *err);
void hob_door_finish(hob_door *d);
bool hob_door_pass(hob_web_request *r);
bool hob_door_host(const hob_door *d, hob_str host); /* is that us? */

/* answer.c: the head of the answer as it goes out. */
void hob_answer_head(hob_web_request *r, hob_buf *out, bool chunked, bool keep_alive);
const char *hob_answer_reason(int status);

/* log.c */
void hob_web_log_request(hob_web_request *r);
void hob_web_log_event(hob_event *e, void *web); /* of a session: a run that ended */
void hob_web_log(hob_web *w, const char *level, const char *fmt, ...) HOB_PRINTF(3, 4); /* [any] */

/* ---- streams -------------------------------------------------------------------------------------------- */

struct hob_web_stream {
    hob_list woken; /* in web->woken, under web->wake_lock */
    bool is_woken;  /* the same */
    hob_web *web;
    hob_conn *conn; /* NULL until the handler returned */
    hob_web_stream_ops ops;
    void *user;
    const hob_caller *caller; /* a reference; one of its streams is taken */
    bool events;              /* text/event-stream: gets comments while silent */
    bool over;                /* we end it, not the client */
};
void hob_stream_destroy(hob_web_stream *st); /* closed(), once */
/* Sends what there is. False: the connection is gone. */
bool hob_stream_pump(hob_conn *c);
bool hob_stream_alive(hob_conn *c);                /* a comment */
bool hob_stream_revoked(const hob_web_stream *st); /* its caller is gone: it ends */

/* ---- connections ---------------------------------------------------------------------------------------- */

typedef enum hob_conn_state {
    HOB_CONN_HEAD,   /* a request may come, or is coming */
    HOB_CONN_BODY,   /* its body is coming */
    HOB_CONN_WORK,   /* the handler has it */
    HOB_CONN_ANSWER, /* the answer goes out */
    HOB_CONN_STREAM,
    HOB_CONN_LINGER /* all was said; what still comes is thrown away so that the answer arrives */
} hob_conn_state;

struct hob_conn {
    hob_list link;    /* in web->conns */
    hob_list unknown; /* in web->unknown: nobody with a token has spoken here yet */
    hob_web *web;
    hob_io *io;
    int fd;
    hob_conn_state state;
    hob_timer timer;
    int64_t deadline; /* the timer may come earlier, and is then set again */
    int64_t limit;    /* of a body as a whole */
    int64_t spoke;    /* when the stream wrote last */
    hob_buf in;       /* bytes that came and were not taken */
    size_t scanned;
    hob_chunked chunked;
    hob_web_request *request;
    const hob_caller *caller; /* who spoke here last; a reference. NULL = nobody with a token */
    hob_buf out, content;     /* what is going out, one after the other */
    size_t sent;              /* of both */
    bool keep_alive, framed /* chunks */, eof;
    char peer[64];
};

void hob_conn_create(hob_web *w, int fd, const char *peer);
void hob_conn_close(hob_conn *c); /* now, whatever is going on */
void hob_conn_run(hob_conn *c);   /* as far as it goes without waiting */
/* Sends c->out and c->content: 1 = all, 0 = not all, -1 = the connection is gone (closed). */
int hob_conn_send(hob_conn *c);
void hob_conn_until(hob_conn *c, int64_t deadline);
void hob_conn_stop(hob_conn *c); /* the server stops: ends what can be ended */

/* ---- web.c ---------------------------------------------------------------------------------------------- */

struct hob_web {
    hob_server *server;
    hob_loop *loop;
    hob_pool *pool;
    pthread_t thread;
    const hob_route *routes;
    size_t nroutes;
    hob_door door;
    hob_metrics *metrics;
    hob_server_log_fn on_log; /* under log_lock */
    void *log_user;
    pthread_mutex_t log_lock;
    int listen_fd, spare_fd;
    hob_io *listener;
    char *unix_path;
    char url[300];
    size_t max_conns;
    hob_list conns, unknown;
    size_t nconns, nworking; /* connections; requests that a worker has or that wait for one */
    unsigned nworkers;
    hob_list waiting; /* turns.c: requests of callers that have enough at work */
    bool over;        /* none of them begins any more */
    char scratch[HOB_WEB_SCRATCH];
    /* wakes, from any thread */
    pthread_mutex_t wake_lock;
    hob_list woken;
    bool wake_posted;
    hob_msg wake_msg;
    /* the callers changed; look_posted under wake_lock */
    bool look_posted;
    hob_msg look_msg;
    /* the end */
    hob_msg stop_msg;
    hob_timer stop_timer;
    int64_t stop_ms;
    bool stopping, cut, joined;
};

/* Listens; clients wait until hob_web_start. */
int hob_web_create(hob_server *s, const hob_server_opts *o, const hob_server_ground *g,
                   hob_web **out, hob_error *err);
int hob_web_start(hob_web *w, hob_error *err);
/* No new connections, streams end, waits for handlers at most so long. Once. */
void hob_web_stop(hob_web *w, int64_t timeout_ms);
void hob_web_destroy(hob_web *w);
void hob_web_halt(
    hob_web *w); /* nothing of it works any more; things for the log are still taken */
/* Ends the streams of callers that are gone. [any] */
void hob_web_end_revoked(hob_web *w);
/* Hands it to a worker; r->done and hob_conn_run when that is through. False: there are too many, and that was answered. */
bool hob_web_dispatch(hob_web_request *r);
void hob_web_drop_waiting(hob_web *w); /* the end */

#endif
