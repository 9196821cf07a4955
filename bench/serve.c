/*
 * bench/serve.c - what the server costs: events sent, requests answered, streams that only wait.
 *
 * The server is a process of its own and its CPU time is what counts, so that the client's does not. Events are those of
 * sessions' logs, sent as server-sent events: to the first who asks, when they are read from the store, and to those who
 * come after. The floor is a bare program that sends as many bytes with one write(2) an event.
 */
#include "server.h"
#include "table.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SESSIONS = 3, PROMPTS = 2000, REPLAYS = 40, REQUESTS = 20000, STREAMS = 10000 };

/* ---- events ------------------------------------------------------------------------------------------------- */

static bool make_session(int fd, const char *id) {
    char path[100], body[100];
    snprintf(body, sizeof body, "{\"id\":\"%s\"}", id);
    snprintf(path, sizeof path, "/api/sessions/%s/prompt", id);
    return bench_call(fd, "POST", "/api/sessions", body) == 201;
}

/* Each prompt is queued behind the one before; the stream ends when all are done. */
static bool fill_session(int port, const char *id) {
    char path[100];
    int fd = bench_dial(port);
    bool ok = make_session(fd, id);
    snprintf(path, sizeof path, "/api/sessions/%s/prompt", id);
    for (int i = 0; ok && i < PROMPTS; i++)
        ok = bench_call(fd, "POST", path, "{\"text\":\"hi\",\"when_busy\":\"enqueue\"}") == 202;
    close(fd);
    return ok;
}

static size_t replay(int port, const char *id, size_t *events) {
    char path[100];
    int fd = bench_dial(port);
    snprintf(path, sizeof path, "/api/sessions/%s/events?until=settled", id);
    bench_ask_for(fd, "GET", path, "Accept: text/event-stream\r\nConnection: close\r\n", NULL);
    size_t bytes = bench_read_all(fd, "\nevent: ", events);
    close(fd);
    return bytes;
}

/* Events that Node sends in a millisecond of its CPU. */
static double node_rate(const bench_server *s, const char *path, size_t n) {
    size_t events = 0;
    double cpu = bench_server_cpu_ms(s);
    int fd = bench_dial(s->port);
    bench_ask_for(fd, "GET", path, NULL, NULL);
    bench_read_all(fd, "data: ", &events);
    close(fd);
    cpu = bench_server_cpu_ms(s) - cpu;
    return events >= n && cpu > 0 ? (double)events / cpu : 0;
}

/* Events that the server sends in a millisecond of its CPU. */
static double replay_rate(const bench_server *s, const char *name, int sessions, int rounds,
                          size_t *piece) {
    size_t events = 0, bytes = 0;
    char id[32];
    double cpu = bench_server_cpu_ms(s);
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < sessions; k++) {
            snprintf(id, sizeof id, "%s%d", name, k);
            bytes += replay(s->port, id, &events);
        }
    cpu = bench_server_cpu_ms(s) - cpu;
    if (!events) return 0;
    *piece = bytes / events;
    return (double)events / cpu;
}

static void node_row(const char *name, double ours, double node) {
    char note[80];
    snprintf(note, sizeof note, "Node: %.0f k/s", node);
    bench_row((bench_line){
        .name = name, .value = node > 0 ? ours / node : 0, .unit = "x", .min = 5, .note = note});
}

/* Like with like: what is there already, sent as fast as it is taken; and what comes piece by piece. */
static void measure_node(double stored, double live) {
    bench_server s;
    if (!bench_server_start_node(&s)) {
        bench_failed("serve.events_node", "no Node server to compare with");
        return;
    }
    node_rate(&s, "/100000", 100000); /* warm */
    node_row("serve.events_node", stored, node_rate(&s, "/1000000", 1000000));
    node_row("serve.live_node", live, node_rate(&s, "/live/200000", 200000));
    bench_server_stop(&s);
}

static double raw_rate(size_t piece) {
    bench_server raw;
    enum { EVENTS = 20000, ROUNDS = 40 };
    if (!bench_server_start_raw(&raw, EVENTS * piece, piece)) return 0;
    double cpu = bench_server_cpu_ms(&raw);
    for (int i = 0; i < ROUNDS; i++) {
        int fd = bench_dial(raw.port);
        bench_ask_for(fd, "GET", "/", NULL, NULL);
        bench_read_all(fd, NULL, NULL);
        close(fd);
    }
    cpu = bench_server_cpu_ms(&raw) - cpu;
    bench_server_stop(&raw);
    return EVENTS * (double)ROUNDS / cpu;
}

static bool fill_sessions(const bench_server *s) {
    char id[32];
    bool ok = true;
    for (int k = 0; ok && k < SESSIONS; k++) {
        snprintf(id, sizeof id, "long%d", k);
        ok = fill_session(s->port, id);
    }
    return ok;
}

/* ---- a run that streams ---------------------------------------------------------------------------------------- */

/* Pieces of text from the model to an AG-UI client, in a millisecond of the server's CPU: the whole run, its log included.
 * Those that wait together become one event. */
