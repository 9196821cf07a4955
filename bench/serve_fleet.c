/*
 * bench/serve_fleet.c - a thousand runs at once, fifty events a second each, each with a client: how late do events come?
 *
 * An event carries the time at which it was made; its delay is what has passed when the client has it. Server and
 * client share the machine.
 */
#include "server.h"
#include "table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RUNS = 1000, SECONDS = 10, MAX_MS = 10000 };

typedef struct fleet {
    bench_server s;
    int epoll;
    int fds[RUNS];
    unsigned delays[MAX_MS]; /* how many events came after so many ms */
    size_t events, settled;
} fleet;

static bool open_sessions(fleet *f) {
    char path[100], body[100];
    int fd = bench_dial(f->s.port);
    bool ok = true;
    for (int i = 0; ok && i < RUNS; i++) {
        snprintf(body, sizeof body, "{\"id\":\"s%d\"}", i);
        ok = bench_call(fd, "POST", "/api/sessions", body) == 201;
        snprintf(path, sizeof path, "/api/sessions/s%d/events?after=1", i);
        f->fds[i] = bench_dial(f->s.port);
        bench_ask_for(f->fds[i], "GET", path, "Accept: text/event-stream\r\n", NULL);
        struct epoll_event e = {.events = EPOLLIN, .data.fd = f->fds[i]};
        epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->fds[i], &e);
    }
    close(fd);
    return ok;
}

/* Beside the reading: what has begun to stream is not to wait for the last one to begin. */
static void *prompt_all(void *user) {
    fleet *f = user;
    char path[100];
    int fd = bench_dial(f->s.port);
    for (int i = 0; i < RUNS; i++) {
        snprintf(path, sizeof path, "/api/sessions/s%d/prompt", i);
        if (bench_call(fd, "POST", path, "{\"text\":\"pace\"}") != 202) break;
    }
    close(fd);
    return NULL;
}

/* Of each event in the bytes: when it was made. One that is cut in two is passed over. */
static void take(fleet *f, hob_str bytes, int64_t now) {
    static const hob_str mark = {"\"ts\":\"", 6};
    ptrdiff_t at;
    while ((at = hob_str_find(bytes, mark)) >= 0) {
        int64_t made;
        bytes = hob_str_skip(bytes, (size_t)at + mark.n);
        if (hob_time_parse(hob_str_first(bytes, 24), &made) < 0) continue;
        int64_t late = now - made;
        f->delays[late < 0 ? 0 : late >= MAX_MS ? MAX_MS - 1 : late]++;
        f->events++;
        if (hob_str_starts(hob_str_skip(bytes, 25), HOB_STR(",\"type\":\"settled\""))) f->settled++;
    }
}

static void read_all(fleet *f) {
    static char text[262144];
    hob_clock *c = hob_clock_real();
    int64_t until = bench_now() + INT64_C(1000000000) * (SECONDS * 4 + 10);
    while (f->settled < RUNS && bench_now() < until) {
        struct epoll_event ready[256];
        int n = epoll_wait(f->epoll, ready, 256, 1000);
        for (int i = 0; i < n; i++) {
            ssize_t got = read(ready[i].data.fd, text, sizeof text);
            if (got <= 0)
                epoll_ctl(f->epoll, EPOLL_CTL_DEL, ready[i].data.fd, NULL);
            else
                take(f, hob_str_n(text, (size_t)got), c->wall_ms(c));
        }
    }
}

static int percentile(const fleet *f, double part) {
    size_t left = (size_t)((double)f->events * part);
    int ms = 0;
    for (; ms < MAX_MS - 1 && left >= f->delays[ms]; ms++) left -= f->delays[ms];
    return ms;
}

static void measure(fleet *f) {
    char note[100];
    if (!open_sessions(f)) {
        bench_failed("serve.fleet.p99", "the runs could not be started");
        return;
    }
    pthread_t prompts;
    double cpu = bench_server_cpu_ms(&f->s);
    int64_t begun = bench_now();
    if (pthread_create(&prompts, NULL, prompt_all, f) != 0) return;
    read_all(f);
    pthread_join(prompts, NULL);
    double wall = (double)(bench_now() - begun) / 1e6;
    cpu = bench_server_cpu_ms(&f->s) - cpu;
    snprintf(note, sizeof note, "%zu events, %zu of %d runs settled, %.1f cores", f->events,
             f->settled, RUNS, cpu / wall);
    bench_row((bench_line){.name = "serve.fleet.p50", .value = percentile(f, 0.5), .unit = "ms"});
    bench_row((bench_line){.name = "serve.fleet.p99",
                           .value = percentile(f, 0.99),
                           .unit = "ms",
                           .max = 100,
                           .note = note});
    bench_row(
        (bench_line){.name = "serve.fleet.rss", .value = bench_server_rss_mb(&f->s), .unit = "MB"});
}

int main(int argc, char **argv) {
    static fleet f;
    bench_rig r;
    struct rlimit l;
    bench_table_init(argc, argv);
    if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
        l.rlim_cur = l.rlim_max;
        setrlimit(RLIMIT_NOFILE, &l);
    }
    bench_rig_init(&r);
    f.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (bench_server_start(&f.s, &r)) {
        measure(&f);
        bench_server_stop(&f.s);
    } else {
        bench_failed("serve.fleet.p99", "no server");
    }
    bench_rig_finish(&r);
    return bench_table_finish();
}
