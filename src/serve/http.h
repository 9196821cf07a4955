/*
 * http.h - what a handler of the server sees: asking, answering, streams.
 *
 * A request has one handler: a row of the table in routes.c. By the time the handler runs, the door (door.c) has
 * checked the host, the origin, the token, the right, the rate, the type and the size of the body; the whole body is
 * there. The handler runs on a worker thread, may block, and answers exactly once before it returns. Rows with
 * HOB_ROUTE_INLINE run on the server's thread and must not block.
 *
 * A stream is pulled: when the client can take more, read() is called on the server's thread; 0 means "nothing now",
 * and it is not called again before hob_web_wake(). So a client that does not read costs what its stream keeps, and
 * nothing else waits for it. A client that goes away only ends its stream.
 *
 * [handler]: inside the handler of that request only. [any]: any thread.
 */
#ifndef HOB_SRC_SERVE_HTTP_H
#define HOB_SRC_SERVE_HTTP_H

#include "base/json.h"

#include <hob/server.h>
#include <sys/types.h>

typedef struct hob_web_request hob_web_request; /* one request, until its answer is sent */
typedef struct hob_web_stream hob_web_stream;

/* ---- who asks -------------------------------------------------------------------------------------- */

typedef enum hob_right {
    HOB_RIGHT_NONE, /* a route that needs no token */
    HOB_RIGHT_READ,
    HOB_RIGHT_RUN,     /* create, prompt, steer, cancel */
    HOB_RIGHT_APPROVE, /* answer approvals */
    HOB_RIGHT_ADMIN    /* delete, metrics, details of health */
} hob_right;
#define HOB_RIGHTS_ALL                                                                             \
    (1u << HOB_RIGHT_READ | 1u << HOB_RIGHT_RUN | 1u << HOB_RIGHT_APPROVE | 1u << HOB_RIGHT_ADMIN)

/* What one caller may have at the same time, or in all; counted over a reload of the token file. */
typedef enum hob_quota {
    HOB_QUOTA_SESSIONS, /* open at the same time */
    HOB_QUOTA_RUNS,     /* under way at the same time */
    HOB_QUOTA_STREAMS,  /* open at the same time; counted by hob_web_answer_stream */
    HOB_QUOTA_TOKENS,   /* of all runs since the server started */
    HOB_QUOTA_COST,     /* the same, millionths of a dollar */
    HOB_QUOTA_BUFFER, /* bytes that are kept for it: of requests that come in, of answers it did not read */
    HOB_QUOTA_ARTIFACTS, /* bytes saved as artifacts over HTTP since the server started */
    HOB_QUOTA_COUNT
} hob_quota;

/* One row of the token file. Immutable; alive as long as the server is (hob_caller_ref for longer). */
typedef struct hob_caller {
    hob_str name;
    hob_str tenant, principal;       /* app_name and user_id of its sessions */
    unsigned rights;                 /* bits 1 << HOB_RIGHT_… */
    hob_str max_mode;                /* the strongest permission mode that it may ask for */
    int64_t limits[HOB_QUOTA_COUNT]; /* 0 = none */
    int64_t per_minute;              /* requests; 0 = none */
    struct hob_caller_use *use;      /* what is taken of the limits */
} hob_caller;
const hob_caller *hob_caller_ref(const hob_caller *c); /* [any] */
void hob_caller_unref(const hob_caller *c);            /* [any]; NULL is fine */
bool hob_caller_may(const hob_caller *c, hob_right right);
const char *hob_right_name(hob_right right); /* as the token file has it; "" for none */
const char *hob_quota_name(hob_quota q);     /* as the token file has it */
int64_t hob_quota_unit(hob_quota q);         /* how many of ours are one of those */
/* [any] Takes n of a quota, or HOB_ELIMIT; then nothing is taken. What lasts for a time is given back. */
int hob_caller_take(const hob_caller *c, hob_quota q, int64_t n, hob_error *err);
void hob_caller_give(const hob_caller *c, hob_quota q, int64_t n);
int64_t hob_caller_taken(const hob_caller *c, hob_quota q);
/* [any] Keeps n bytes more for somebody who has `had` for the same thing already; who has nothing else may have one thing of
 * any size. HOB_ELIMIT. hob_caller_give(c, HOB_QUOTA_BUFFER, n) when they are gone. */
int hob_caller_hold(const hob_caller *c, size_t had, size_t n, hob_error *err);

/* ---- routes ---------------------------------------------------------------------------------------- */

enum {
    HOB_ROUTE_INLINE = 1,    /* runs on the server's thread: never blocks */
    HOB_ROUTE_STREAM = 2,    /* may answer with text/event-stream */
    HOB_ROUTE_ETAG = 4,      /* GET: the answer has an ETag, and If-None-Match is understood */
    HOB_ROUTE_PAGE = 8,      /* opened by people: a link from anywhere may lead here */
    HOB_ROUTE_ANY_BODY = 16, /* the body need not be JSON */
    HOB_ROUTE_TOKEN_OPTIONAL =
        32, /* with HOB_RIGHT_NONE: a token that is sent is looked at (hob_web_caller) */
    HOB_ROUTE_DRAINING = 64 /* is answered while the server stops */
};