static double live_rate(const bench_server *s) {
    enum { RUNS = 5, PIECES = 200000 };
    char body[400];
    size_t pieces = 0;
    double cpu = bench_server_cpu_ms(s);
    for (int i = 0; i < RUNS; i++) {
        int fd = bench_dial(s->port);
        snprintf(
            body, sizeof body,
            "{\"threadId\":\"pour%d\",\"runId\":\"r\",\"messages\":[{\"id\":\"1\",\"role\":\"user\","
            "\"content\":\"pour\"}],\"tools\":[],\"state\":{},\"context\":[],\"forwardedProps\":{}}",
            i);
        bench_ask_for(fd, "POST", "/agui/default",
                      "Accept: text/event-stream\r\nConnection: close\r\n", body);
        bench_read_all(fd, "~", &pieces);
        close(fd);
    }
    cpu = bench_server_cpu_ms(s) - cpu;
    return pieces == (size_t)RUNS * PIECES ? (double)pieces / cpu : 0;
}

/* A server that has read none of it: all is done, and it is started anew. */
static bool start_anew(bench_server *s, const bench_rig *r) {
    size_t piece;
    if (!fill_sessions(s) || replay_rate(s, "long", SESSIONS, 1, &piece) <= 0) return false;
    bench_server_stop(s);
    return bench_server_start(s, r);
}

static void measure_events(bench_server *s, const bench_rig *r) {
    size_t piece = 0;
    if (!start_anew(s, r)) {
        bench_failed("serve.events", "the sessions could not be filled");
        return;
    }
    double first = replay_rate(s, "long", SESSIONS, 1, &piece);
    double again = replay_rate(s, "long", SESSIONS, REPLAYS, &piece);
    double bare = raw_rate(piece);
    bench_row(
        (bench_line){.name = "serve.events.first", .value = first, .unit = "k/s", .floor = bare});
    bench_row((bench_line){.name = "serve.events", .value = again, .unit = "k/s", .floor = bare});
    bench_row(
        (bench_line){.name = "serve.events_ratio", .value = first / bare, .unit = "x", .min = 0.5});
    double live = live_rate(s);
    bench_row((bench_line){.name = "serve.live", .value = live, .unit = "k/s"});
    measure_node(again, live);
}

/* ---- requests ----------------------------------------------------------------------------------------------- */

static void measure_requests(const bench_server *s, const char *name, const char *path) {
    int fd = bench_dial(s->port);
    double cpu = bench_server_cpu_ms(s);
    int64_t begun = bench_now();
    for (int i = 0; i < REQUESTS; i++)
        if (bench_call(fd, "GET", path, NULL) != 200) {
            bench_failed(name, "a request was not answered");
            close(fd);
            return;
        }
    double wall = (double)(bench_now() - begun) / 1e6;
    cpu = bench_server_cpu_ms(s) - cpu;
    close(fd);
    char note[80];
    snprintf(note, sizeof note, "%.0f/s on one connection", REQUESTS / wall * 1000);
    bench_row((bench_line){
        .name = name, .value = REQUESTS / cpu * 1000, .unit = "/s/core", .note = note});
}

/* ---- streams that wait --------------------------------------------------------------------------------------- */

static size_t open_streams(int port, int *fds) {
    size_t n = 0;
    for (; n < STREAMS && (fds[n] = bench_dial(port)) >= 0; n++)
        bench_ask_for(fds[n], "GET", "/api/sessions/idle/events?after=1",
                      "Accept: text/event-stream\r\n", NULL);
    return n;
}

static void measure_idle(const bench_server *s) {
    int *fds = hob_alloc(STREAMS * sizeof *fds), fd = bench_dial(s->port);
    bool ok =
        make_session(fd, "idle") && bench_call(fd, "POST", "/api/sessions/idle/close", NULL) == 204;
    double before = bench_server_rss_mb(s);
    size_t n = ok ? open_streams(s->port, fds) : 0;
    bool answered = n && bench_call(fd, "GET", "/healthz", NULL) == 200; /* all were taken before */
    sleep(2);
    double cpu = bench_server_cpu_ms(s);
    sleep(5);
    cpu = (bench_server_cpu_ms(s) - cpu) / 5;
    double after = bench_server_rss_mb(s);
    if (n == STREAMS && answered) {
        bench_row((bench_line){.name = "serve.idle.rss", .value = after, .unit = "MB", .max = 256});
        bench_row((bench_line){
            .name = "serve.idle.stream", .value = (after - before) * 1024 / STREAMS, .unit = "KB"});
        bench_row((bench_line){.name = "serve.idle.cpu", .value = cpu, .unit = "ms/s", .max = 20});
    } else {
        bench_failed("serve.idle.rss", "ten thousand streams could not be opened");
    }
    for (size_t i = 0; i < n; i++) close(fds[i]);
    close(fd);
    hob_free(fds);
}

static void raise_files(void) {
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) < 0) return;
    l.rlim_cur = l.rlim_max;
    setrlimit(RLIMIT_NOFILE, &l);
}

int main(int argc, char **argv) {
    bench_rig r;
    bench_server s;
    bench_table_init(argc, argv);
    raise_files();
    bench_rig_init(&r);
    if (bench_server_start(&s, &r)) {
        measure_events(&s, &r);
        measure_requests(&s, "serve.requests.healthz", "/healthz");
        measure_requests(&s, "serve.requests.session", "/api/sessions/long0");
        measure_idle(&s);
        bench_server_stop(&s);
    } else {
        bench_failed("serve.events", "no server");
    }
    bench_rig_finish(&r);
    return bench_table_finish();
}
