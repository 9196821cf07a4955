/*
 * client.h - a small blocking HTTP client for tests of the server: calls, and streams of server-sent events.
 *
 * Raw sockets, one connection a call. Each read gives up after 30 s and fails the test.
 */
#ifndef HOB_TESTS_CLIENT_H
#define HOB_TESTS_CLIENT_H

#include "base/json.h"

typedef struct client {
    int port;
    const char *token; /* NULL = none is sent */
    /* of the last call */
    int status;
    hob_buf head, body;
    char text[4096]; /* client_field */
} client;

void client_init(client *c, int port, const char *token);
void client_finish(client *c);
/* ' is written for " in the body; NULL = none. Returns the status. `headers`: lines with CRLF, or NULL; a body
 * is JSON unless they have a Content-Type. */
int client_call(client *c, const char *method, const char *path, const char *body);
int client_call_with(client *c, const char *method, const char *path, const char *headers,
                     const char *body);
/* Fails the test if another status comes; `fmt` has one %s, for `id`. */
void client_expect(client *k, int wanted, const char *method, const char *body, const char *fmt,
                   const char *id);
/* A value in the last body by a dotted path; "" if there is none. Until the next call of it. */
const char *client_field(client *c, const char *path);

typedef struct tail tail; /* a stream */
tail *tail_open(int port, const char *token, const char *path, const char *headers);
/* The same by POST; ' is written for " in the body. */
tail *tail_post(int port, const char *token, const char *path, const char *headers,
                const char *body);
int tail_status(tail *t);
/* 1: one event; 0: the stream has ended. */
int tail_next(tail *t);
/* 1, or 0: nothing came within that time. For what must not come. */
int tail_next_within(tail *t, int ms);
uint64_t tail_seq(const tail *t); /* 0 = without an id */
const char *tail_event(const tail *t);
hob_str tail_data(const tail *t);
/* Reads until an event of that name; 0: the stream ended before. */
int tail_until(tail *t, const char *event);
int tail_fd(const tail *t);
void tail_close(tail *t);

#endif