/* The router, the OpenAPI document and docs/http.md come from these rows (routes.c). */
typedef struct hob_route {
    const char *method, *path; /* "/api/sessions/{id}/runs/{run}" */
    hob_right right;
    unsigned flags;
    void (*handle)(hob_web_request *r);
    /* Before it, on the server's thread, never blocks: true = answered, from what is at hand. May be NULL. */
    bool (*quick)(hob_web_request *r);
    const char *tag, *summary;
    const char
        *query; /* "after:integer:events after this one;until:settled|parked:words"; NULL = none */
    const char *headers; /* the same of what it looks at beyond what every route does */
    const char *
        takes; /* JSON Schema of the body, or the name of a shared one (schemas.c); NULL = no body */
    const char *gives; /* the same of the answer; NULL = no JSON */
    int status;        /* of success; 0 = 200 */
    size_t max_body;   /* 0 = 1 MiB */
} hob_route;
const hob_route *hob_routes(size_t *n);

/* ---- asking [handler] -------------------------------------------------------------------------------- */

/* Lives until the answer is sent; of a stream until the handler returned. */
hob_arena *hob_web_arena(hob_web_request *r);
const hob_caller *hob_web_caller(const hob_web_request *r); /* NULL: a route without a token */
hob_server *hob_web_server(const hob_web_request *r);
const hob_route *hob_web_route(const hob_web_request *r);
hob_str hob_web_id(const hob_web_request *r); /* of the request, as in X-Request-Id */
/* Of the path, percent-decoded: valid UTF-8, not empty, no NUL; a "/" only in {call} and {name}. */
hob_str hob_web_param(const hob_web_request *r, const char *name);
hob_str *hob_web_session(hob_web_request *r); /* for handlers to keep what they found out: api.c */
/* Decoded, the first one wins; HOB_STR_NULL (p == NULL): not given. */
hob_str hob_web_query(const hob_web_request *r, const char *name);
/* Absent: `otherwise`. False: it is no whole number from min to max; that was answered with 400. */
typedef struct hob_web_range {
    int64_t min, max, otherwise;
} hob_web_range;
bool hob_web_query_int(hob_web_request *r, const char *name, hob_web_range in, int64_t *out);
hob_str hob_web_header(const hob_web_request *r,
                       const char *name); /* HOB_STR_NULL: absent; several: the first */
bool hob_web_accepts(const hob_web_request *r,
                     const char *type); /* named in Accept, not only by a wildcard */
hob_str hob_web_body(const hob_web_request *r);
/* The body as a JSON object; NULL: it is none, and that was answered with 400. An empty body is {}. */
const hob_json *hob_web_json(hob_web_request *r);
/* W3C trace context: what the client sent if it is valid, otherwise made here. "00-…-…-01" */
hob_str hob_web_traceparent(const hob_web_request *r);
/* What the client sent, if it is valid, otherwise "": for hob_session_set_traceparent. */
hob_str hob_web_traced(const hob_web_request *r);
/* For the log line of this request: "session_id", "run_id". */
void hob_web_note(hob_web_request *r, const char *key, hob_str value);

/* ---- answering, exactly once [handler] --------------------------------------------------------------- */

/* Before the answer; the value must have no control characters. Copies. */
void hob_web_answer_header(hob_web_request *r, const char *name, hob_str value);
/* Copies. Type NULL with an empty body: no content. */
void hob_web_answer(hob_web_request *r, int status, const char *type, hob_str body);
void hob_web_answer_json(hob_web_request *r, int status, hob_str json);
/* {"error":{"code","message"}} */
void hob_web_fail(hob_web_request *r, int status, const char *code, const char *fmt, ...)
    HOB_PRINTF(4, 5);
/* 400: a member of the body, or a parameter, that none of these names is; says which is near, or which there are. */
void hob_web_fail_unknown(hob_web_request *r, const char *what, hob_str key,
                          const char *const *names, size_t n);
/* The status that belongs to a HOB_E code; the message is the error's. */
void hob_web_fail_hob(hob_web_request *r, int rc, const hob_error *err);
bool hob_web_answered(const hob_web_request *r);

typedef struct hob_web_stream_ops {
    /* Server's thread, never blocks: bytes written to buf, 0 = nothing now (wait for a wake), -1 = the end. */
    ssize_t (*read)(void *user, char *buf, size_t cap);
    /* Once, server's thread: the end was sent, or the client is gone, or the server stops. */
    void (*closed)(void *user);
    /* Before it, if it was the client who went away, or who took nothing for a minute; may be NULL. */
    void (*left)(void *user);
} hob_web_stream_ops;
/* `user` belongs to the stream from here on: closed() comes in every case, also when NULL is returned (the caller's
 * quota of streams is used up or the server stops; that was answered). read() is called first without a wake. */
hob_web_stream *hob_web_answer_stream(hob_web_request *r, const char *type,
                                      const hob_web_stream_ops *ops, void *user);
void hob_web_wake(hob_web_stream *st); /* [any], never blocks; valid until closed() returned */

#endif
