/*
 * sink.c - the log sink: the host decides where diagnostics go; by default nowhere.
 */
#include "base/base.h"

#include <stdio.h>

static hob_log_fn sink_fn;
static hob_log_level sink_max;
static void *sink_user;

void hob_set_log_sink(hob_log_fn fn, hob_log_level max_level, void *user) {
    sink_fn = fn;
    sink_max = max_level;
    sink_user = user;
}

void hob_log(hob_log_level level, const char *area, const char *fmt, ...) {
    if (!sink_fn || level > sink_max) return;
    char line[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    if (n < 0) return;
    hob_str message = hob_str_n(line, HOB_MIN((size_t)n, sizeof(line) - 1));
    if ((size_t)n > message.n) message.n = hob_utf8_complete(message);
    sink_fn(level, hob_str_z(area), message, sink_user);
}
