/*
 * metrics.c - counters of the HTTP side, and their text.
 *
 * Requests are counted by route, never by path: the number of rows is the number of routes times that of statuses that
 * occur, whatever clients ask for.
 */
#include "serve/metrics.h"

#include <stdatomic.h>
#include <stdio.h>

static const int statuses[] = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 413, 414,
                               415, 417, 421, 422, 429, 431, 500, 501, 502, 503, 504, 505, 0};
static const int bounds_ms[] = {1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000};

enum { STATUSES = HOB_ARRAY_LEN(statuses), BOUNDS = HOB_ARRAY_LEN(bounds_ms) };

typedef struct route_counts {
    _Atomic int64_t by_status[STATUSES];
    _Atomic int64_t under[BOUNDS + 1];
    _Atomic int64_t sum_ms, count;
} route_counts;

struct hob_metrics {
    _Atomic int64_t values[HOB_METRIC_COUNT];
    const hob_route *rows;
    size_t nroutes;
    route_counts routes[]; /* the last one: no route */
};

hob_metrics *hob_metrics_create(const hob_route *routes, size_t n) {
    hob_metrics *m = hob_alloc(sizeof *m + (n + 1) * sizeof(route_counts));
    m->rows = routes;
    m->nroutes = n;
    return m;
}

void hob_metrics_destroy(hob_metrics *m) {
    hob_free(m);
}

void hob_metric_add(hob_metrics *m, hob_metric which, int64_t n) {
    atomic_fetch_add_explicit(&m->values[which], n, memory_order_relaxed);
}

int64_t hob_metric_get(const hob_metrics *m, hob_metric which) {
    return atomic_load_explicit(&m->values[which], memory_order_relaxed);
}

static void count(_Atomic int64_t *at, int64_t n) {
    atomic_fetch_add_explicit(at, n, memory_order_relaxed);
}

void hob_metrics_request(hob_metrics *m, const hob_route *route, int status, int64_t ms) {
    size_t s = 0, b = 0;
    route_counts *r = &m->routes[route ? (size_t)(route - m->rows) : m->nroutes];
    while (statuses[s] && statuses[s] != status) s++;
    while (b < BOUNDS && ms > bounds_ms[b]) b++;
    count(&r->by_status[s], 1);
    count(&r->under[b], 1);
    count(&r->sum_ms, ms);
    count(&r->count, 1);
}

/* ---- text ----------------------------------------------------------------------------------------------- */

void hob_metrics_sample(hob_buf *out, const char *name, const char *type, const char *help,
                        double value) {
    hob_buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name,
                 value);
}

static int64_t get(const _Atomic int64_t *at) {
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void labels(const hob_metrics *m, size_t i, char *out, size_t cap) {
    if (i < m->nroutes)
        snprintf(out, cap, "method=\"%s\",route=\"%s\"", m->rows[i].method, m->rows[i].path);
    else
        snprintf(out, cap, "method=\"\",route=\"\"");
}

static void write_counts(const hob_metrics *m, hob_buf *out) {
    char who[256];
    hob_buf_addz(out, "# HELP hob_http_requests_total Requests answered, by route and status.\n"
                      "# TYPE hob_http_requests_total counter\n");
    for (size_t i = 0; i <= m->nroutes; i++) {
        labels(m, i, who, sizeof who);
        for (size_t s = 0; s < STATUSES; s++) {
            int64_t n = get(&m->routes[i].by_status[s]);
            if (n)
                hob_buf_addf(out, "hob_http_requests_total{%s,status=\"%d\"} %lld\n", who,
                             statuses[s], (long long)n);
        }
    }
}

static void write_histogram(const route_counts *r, const char *who, hob_buf *out) {
    long long sum = 0;
    for (size_t b = 0; b < BOUNDS; b++) {
        sum += get(&r->under[b]);
        hob_buf_addf(out, "hob_http_request_seconds_bucket{%s,le=\"%g\"} %lld\n", who,
                     bounds_ms[b] / 1000.0, sum);
    }
    sum += get(&r->under[BOUNDS]);
    hob_buf_addf(out, "hob_http_request_seconds_bucket{%s,le=\"+Inf\"} %lld\n", who, sum);
    hob_buf_addf(out, "hob_http_request_seconds_sum{%s} %.3f\n", who,
                 (double)get(&r->sum_ms) / 1000.0);
    hob_buf_addf(out, "hob_http_request_seconds_count{%s} %lld\n", who, sum);
}

static void write_times(const hob_metrics *m, hob_buf *out) {
    char who[256];
    hob_buf_addz(out, "# HELP hob_http_request_seconds Time from a request's head to its answer.\n"
                      "# TYPE hob_http_request_seconds histogram\n");
    for (size_t i = 0; i <= m->nroutes; i++) {
        if (!get(&m->routes[i].count)) continue;
        labels(m, i, who, sizeof who);
        write_histogram(&m->routes[i], who, out);
    }
}

void hob_metrics_write(const hob_metrics *m, hob_buf *out) {
    static const struct {
        const char *name, *type, *help;
    } rows[] = {
        [HOB_METRIC_CONNECTIONS] = {"hob_http_connections", "gauge", "Connections that are open."},
        [HOB_METRIC_STREAMS] = {"hob_http_streams", "gauge", "Streams that are open."},
        [HOB_METRIC_ACCEPTED] = {"hob_http_connections_total", "counter",
                                 "Connections that were accepted."},
        [HOB_METRIC_TURNED_AWAY] = {"hob_http_connections_refused_total", "counter",
                                    "Connections that were closed for want of room."},
        [HOB_METRIC_BAD_TOKENS] = {"hob_http_bad_tokens_total", "counter",
                                   "Requests with no token or a wrong one."},
    };
    for (size_t i = 0; i < HOB_METRIC_COUNT; i++)
        hob_metrics_sample(out, rows[i].name, rows[i].type, rows[i].help,
                           (double)get(&m->values[i]));
    write_counts(m, out);
    write_times(m, out);
}
