/*
 * health.c - is the server well: /healthz, /readyz, /metrics.
 *
 * Without a token the probes say one word, which tells a stranger nothing. Who has the right admin sees the rest.
 */
#include "serve/hub.h"
#include "serve/routes.h"
#include "serve/tally.h"
#include "serve/web.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Resident memory of this process; 0 if the kernel does not say. */
static int64_t resident_bytes(void) {
    char text[128];
    long long pages, resident;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = 0;
    return sscanf(text, "%lld %lld", &pages, &resident) == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

static int64_t uptime_s(const hob_server *s) {
    hob_clock *clock = hob_clock_real();
    return (clock->wall_ms(clock) - s->started_ms) / 1000;
}

static void write_details(hob_jsonw *w, hob_web_request *r) {
    const hob_server *s = hob_web_server(r);
    hob_jsonw_kstr(w, "version", hob_str_z(hob_version()));
    hob_jsonw_kint(w, "uptime_s", uptime_s(s));
    hob_jsonw_kint(w, "connections", hob_metric_get(r->web->metrics, HOB_METRIC_CONNECTIONS));
    hob_jsonw_kint(w, "streams", hob_metric_get(r->web->metrics, HOB_METRIC_STREAMS));
    hob_jsonw_kint(w, "callers", (int64_t)hob_callers_count(s->callers));
    hob_jsonw_kint(w, "rss_bytes", resident_bytes());
}

static void answer(hob_web_request *r, int status, const char *word) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 4096);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "status", hob_str_z(word));
    if (hob_web_caller(r) && hob_caller_may(hob_web_caller(r), HOB_RIGHT_ADMIN))
        write_details(&w, r);
    hob_jsonw_object_end(&w);
    hob_web_answer_json(r, status, hob_buf_str(&b));
    hob_buf_finish(&b);
}

void hob_route_healthz(hob_web_request *r) {
    answer(r, 200, "ok");
}

void hob_route_readyz(hob_web_request *r) {
    hob_server *s = hob_web_server(r);
    if (atomic_load(&s->draining))
        answer(r, 503, "stopping");
    else if (atomic_load(&s->not_ready))
        answer(r, 503, "starting");
    else
        answer(r, 200, "ready");
}

static void write_sessions(hob_hub *h, hob_buf *b) {
    size_t working, waiting;
    hob_hub_at_work(h, &working, &waiting);
    hob_metrics_sample(b, "hob_sessions_open", "gauge", "Sessions that are open in this server.",
                       (double)hob_hub_count(h));
    hob_metrics_sample(b, "hob_sessions_working", "gauge",
                       "Of them: those in which a run is at work.", (double)working);
    hob_metrics_sample(b, "hob_sessions_waiting", "gauge",
                       "Of them: those whose run waits for somebody.", (double)waiting);
}

void hob_route_metrics(hob_web_request *r) {
    const hob_server *s = hob_web_server(r);
    hob_buf b;
    hob_buf_init(&b, 4 << 20);
    hob_metrics_write(r->web->metrics, &b);
    if (s->hub) write_sessions(s->hub, &b);
    if (s->tally) hob_tally_write(s->tally, &b);
    hob_metrics_sample(&b, "process_resident_memory_bytes", "gauge", "Resident memory.",
                       (double)resident_bytes());
    hob_metrics_sample(&b, "process_start_time_seconds", "gauge",
                       "When the server started, Unix time.", (double)s->started_ms / 1000);
    hob_web_answer(r, 200, "text/plain; version=0.0.4; charset=utf-8", hob_buf_str(&b));
    hob_buf_finish(&b);
}
