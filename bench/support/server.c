#include "server.h"

#include <hob/hob.h>
#include <hob/server.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- hob ---------------------------------------------------------------------------------------------------- */

static bool write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "we");
    if (!f) return false;
    fputs(text, f);
    fclose(f);
    return chmod(path, 0600) == 0;
}

static int serve(const bench_rig *r, int ready) {
    static char store[320], model[340], tokens[320];
    const char *roots[] = {bench_rig_path(r, "work"), NULL};
    hob_runtime_opts ro = HOB_RUNTIME_OPTS_INIT;
    hob_server_opts so = HOB_SERVER_OPTS_INIT;
    hob_config *config = hob_config_create();
    hob_runtime *rt;
    hob_server *server;
    hob_error err;
    char url[200];
    snprintf(store, sizeof store, "sqlite:%s", bench_rig_path(r, "serve.db"));
    snprintf(model, sizeof model, "\"scripted:%s\"", bench_rig_path(r, "serve.json"));
    snprintf(tokens, sizeof tokens, "%s", bench_rig_path(r, "tokens.json"));
    ro.store = store;
    ro.config = config;
    so.listen = "127.0.0.1:0";
    so.token_file = tokens;
    so.roots = roots;
    int rc = hob_config_set(config, "model", hob_str_z(model), HOB_ORIGIN_FLAG, &err);
    if (rc >= 0) rc = hob_runtime_create(&ro, &rt, &err);
    if (rc >= 0) rc = hob_server_create(rt, &so, &server, &err);
    if (rc < 0) {
        fprintf(stderr, "bench/serve: %s\n", err.message);
        return 1;
    }
    hob_server_url(server, url, sizeof url);
    int port = atoi(strrchr(url, ':') + 1);
    if (write(ready, &port, sizeof port) != sizeof port) return 1;
    for (;;) pause();
}

static bool start(bench_server *s, int (*child)(const void *what, int ready), const void *what) {
    int ready[2];
    if (pipe(ready) < 0) return false;
    s->pid = fork();
    if (s->pid == 0) {
        close(ready[0]);
        _exit(child(what, ready[1]));
    }
    close(ready[1]);
    bool ok = s->pid > 0 && read(ready[0], &s->port, sizeof s->port) == sizeof s->port;
    close(ready[0]);
    return ok;
}

static int serve_rig(const void *rig, int ready) {
    return serve(rig, ready);
}

bool bench_server_start(bench_server *s, const bench_rig *r) {
    static const char script[] =
        "{\"rules\":[{\"when\":{\"user\":\"pace\"},\"reply\":[{\"repeat\":{\"times\":500,\"reply\":"
        "[{\"text\":\"0123456789\",\"delay_ms\":20}]}}]},"
        "{\"when\":{\"user\":\"pour\"},\"reply\":[{\"repeat\":{\"times\":1000,\"reply\":"
        "[{\"repeat\":{\"times\":200,\"reply\":[{\"text\":\"~word now \"}]}}]}}]}],\"otherwise\":[{\"text\":\"hello\"}]}";
    static const char tokens[] =
        "{\"tokens\":[{\"name\":\"bench\",\"principal\":\"local\",\"token\":\"" BENCH_TOKEN
        "\",\"rights\":[\"read\",\"run\"],"
        "\"limits\":{\"streams\":20000}}]}";
    if (!write_file(bench_rig_path(r, "serve.json"), script)) return false;
    if (!write_file(bench_rig_path(r, "tokens.json"), tokens)) return false;
    return start(s, serve_rig, r);
}

/* ---- the floor ------------------------------------------------------------------------------------------------- */

typedef struct load {
    size_t total, piece;
} load;

static void send_load(int fd, const load *l, const char *bytes) {
    char request[4096];
    if (read(fd, request, sizeof request) <= 0) return;
    for (size_t at = 0; at < l->total; at += l->piece)
        if (write(fd, bytes, l->piece) < 0) break;
    close(fd);
}

static int serve_raw(const void *what, int ready) {
    const load *l = what;
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    char *bytes = hob_alloc(l->piece);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memset(bytes, 'x', l->piece);
    signal(SIGPIPE, SIG_IGN);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 64) < 0) return 1;
    getsockname(fd, (struct sockaddr *)&at, &n);
    int port = ntohs(at.sin_port);
    if (write(ready, &port, sizeof port) != sizeof port) return 1;
    for (int c; (c = accept(fd, NULL, NULL)) >= 0;) send_load(c, l, bytes);
    return 0;
}

