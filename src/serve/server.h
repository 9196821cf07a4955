/*
 * server.h - the server as its parts see it. What hob/server.h hands out.
 *
 * Order of life: callers are read -> the hub (hub.c) starts -> the web side listens -> … -> stop: `draining` is set,
 * the hub lets go of its sessions, streams end, handlers end -> the web side is gone -> the hub is destroyed.
 */
#ifndef HOB_SRC_SERVE_SERVER_H
#define HOB_SRC_SERVE_SERVER_H

#include "serve/http.h"

#include <stdatomic.h>

typedef struct hob_web hob_web;         /* web.h: sockets and requests */
typedef struct hob_callers hob_callers; /* callers.h: who may ask */
typedef struct hob_tally hob_tally;     /* tally.h: what sessions did */
typedef struct hob_hub hob_hub;         /* open sessions */

struct hob_server {
    hob_runtime *rt;
    hob_web *web;
    hob_callers *callers;
    hob_hub *hub;
    hob_tally *tally;             /* NULL without a runtime */
    char **roots;                 /* absolute, NULL-terminated */
    hob_definitions *definitions; /* the host's; may be NULL */
    char *state_dir;              /* NULL: which sessions it works in is not noted */
    char secret[72];              /* names.c */
    char *max_mode;
    unsigned flags;         /* HOB_SERVER_… */
    _Atomic bool draining;  /* stop was called: nothing new begins */
    _Atomic bool not_ready; /* what must be read at the start is not read yet: readyz is 503 */
    int64_t started_ms;     /* wall time */
    int64_t idle_ms;        /* of sessions that nobody uses */
    int64_t tick_ms;        /* how often other processes' work is looked for */
    struct hob_server_life *life; /* server.c */
};

/* Callers come from a file, and there may be many; otherwise there is one token. */
bool hob_server_has_token_file(const hob_server *s);

/* What a test puts in place of our own: routes and a clock. NULL members: our own. */
typedef struct hob_server_ground {
    const hob_route *routes;
    size_t nroutes;
    hob_clock *clock;
    int64_t idle_ms; /* after which a session that nobody uses is let go of; 0 = a minute */
    int64_t tick_ms; /* 0 = a second */
} hob_server_ground;
int hob_server_create_on(hob_runtime *rt, const hob_server_opts *o, const hob_server_ground *g,
                         hob_server **out, hob_error *err);

#endif
