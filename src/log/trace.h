/*
 * trace.h - a session as spans: runs, agents, calls to models and tools, waits. Pure.
 *
 * A fold over events: a span begins with one event and ends with another, exactly as the log has them, so the spans of a
 * stored session and those of one that is running are the same. Names and attributes are OpenTelemetry's for generative
 * AI. Ids derive from the log: the trace of a run from its id (or from the trace that its caller named), a span from the
 * number of the event that began it. So whoever sees the log can name them, and a request to a provider can carry the
 * id of its span before that span has ended.
 */
#ifndef HOB_SRC_LOG_TRACE_H
#define HOB_SRC_LOG_TRACE_H

#include "log/event.h"

typedef enum hob_span_kind {
    HOB_SPAN_RUN,
    HOB_SPAN_AGENT, /* of a workflow */
    HOB_SPAN_MODEL,
    HOB_SPAN_TOOL,
    HOB_SPAN_WAIT, /* for a person */
    HOB_SPAN_CHILD /* a sub-agent; its own session has the inside of it */
} hob_span_kind;

typedef struct hob_span {
    hob_list link;
    hob_span_kind kind;
    char trace[33], id[17], parent[17]; /* lower-case hex; parent "" = none */
    char *key;                          /* what ends it: the id of a message, a call, a run … */
    char *name, *run, *agent, *branch;
    uint64_t seq;       /* of the event that began it */
    int64_t start, end; /* ms since 1970; end 0 = it is not over */
    bool failed;
    char *status;  /* in a word: completed, error, denied … ; NULL while it is not over */
    hob_buf attrs; /* members of a JSON object */
} hob_span;

typedef struct hob_trace hob_trace;
hob_trace *hob_trace_create(void);
void hob_trace_destroy(hob_trace *t);
typedef void (*hob_span_fn)(const hob_span *s, void *user);
/* `ended` is called for each span that this event ends; borrowed. */
void hob_trace_apply(hob_trace *t, const hob_event *e, const hob_json *data, hob_span_fn ended,
                     void *user);
void hob_trace_open(const hob_trace *t, hob_span_fn fn, void *user); /* those that are not over */
bool hob_trace_idle(const hob_trace *t);

/* One object: {"kind","name","trace_id","span_id","parent_id"?,"run_id","agent"?,"start","end"?,"duration_ms"?,"status","attributes"}. */
void hob_span_write(const hob_span *s, hob_jsonw *w);
void hob_span_write_otlp(const hob_span *s, hob_jsonw *w); /* as OTLP/JSON has spans */

void hob_otlp_attributes(hob_jsonw *w, const hob_json *object); /* the member "attributes" */

void hob_span_name(char out[17], hob_str session, uint64_t seq);
void hob_trace_name(char out[33], hob_str session, hob_str run);
/* W3C trace context, "00-TRACE-PARENT-FLAGS": false if it is none. Unknown versions are read as the first. */
bool hob_traceparent_read(hob_str text, char trace[33], char parent[17]);
/* Of the span that the event `seq` begins, in a run that began with this context ("" = none). */
void hob_traceparent_write(hob_str context, hob_str session, hob_str run, uint64_t seq,
                           char out[56]);

#endif