bool bench_server_start_raw(bench_server *s, size_t total, size_t piece) {
    load l = {total, piece};
    return start(s, serve_raw, &l);
}

/* ---- the peer --------------------------------------------------------------------------------------------------- */

/* Installed once into the build folder. */
static bool install_peer(void) {
    return system("mkdir -p '" HOB_BINARY_DIR "/bench-peers' && cd '" HOB_BINARY_DIR
                  "/bench-peers' && "
                  "cp '" HOB_SOURCE_DIR
                  "'/bench/peers/* . && { [ -d node_modules/@ag-ui/encoder ] || "
                  "npm install --no-audit --no-fund --loglevel=error; } >/dev/null 2>&1") == 0;
}

static int serve_node(const void *what, int ready) {
    char line[32] = {0};
    int out[2];
    (void)what;
    if (pipe(out) < 0) return 1;
    dup2(out[1], 1);
    close(out[1]);
    pid_t reader = fork();
    if (reader == 0) { /* hands the port on; node keeps the process that is measured */
        close(1);
        ssize_t n = read(out[0], line, sizeof line - 1);
        int port = n > 0 ? atoi(line) : 0;
        _exit(port && write(ready, &port, sizeof port) == sizeof port ? 0 : 1);
    }
    close(ready);
    execl(HOB_SOURCE_DIR "/scripts/node", "node", HOB_BINARY_DIR "/bench-peers/agui.mjs", NULL);
    return 1;
}

bool bench_server_start_node(bench_server *s) {
    return install_peer() && start(s, serve_node, NULL);
}

void bench_server_stop(bench_server *s) {
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
}

/* ---- what it costs ----------------------------------------------------------------------------------------------- */

double bench_server_cpu_ms(const bench_server *s) {
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(s->pid, &clock) == 0) clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

double bench_server_rss_mb(const bench_server *s) {
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)s->pid);
    FILE *f = fopen(path, "re");
    if (!f || fscanf(f, "%*s %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

/* ---- the other side ---------------------------------------------------------------------------------------------- */

int bench_dial(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static int port_of(int fd) {
    struct sockaddr_in to = {.sin_port = 0};
    socklen_t n = sizeof to;
    getpeername(fd, (struct sockaddr *)&to, &n);
    return ntohs(to.sin_port);
}

void bench_ask_for(int fd, const char *method, const char *path, const char *headers,
                   const char *body) {
    hob_buf b;
    hob_buf_init(&b, 65536);
    hob_buf_addf(
        &b, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer " BENCH_TOKEN "\r\n%s",
        method, path, port_of(fd), headers ? headers : "");
    if (body)
        hob_buf_addf(&b, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                     strlen(body), body);
    else
        hob_buf_addz(&b, "\r\n");
    if (send(fd, b.p, b.n, MSG_NOSIGNAL) < 0) perror("bench: send");
    hob_buf_finish(&b);
}

int bench_call(int fd, const char *method, const char *path, const char *body) {
    char text[65536];
    size_t n = 0, length = 0;
    char *end = NULL;
    bench_ask_for(fd, method, path, NULL, body);
    while (!end || n < (size_t)(end - text) + length) {
        ssize_t got = recv(fd, text + n, sizeof text - 1 - n, 0);
        if (got <= 0) return 0;
        n += (size_t)got;
        text[n] = 0;
        if (end || !(end = strstr(text, "\r\n\r\n"))) continue;
        end += 4;
        char *field = strstr(text, "Content-Length:");
        length = field && field < end ? strtoul(field + 15, NULL, 10) : 0;
    }
    return atoi(text + 9);
}

/* A mark that is cut in two by the end of a buffer is missed: of the many, that is nothing. */
size_t bench_read_all(int fd, const char *mark, size_t *marks) {
    static char text[262144 + 1];
    size_t total = 0, length = mark ? strlen(mark) : 0;
    ssize_t n;
    while ((n = recv(fd, text, sizeof text - 1, 0)) > 0) {
        total += (size_t)n;
        text[n] = 0;
        for (char *p = text; mark && (p = memmem(p, (size_t)(text + n - p), mark, length)); p++)
            ++*marks;
        if (n >= 5 && !memcmp(text + n - 5, "0\r\n\r\n", 5)) break;
    }
    return total;
}
