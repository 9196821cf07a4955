/*
 * desk.h - a server in this process on a scripted model, and a client of it.
 */
#ifndef HOB_TESTS_DESK_H
#define HOB_TESTS_DESK_H

#include <hob/hob.h>
#include <hob/server.h>

#include "support/client.h"
#include "support/folder.h"

#define DESK_TOKEN "0123456789abcdef0123456789abcdef"

typedef struct desk {
    hob_test_folder folder; /* workspace, script, store, state */
    hob_config *config;
    hob_runtime *rt;
    hob_server *server;
    hob_runtime_opts ro; /* change before desk_start */
    hob_server_opts so;
    hob_error err;
    int port;
    int64_t idle_ms; /* after which sessions are let go of; 0 = as always */
    int64_t tick_ms; /* after which the hub looks around; 0 = as always */
    client c;        /* with DESK_TOKEN */
    const char *roots[2];
    char *tokens; /* the token file */
    char model[320];
} desk;

void desk_init(desk *d, const char *script); /* ' for "; nothing runs yet */
void desk_tokens(desk *d, const char *text); /* before desk_start: a token file; ' for " */
void desk_start(desk *d);
void desk_stop(desk *d); /* server and runtime; the folder stays, and desk_start goes on with it */
void desk_finish(desk *d);
/* For cmocka: *state is a desk that has started. */
int desk_setup(void **state, const char *script);
int desk_teardown(void **state);
/* POST /api/sessions with that id: 201, or the test fails. */
void desk_session(desk *d, const char *id);
/* "text" to the session's prompt: 202, or the test fails. */
void desk_prompt(desk *d, const char *id, const char *text);
tail *desk_tail(desk *d, const char *id, uint64_t after,
                const char *query);        /* query: "&until=…" or "" */
void desk_settle(desk *d, const char *id); /* until it is settled, by its stream */
int desk_call(desk *d, const char *method, const char *body, const char *fmt, ...) HOB_PRINTF(4, 5);
#define desk_get(d, ...) desk_call(d, "GET", NULL, __VA_ARGS__)
#define desk_post(d, body, ...) desk_call(d, "POST", body, __VA_ARGS__)
#define assert_status(d, call, wanted)                                                             \
    do {                                                                                           \
        int got_ = (call);                                                                         \
        if (got_ != (wanted))                                                                      \
            fail_msg("%d instead of %d: %s", got_, wanted, hob_buf_z(&(d)->c.body));               \
    } while (0)
#define assert_field(d, path, text) assert_string_equal(client_field(&(d)->c, path), text)

#endif
