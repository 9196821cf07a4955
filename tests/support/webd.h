/*
 * webd.h - a real server with routes made for tests, and a client that sends bytes as they are.
 *
 *   GET  /ping              no token, on the server's thread      "pong"
 *   GET  /item/{id}/{part}  read: {"id","part","q"}, q of the query
 *   POST /echo              run: the body as it came (JSON), on a worker
 *   POST /any               run: any body; {"bytes":N}; 8 MiB at most
 *   GET  /block             read: waits for webd_release()
 *   GET  /stream            read: an event stream; webd_push() feeds all that are open
 *   GET  /flood             read: an event stream that never ends and never waits
 *   GET  /slow              read: the same, one byte a piece, each of which takes the server's thread five milliseconds
 *   GET  /tagged            read, ETag
 *   GET  /long              read, ETag: 100,000 bytes of JSON
 *   GET  /silent            read: a handler that gives no answer
 *   DELETE /admin           admin
 */
#ifndef HOB_TESTS_WEBD_H
#define HOB_TESTS_WEBD_H

#include "base/base.h"

#include <hob/server.h>
#include <stdatomic.h>

#define WEBD_TOKEN "a-token-for-tests-only"
#define WEBD_AUTH "Authorization: Bearer " WEBD_TOKEN "\r\n"

typedef struct webd {
    hob_runtime *rt;
    hob_server *server;
    int port;
    char host[64]; /* "Host: 127.0.0.1:PORT\r\n" */
    hob_buf log;   /* lines of the server; read it after webd_stop */
} webd;

webd *webd_start(const hob_server_opts *o); /* NULL: one token, any port */
void webd_stop(webd *d);                    /* the log stays until webd_free */
void webd_free(webd *d);
void webd_advance(webd *d, int64_t ms); /* the server's clock */
/* Second by second until there is something to read, or the end; after how many, -1 = not within `most`. */
int webd_advance_until(webd *d, int fd, int most);

/* ---- what the routes did ----------------------------------------------------------------------------- */
void webd_release(unsigned n);    /* so many of /block go on */
void webd_push(const char *text); /* to every open /stream */
void webd_end_streams(void);
unsigned webd_streams_open(void); /* of /stream and /flood */
unsigned webd_blocked(void);      /* handlers inside /block */
uint64_t webd_flooded(void);      /* bytes that /flood and /slow gave */
/* Looks every millisecond, at most for 30 s. */
#define webd_wait(condition)                                                                       \
    do {                                                                                           \
        int tries_ = 30000;                                                                        \
        while (!(condition) && tries_-- > 0) webd_nap();                                           \
        assert_true(condition);                                                                    \
    } while (0)
void webd_nap(void);

/* ---- the client ---------------------------------------------------------------------------------------- */
typedef struct webd_answer {
    int status;  /* 0: closed without one */
    bool closed; /* the server closed the connection after it */
    hob_buf raw;
    hob_str head, body; /* in raw; the body without chunks */
} webd_answer;
int webd_connect(const webd *d);
void webd_send(int fd, hob_str bytes);
/* One answer from the connection; its rest is lost. Closed is known only if the answer says so. */
void webd_receive(int fd, webd_answer *a);
/* "METHOD /path" with further header lines and a body, on a connection of its own. */
void webd_call(const webd *d, const char *request, const char *fields, const char *body,
               webd_answer *a);
/* Bytes as they are, on a connection of its own, read until it is closed or the answer is whole. */
void webd_raw(const webd *d, hob_str bytes, webd_answer *a);
void webd_answer_finish(webd_answer *a);
bool webd_has(const webd_answer *a, const char *text); /* in the head, case ignored */
/* Reads at least until `text` was seen; what was read is appended. False: closed before. */
bool webd_read_until(int fd, hob_buf *in, const char *text);
bool webd_closed(int fd); /* waits for the end; what comes before is thrown away */

#endif
