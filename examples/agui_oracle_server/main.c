/*
 * An AG-UI server on hob's producer API and libmicrohttpd, without hob's own agent loop.
 *
 *     agui_oracle_server --listen 127.0.0.1:PORT       (0: any free port)
 *
 * POST /agent runs the scripted agent of agent.c and streams its events (SSE, or protobuf if the client asks for it).
 * GET /agent/capabilities, POST /agent/cancel and POST /agent/connect are additions that the protocol leaves open.
 * When it is ready it prints one line: {"type":"ready","url":…,"pid":…}.
 */
#include "server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY_MAX = 32 << 20 };

typedef struct request {
    char *body;
    size_t n, cap;
    bool too_large;
} request;

typedef struct MHD_Connection connection;
typedef struct MHD_Response response;

/* ---- answers ---------------------------------------------------------------------------------------------- */

static enum MHD_Result answer(connection *c, unsigned status, const char *type, response *r) {
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Access-Control-Allow-Origin", "*");
    MHD_add_response_header(r, "Cache-Control", "no-cache");
    enum MHD_Result rc = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return rc;
}

static enum MHD_Result answer_json(connection *c, unsigned status, const char *json) {
    return answer(c, status, "application/json",
                  MHD_create_response_from_buffer(strlen(json), (void *)(uintptr_t)json,
                                                  MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result refuse(connection *c, unsigned status, const char *why) {
    char json[700], plain[520];
    size_t n = 0;
    for (; why[n] && n < sizeof plain - 1; n++)
        plain[n] = why[n] == '"' || why[n] == '\\' || (unsigned char)why[n] < 32 ? '\'' : why[n];
    plain[n] = '\0';
    snprintf(json, sizeof json, "{\"error\":{\"code\":%u,\"message\":\"%s\"}}", status, plain);
    return answer_json(c, status, json);
}

static ssize_t read_stream(void *user, uint64_t pos, char *buf, size_t max) {
    (void)pos;
    long n = stream_read(user, buf, max);
    return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static void free_stream(void *user) {
    stream_leave(user);
    stream_release(user);
}

static enum MHD_Result answer_stream(connection *c, stream *st, hob_agui_encoding encoding) {
    response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 65536, read_stream, st, free_stream);
    MHD_add_response_header(r, "X-Accel-Buffering", "no");
    return answer(c, 200, encoding == HOB_AGUI_AS_PROTO ? HOB_AGUI_TYPE_PROTO : HOB_AGUI_TYPE_SSE,
                  r);
}

/* ---- routes ----------------------------------------------------------------------------------------------- */

static hob_agui_encoding choose_encoding(connection *c, const hob_agui_input *in) {
    const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
    bool proto =
        hob_agui_accepts_proto(hob_str_z(accept)) && hob_agui_input_dialect(in) == HOB_AGUI_1_0;
    return proto ? HOB_AGUI_AS_PROTO : HOB_AGUI_AS_SSE;
}

static enum MHD_Result start_run(connection *c, hob_agui_input *in) {
    hob_agui_encoding encoding = choose_encoding(c, in);
    stream *st = stream_create(encoding == HOB_AGUI_AS_SSE);
    thread *t = thread_claim(hob_agui_input_thread_id(in), st);
    if (!t) {
        hob_agui_input_destroy(in);
        stream_release(st);
        stream_release(st);
        return refuse(c, 409, "a run is under way on this thread; wait for its end or cancel it");
    }
    job *j = calloc(1, sizeof *j);
    if (!j) abort();
    *j = (job){in, encoding, t, st};
    pthread_t worker;
    if (pthread_create(&worker, NULL, agent_run, j) != 0) abort();
    pthread_detach(worker);
    return answer_stream(c, st, encoding);
}

static enum MHD_Result connect_again(connection *c, hob_agui_input *in) {
    char *messages = thread_messages(hob_agui_input_thread_id(in));
    if (!messages) {
        hob_agui_input_destroy(in);
        return refuse(c, 404, "there is no such thread");
    }
    stream *st = stream_create(false);
    agent_replay(st, in, hob_str_z(messages));
    stream_end(st);
    stream_release(st);
    free(messages);
    hob_agui_input_destroy(in);
    return answer_stream(c, st, HOB_AGUI_AS_SSE);
}

static enum MHD_Result cancel(connection *c, const request *q) {
    char thread_id[1025];
    int n = hob_json_field(hob_str_n(q->body, q->n), "threadId", thread_id, sizeof thread_id);
    if (n < 0) return refuse(c, 400, "name the thread: {\"threadId\":…}");
    if (!thread_stop(hob_str_z(thread_id))) return refuse(c, 404, "there is no such thread");
    return answer_json(c, 202, "{}");
}

static enum MHD_Result with_input(connection *c, const request *q, const char *path) {
    hob_agui_input *in;
    hob_error err;
    if (hob_agui_input_parse(hob_str_n(q->body, q->n), &in, &err) < 0)
        return refuse(c, err.code == HOB_ETOOBIG ? 413 : 400, err.message);
    return strcmp(path, "/agent") ? connect_again(c, in) : start_run(c, in);
}

static enum MHD_Result preflight(connection *c) {
    response *r =
        MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(r, "Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    MHD_add_response_header(r, "Access-Control-Allow-Headers",
                            "content-type, accept, authorization");
    return answer(c, 204, "text/plain", r);
}

static enum MHD_Result route(connection *c, const char *path, const char *method,
                             const request *q) {
    if (!strcmp(method, "OPTIONS")) return preflight(c);
    if (!strcmp(path, "/agent/capabilities") && !strcmp(method, "GET"))
        return answer_json(c, 200,
                           "{\"identity\":{\"name\":\"agui_oracle_server\"},"
                           "\"transport\":{\"streaming\":true,\"httpBinary\":true},"
                           "\"humanInTheLoop\":{\"interrupts\":true}}");
    bool known = !strcmp(path, "/agent") || !strcmp(path, "/agent/connect") ||
                 !strcmp(path, "/agent/cancel");
    if (!known) return refuse(c, 404, "there is nothing here; POST to /agent");
    if (strcmp(method, "POST")) return refuse(c, 405, "use POST");
    if (q->too_large) return refuse(c, 413, "the body is too large");
    return strcmp(path, "/agent/cancel") ? with_input(c, q, path) : cancel(c, q);
}

/* ---- libmicrohttpd ------------------------------------------------------------------------------------------ */

static void collect(request *q, const char *data, size_t n) {
    if (q->too_large || n > BODY_MAX - q->n) {
        q->too_large = true;
        return;
    }
    if (q->n + n > q->cap) {
        q->cap = (q->n + n) * 2;
        q->body = realloc(q->body, q->cap);
        if (!q->body) abort();
    }
    memcpy(q->body + q->n, data, n);
    q->n += n;
}

static enum MHD_Result on_request(void *user, connection *c, const char *path, const char *method,
                                  const char *version, const char *data, size_t *n, void **slot) {
    (void)user;
    (void)version;
    if (!*slot) {
        *slot = calloc(1, sizeof(request));
        return *slot ? MHD_YES : MHD_NO;
    }
    if (*n) {
        collect(*slot, data, *n);
        *n = 0;
        return MHD_YES;
    }
    return route(c, path, method, *slot);
}

static void on_completed(void *user, connection *c, void **slot,
                         enum MHD_RequestTerminationCode why) {
    request *q = *slot;
    (void)user;
    (void)c;
    (void)why;
    if (q) free(q->body);
    free(q);
    *slot = NULL;
}

static struct sockaddr_in address_of(int argc, char **argv) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (argc == 1) return a;
    char *colon = argc == 3 && !strcmp(argv[1], "--listen") ? strrchr(argv[2], ':') : NULL;
    if (colon) {
        *colon = '\0';
        a.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    }
    if (colon && inet_pton(AF_INET, argv[2], &a.sin_addr) == 1) return a;
    fprintf(stderr, "usage: agui_oracle_server [--listen 127.0.0.1:PORT]\n");
    exit(2);
}

int main(int argc, char **argv) {
    struct sockaddr_in address = address_of(argc, argv);
    sigset_t ends;
    int got;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before threads begin: they inherit it */
    signal(SIGPIPE, SIG_IGN);
    struct MHD_Daemon *d = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, on_request,
        NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
        MHD_OPTION_CONNECTION_LIMIT, 1000u, MHD_OPTION_END);
    if (!d) {
        fprintf(stderr, "agui_oracle_server: cannot listen on port %u\n", ntohs(address.sin_port));
        return 1;
    }
    char host[INET_ADDRSTRLEN];
    unsigned port = MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT)->port;
    inet_ntop(AF_INET, &address.sin_addr, host, sizeof host);
    printf("{\"type\":\"ready\",\"url\":\"http://%s:%u\",\"pid\":%d}\n", host, port, (int)getpid());
    fflush(stdout);
    sigwait(&ends, &got);
    MHD_stop_daemon(d);
    return 0;
}
