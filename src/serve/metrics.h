/*
 * metrics.h - what the server counts. Written by its thread and by handlers, read by /metrics. [any]
 */
#ifndef HOB_SRC_SERVE_METRICS_H
#define HOB_SRC_SERVE_METRICS_H

#include "serve/http.h"

typedef enum hob_metric {
    HOB_METRIC_CONNECTIONS, /* open now */
    HOB_METRIC_STREAMS,     /* open now */
    HOB_METRIC_ACCEPTED,
    HOB_METRIC_TURNED_AWAY, /* connections, for want of room */
    HOB_METRIC_BAD_TOKENS,
    HOB_METRIC_COUNT
} hob_metric;

typedef struct hob_metrics hob_metrics;
hob_metrics *hob_metrics_create(const hob_route *routes, size_t n);
void hob_metrics_destroy(hob_metrics *m);
void hob_metric_add(hob_metrics *m, hob_metric which, int64_t n);
int64_t hob_metric_get(const hob_metrics *m, hob_metric which);
/* A request that was answered; route NULL: it found none. */
void hob_metrics_request(hob_metrics *m, const hob_route *route, int status, int64_t ms);
/* In Prometheus' text format. */
void hob_metrics_write(const hob_metrics *m, hob_buf *out);
/* One sample with its HELP and TYPE lines; "gauge" or "counter". */
void hob_metrics_sample(hob_buf *out, const char *name, const char *type, const char *help,
                        double value);

#endif
