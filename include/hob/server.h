/*
 * hob/server.h - a runtime behind HTTP: sessions, streams of events, AG-UI, the console page (docs/http.md).
 *
 *     hob_server_opts o = HOB_SERVER_OPTS_INIT;
 *     o.listen = "127.0.0.1:0";
 *     o.token = "a long random secret";
 *     if (hob_server_create(rt, &o, &server, &err) < 0) …
 *     hob_server_url(server, url, sizeof url);
 *     …
 *     hob_server_stop(server, 10000);
 *     hob_server_destroy(server);
 *     hob_runtime_destroy(rt);
 *
 * The server has a thread of its own and at most `workers` more, and makes ordinary calls of this library: the
 * runtime must have its own thread (HOB_LOOP_OWN_THREAD). It never answers without a token, reads the token file and
 * no other, and writes nothing but what `on_log` is told.
 *
 * Every call is [any] unless marked.
 */
#ifndef HOB_SERVER_H
#define HOB_SERVER_H

#include <hob/definitions.h>
#include <hob/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_server hob_server;

enum {
    HOB_SERVER_INSECURE = 1,     /* an address that other machines can reach, without TLS */
    HOB_SERVER_NO_CONSOLE = 2,   /* nothing at / */
    HOB_SERVER_CONTEXT_FILES = 4 /* its sessions read AGENTS.md: HOB_SESSION_CONTEXT_FILES */
};

/* One request or run that ended, or something that the server has to say: a JSON object on one line (docs/http.md). Called
 * from threads of the server and the runtime, one at a time; must not block for long, nor call the runtime. */
typedef void (*hob_server_log_fn)(hob_str line, void *user);

typedef struct hob_server_opts {
    size_t size;
    const char
        *listen;       /* ADDRESS:PORT or unix:PATH; port 0 = any free one; NULL = 127.0.0.1:4042 */
    const char *token; /* one caller with all rights, tenant "hob", principal "local"; or … */
    const char *token_file; /* … many callers (docs/http.md); one of the two is needed */
    const char *const
        *allow_hosts; /* names in Host besides the address's own; NULL-terminated or NULL */
    const char *const
        *allow_origins; /* pages elsewhere that may call: exact, "https://example.org" */
    const char *const
        *roots; /* folders that sessions may have, the first one by default; NULL = none */
    const char *max_mode; /* strongest permission mode over HTTP; NULL = accept-edits */
    unsigned flags;
    unsigned workers;         /* threads for handlers; 0 = 16 */
    unsigned max_connections; /* 0 = 20,000, but not more than open files allow */
    hob_server_log_fn on_log; /* NULL = nothing is said */
    void *user;
    hob_definitions *
        definitions; /* agents, skills and commands for its sessions; NULL = none. Stays the host's */
    const char
        *state_dir; /* where it notes which sessions it works in, so that the next server takes
                              up what this one could not end; NULL = nowhere */
} hob_server_opts;
#define HOB_SERVER_OPTS_INIT                                                                       \
    { .size = sizeof(hob_server_opts) }

/* Listens and answers when it returns. HOB_EINVAL (an option), HOB_EACCES (a public address without
 * HOB_SERVER_INSECURE; a token file that others can read), HOB_EEXIST (the address is in use), HOB_ECONFIG (the token
 * file), HOB_EIO. */
HOB_API int hob_server_create(hob_runtime *rt, const hob_server_opts *o, hob_server **out,
                              hob_error *err);
/* "http://127.0.0.1:40213/", NUL-terminated, cut at cap; returns the full length. */
HOB_API int hob_server_url(const hob_server *s, char *buf, size_t cap);
/* Reads the token file again, and ends the streams of callers that are no longer in it or changed. On failure the
 * callers stay as they are. */
HOB_API int hob_server_reload(hob_server *s, hob_error *err);
/* Takes no more requests, lets go of its sessions (runs under way stay resumable), ends the streams. Waits for handlers
 * at most timeout_ms, then cuts them off. Not inside on_log. */
HOB_API void hob_server_stop(hob_server *s, int64_t timeout_ms);
/* Stops, if that was not done, and frees. NULL is fine. The runtime stays. */
HOB_API void hob_server_destroy(hob_server *s);

#ifdef __cplusplus
}
#endif

#endif
