/*
 * tally.c - counters of runs, model calls, tokens and tools.
 */
#include "serve/tally.h"

#include "serve/metrics.h"

#include <hob/event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const statuses[] = {"completed", "failed", "cancelled", "interrupted", "limit"};
static const char *const outcomes[] = {"ok", "error", "skipped", "denied", "cancelled", "unknown"};
static const char *const kinds[] = {"input_tokens", "output_tokens", "cache_read_tokens",
                                    "cache_write_tokens", "reasoning_tokens"};

enum {
    STATUSES = HOB_ARRAY_LEN(statuses),
    OUTCOMES = HOB_ARRAY_LEN(outcomes),
    KINDS = HOB_ARRAY_LEN(kinds)
};

struct hob_tally {
    hob_runtime *rt;
    _Atomic int64_t events, started, calls, failures, approvals, micro_usd;
    _Atomic int64_t finished[STATUSES], tools[OUTCOMES], tokens[KINDS];
};

/* ---- counting, on the loop of the sessions ------------------------------------------------------------- */

static void add(_Atomic int64_t *at, int64_t n) {
    atomic_fetch_add_explicit(at, n, memory_order_relaxed);
}

static int64_t get(const _Atomic int64_t *at) {
    return atomic_load_explicit(at, memory_order_relaxed);
}

/* The word that the field has, of those; nothing if it has another. */
static void count_word(const hob_event *e, const char *field, const char *const *words, size_t n,
                       _Atomic int64_t *at) {
    char text[32];
    if (hob_event_field(e, field, text, sizeof text) <= 0) return;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(text, words[i])) add(&at[i], 1);
}

/* Of answers and of failures that cost something. */
static void count_usage(hob_tally *t, const hob_event *e) {
    char path[64], text[40];
    for (size_t i = 0; i < KINDS; i++) {
        int64_t n = 0;
        snprintf(path, sizeof path, "usage.%s", kinds[i]);
        if (hob_event_field(e, path, text, sizeof text) > 0 &&
            hob_str_int(hob_str_z(text), &n) >= 0)
            add(&t->tokens[i], n);
    }
    if (hob_event_field(e, "cost_usd", text, sizeof text) > 0)
        add(&t->micro_usd, (int64_t)(strtod(text, NULL) * 1e6 + 0.5));
}

static void on_event(hob_event *e, void *user) {
    hob_tally *t = user;
    add(&t->events, 1);
    switch (hob_event_type_of(e)) {
    case HOB_EVENT_RUN_STARTED: add(&t->started, 1); break;
    case HOB_EVENT_RUN_FINISHED: count_word(e, "status", statuses, STATUSES, t->finished); break;
    case HOB_EVENT_MODEL_CALL_STARTED: add(&t->calls, 1); break;
    case HOB_EVENT_ASSISTANT_MESSAGE: count_usage(t, e); break;
    case HOB_EVENT_MODEL_CALL_FAILED:
        add(&t->failures, 1);
        count_usage(t, e);
        break;
    case HOB_EVENT_TOOL_FINISHED: count_word(e, "outcome", outcomes, OUTCOMES, t->tools); break;
    case HOB_EVENT_APPROVAL_REQUESTED: add(&t->approvals, 1); break;
    default: break; /* the others are in `events` */
    }
}

int hob_tally_create(hob_runtime *rt, hob_tally **out, hob_error *err) {
    hob_tally *t = HOB_NEW(hob_tally);
    t->rt = rt;
    int r = hob_runtime_watch(rt, on_event, t, err);
    if (r < 0)
        hob_free(t);
    else
        *out = t;
    return r;
}

void hob_tally_destroy(hob_tally *t) {
    if (!t) return;
    hob_runtime_unwatch(t->rt, on_event, t, NULL);
    hob_free(t);
}

/* ---- text ----------------------------------------------------------------------------------------------- */

static void write_words(hob_buf *out, const char *name, const char *help, const char *label) {
    hob_buf_addf(out, "# HELP %s %s by %s.\n# TYPE %s counter\n", name, help, label, name);
}

static void write_word(hob_buf *out, const char *name, const char *label, const char *word,
                       int64_t n) {
    hob_buf_addf(out, "%s{%s=\"%s\"} %lld\n", name, label, word, (long long)n);
}

void hob_tally_write(const hob_tally *t, hob_buf *out) {
    hob_metrics_sample(out, "hob_runs_started_total", "counter", "Runs that began.",
                       (double)get(&t->started));
    write_words(out, "hob_runs_finished_total", "Runs that ended,", "status");
    for (size_t i = 0; i < STATUSES; i++)
        write_word(out, "hob_runs_finished_total", "status", statuses[i], get(&t->finished[i]));
    hob_metrics_sample(out, "hob_model_calls_total", "counter", "Requests to models.",
                       (double)get(&t->calls));
    hob_metrics_sample(out, "hob_model_call_failures_total", "counter",
                       "Requests to models that failed.", (double)get(&t->failures));
    write_words(out, "hob_model_tokens_total", "Tokens that models counted,", "kind");
    for (size_t i = 0; i < KINDS; i++)
        write_word(out, "hob_model_tokens_total", "kind", kinds[i], get(&t->tokens[i]));
    hob_metrics_sample(out, "hob_model_cost_usd_total", "counter",
                       "Cost of models with a known price, dollars.",
                       (double)get(&t->micro_usd) / 1e6);
    write_words(out, "hob_tool_calls_total", "Calls of tools that ended,", "outcome");
    for (size_t i = 0; i < OUTCOMES; i++)
        write_word(out, "hob_tool_calls_total", "outcome", outcomes[i], get(&t->tools[i]));
    hob_metrics_sample(out, "hob_approvals_requested_total", "counter",
                       "Calls that needed an approval.", (double)get(&t->approvals));
    hob_metrics_sample(out, "hob_events_total", "counter", "Events that became durable.",
                       (double)get(&t->events));
}
