/*
 * bench/net.c - what streaming costs: CPU of this process per 1,000 SSE deltas.
 *
 * The same stream is read by a bare socket, by bare libcurl, and by our HTTP client with the SSE
 * reader; the server is another process. `burst`: as fast as it goes. `paced`: a pause after each
 * delta, so that every one is a wake-up of its own. The floor is bare libcurl.
 */
#include "net/http.h"
#include "net/sse.h"
#include "table.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5
#define BURST 20000
#define PACED 2000
#define PAUSE_NS 100000
#define PROMISE_OVER_CURL_US 1.0 /* per delta of a burst */

static const char delta[] =
    "event: content_block_delta\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
    "\"text\":\" and then some words\"}}\n\n";
#define DELTA_SIZE (sizeof(delta) - 1)

static int port;

static void die(const char *what) {
    perror(what);
    exit(2);
}

/* ---- the server, in a process of its own ----------------------------------------------------- */

static void put(int fd, const char *p, size_t n) {
    while (n > 0) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent <= 0) return;
        p += sent;
        n -= (size_t)sent;
    }
}

static void answer(int fd, int count, bool paced) {
    char head[256], piece[512];
    int piece_size = snprintf(piece, sizeof(piece), "%zx\r\n%s\r\n", DELTA_SIZE, delta);
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    hob_buf out;
    hob_buf_init(&out, 64 << 20);
    int n = snprintf(head, sizeof(head),
                     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n");
    put(fd, head, (size_t)n);
    for (int i = 0; i < count; i++) {
        hob_buf_add(&out, hob_str_n(piece, (size_t)piece_size));
        if (!paced) continue;
        put(fd, out.p, out.n);
        hob_buf_reset(&out);
        nanosleep(&pause, NULL);
    }
    hob_buf_addz(&out, "0\r\n\r\n");
    put(fd, out.p, out.n);
    hob_buf_finish(&out);
}

static void serve(int listener) {
    for (;;) {
        char request[4096];
        int on = 1, fd = accept(listener, NULL, NULL);
        if (fd < 0) exit(0);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        ssize_t n = recv(fd, request, sizeof(request) - 1, 0);
        request[n > 0 ? n : 0] = '\0';
        bool paced = strstr(request, "/paced") != NULL;
        answer(fd, paced ? PACED : BURST, paced);
        close(fd);
    }
}

static pid_t start_server(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(a);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(listener, 8) < 0)
        die("bind");
    getsockname(listener, (struct sockaddr *)&a, &size);
    port = ntohs(a.sin_port);
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) serve(listener);
    close(listener);
    return pid;
}

/* ---- three clients; each returns the payload bytes (the bare socket: all bytes) it read ------ */

static size_t read_raw(const char *path) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char block[16384];
    size_t all = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_port = htons((uint16_t)port);
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) die("connect");
    int n = snprintf(block, sizeof(block), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    put(fd, block, (size_t)n);
    for (ssize_t got; (got = read(fd, block, sizeof(block))) > 0;) all += (size_t)got;
    close(fd);
    return all;
}

static size_t on_curl_data(char *p, size_t size, size_t n, void *user) {
    (void)p;
    *(size_t *)user += size * n;
    return size * n;
}

static size_t read_curl(const char *path) {
    char url[64];
    size_t all = 0;
    CURL *easy = curl_easy_init();
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_curl_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &all);
    if (curl_easy_perform(easy) != CURLE_OK) die("curl");
    curl_easy_cleanup(easy);
    return all;
}

static hob_loop *loop;
static hob_http *http;

typedef struct reading {
    hob_sse sse;
    size_t all;
    bool done;
} reading;

static int on_event(const hob_sse_event *e, void *user) {
    reading *r = user;
    r->all += e->event.n + e->data.n + sizeof("event: \ndata: \n\n") - 1;
    return HOB_OK;
}

static int on_data(void *user, hob_str chunk) {
    return hob_sse_feed(&((reading *)user)->sse, chunk);
}

static void on_done(void *user, int code, const hob_error *err) {
    ((reading *)user)->done = true;
    if (code < 0) fprintf(stderr, "%s\n", err->message);
}

static size_t read_hob(const char *path) {
    static const hob_http_handler handler = {NULL, on_data, on_done};
    char url[64];
    reading r = {.all = 0};
    hob_http_call *call;
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
    hob_sse_init(&r.sse, 0, on_event, &r);
    hob_http_request rq = {.method = "GET", .url = hob_str_z(url)};
    if (hob_http_start(http, &rq, &handler, &r, &call, NULL) < 0) die("hob_http_start");
    while (!r.done) hob_loop_run_once(loop, -1);
    hob_sse_finish(&r.sse);
    return r.all;
}

/* ---- measuring --------------------------------------------------------------------------------- */

static double cpu_us(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Best of several rounds, after one to warm up: CPU microseconds per delta. */
static double cost(size_t (*read_all)(const char *), const char *path, int count, int rounds) {
    double best = 1e9;
    for (int i = 0; i <= rounds; i++) {
        double start = cpu_us();
        if (read_all(path) < (size_t)count * DELTA_SIZE) die("short stream");
        if (i > 0) best = HOB_MIN(best, (cpu_us() - start) / count);
    }
    return best;
}

static void row(const char *path, int count, int rounds, double over_curl) {
    char name[32], note[64];
    double raw = cost(read_raw, path, count, rounds), curl = cost(read_curl, path, count, rounds);
    snprintf(name, sizeof(name), "net.%s", path + 1);
    snprintf(note, sizeof(note), "bare socket %.2f", raw);
    bench_row((bench_line){.name = name,
                           .value = cost(read_hob, path, count, rounds),
                           .unit = "ms/1k",
                           .max = over_curl > 0 ? curl + over_curl : 0,
                           .floor = curl,
                           .note = note});
}

static int on_nothing(const hob_sse_event *e, void *user) {
    *(size_t *)user += e->data.n;
    return HOB_OK;
}

/* The reader alone, on pieces of 16 KiB. */
static void row_sse(void) {
    hob_buf text;
    size_t all = 0;
    double best = 1e9;
    hob_buf_init(&text, 64 << 20);
    for (int i = 0; i < BURST; i++) hob_buf_add(&text, hob_str_n(delta, DELTA_SIZE));
    for (int i = 0; i < 4 * ROUNDS; i++) {
        hob_sse s;
        hob_sse_init(&s, 0, on_nothing, &all);
        double start = cpu_us();
        for (size_t at = 0; at < text.n; at += 16384)
            hob_sse_feed(&s, hob_str_n(text.p + at, HOB_MIN(16384, text.n - at)));
        best = HOB_MIN(best, (cpu_us() - start) / BURST);
        hob_sse_finish(&s);
    }
    hob_buf_finish(&text);
    bench_row((bench_line){.name = "net.sse", .value = best, .unit = "ms/1k"});
}

int main(int argc, char **argv) {
    hob_pool *pool;
    bench_table_init(argc, argv);
    pid_t server = start_server();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    hob_loop_create(NULL, &loop, NULL);
    hob_pool_create(1, 8, &pool, NULL);
    hob_http_create(loop, &(hob_http_opts){.pool = pool}, &http, NULL);
    row("/burst", BURST, ROUNDS, PROMISE_OVER_CURL_US);
    row("/paced", PACED, 2, 0);
    row_sse();
    hob_http_destroy(http);
    hob_pool_destroy(pool);
    hob_loop_destroy(loop);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return bench_table_finish();
}
