/*
 * bench/shared.c - a shared session in memory: appends, snapshots, histories and reads of state, up to 50,000 events.
 *
 * Events come in rounds of four: the user's text, a call, its result with a change of state, an answer. The rate of the
 * last 10,000 appends against that of the first says whether an append costs the same in a long session.
 * Of the rate the best round counts: other work on the machine only ever makes one slower.
 */
#include <hob/shared.h>

#include "child.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 50000, EDGE = 10000, ROUNDS = 7 };

static const char said[] =
    "[{\"type\":\"text\",\"text\":\"Please look at the third file, and say what it does and why it "
    "is there at all.\"}]";
static const char answer[] =
    "[{\"type\":\"text\",\"text\":\"The third file holds the table of commands. It is there so that "
    "a command can be added with one line, and so that the help text cannot say anything else than "
    "what is done.\"}]";

static double seconds(int64_t from) {
    return (double)(bench_now() - from) / 1e9;
}

static void must(int rc, const hob_error *err) {
    if (rc >= 0) return;
    fprintf(stderr, "bench/shared: %s\n", err->message);
    exit(1);
}

/* The texts of one event, made before time is taken. */
typedef struct material {
    char content[240], delta[64];
} material;

static void make(material *m, hob_shared_event *e, size_t i) {
    size_t round = i / 4;
    *e = (hob_shared_event)HOB_SHARED_EVENT_INIT;
    e->author = i % 4 ? hob_str_z(round % 2 ? "writer" : "reader") : hob_str_z("user");
    e->time = (int64_t)i;
    e->content = hob_str_z(i % 4 == 0 ? said : answer);
    if (i % 4 != 1 && i % 4 != 2) return;
    if (i % 4 == 1)
        snprintf(
            m->content, sizeof m->content,
            "[{\"type\":\"tool_call\",\"call\":\"m%zu.0\",\"id\":\"toolu_%zu\",\"name\":\"read\","
            "\"args\":{\"path\":\"src/file%zu.c\"}}]",
            round, round, round);
    else
        snprintf(m->content, sizeof m->content,
                 "[{\"type\":\"tool_result\",\"call\":\"m%zu.0\",\"name\":\"read\",\"content\":[{"
                 "\"type\":\"text\",\"text\":\"int main(void) { return %zu; }\"}]}]",
                 round, round);
    e->content = hob_str_z(m->content);
    if (i % 4 != 2) return;
    snprintf(m->delta, sizeof m->delta, "{\"file%zu\":%zu,\"last\":%zu}", round % 100, round,
             round);
    e->state_delta = hob_str_z(m->delta);
}

static hob_shared *create(void) {
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    hob_shared *s;
    hob_error err;
    must(hob_shared_create(&o, &s, &err), &err);
    return s;
}

typedef struct rates {
    double all, first, last; /* appends a second */
} rates;

static rates append_all(hob_shared *s, const hob_shared_event *events) {
    hob_error err;
    rates r = {0};
    int64_t start = bench_now(), edge = start;
    for (size_t i = 0; i < EVENTS; i++) {
        must(hob_shared_append_event(s, &events[i], NULL, &err), &err);
        if (i + 1 == EDGE) r.first = EDGE / seconds(start);
        if (i + 1 == EVENTS - EDGE) edge = bench_now();
    }
    r.last = EDGE / seconds(edge);
    r.all = EVENTS / seconds(start);
    return r;
}

static hob_shared *time_appends(const hob_shared_event *events) {
    bench_samples flat = {0};
    double best = 0;
    hob_shared *s = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        hob_shared_unref(s);
        s = create();
        rates r = append_all(s, events);
        best = HOB_MAX(best, r.all);
        bench_add(&flat, r.last / r.first);
    }
    bench_row((bench_line){.name = "shared.append", .value = best, .unit = "1/s", .min = 500000});
    bench_row((bench_line){.name = "shared.append_last_over_first",
                           .value = bench_median(&flat),
                           .unit = "x",
                           .min = 0.5});
    return s;
}

/* Words about another agent's event are made once and kept with it: the first history pays for them. */
static void time_history(hob_shared *s, const char *name, hob_shared_policy policy) {
    hob_shared_history_opts o = HOB_SHARED_HISTORY_OPTS_INIT;
    bench_samples ms = {0};
    o.agent = hob_str_z("writer");
    o.policy = policy;
    for (int i = 0; i < ROUNDS; i++) {
        hob_shared_history *h;
        hob_error err;
        int64_t start = bench_now();
        must(hob_shared_conversation_history_scoped(s, &o, &h, &err), &err);
        double took = seconds(start) * 1e3;
        if (i == 0 && policy == HOB_SHARED_NARRATE)
            bench_row(
                (bench_line){.name = "shared.history_narrate_first", .value = took, .unit = "ms"});
        else
            bench_add(&ms, took);
        hob_shared_history_destroy(h);
    }
    bench_row((bench_line){.name = name, .samples = &ms, .unit = "ms", .max = 10});
}

static void time_reads(hob_shared *s) {
    enum { TIMES = 200000 };
    char value[64];
    int64_t start = bench_now();
    for (int i = 0; i < TIMES; i++)
        if (hob_shared_state_get(s, hob_str_z("file42"), value, sizeof value) < 0) return;
    bench_row((bench_line){.name = "shared.state_get",
                           .value = seconds(start) / TIMES * 1e9,
                           .unit = "ns",
                           .max = 1000});
    start = bench_now();
    for (int i = 0; i < TIMES; i++) {
        hob_shared_snapshot *p;
        hob_shared_events_snapshot(s, &p);
        hob_shared_snapshot_unref(p);
    }
    bench_row((bench_line){.name = "shared.snapshot",
                           .value = seconds(start) / TIMES * 1e9,
                           .unit = "ns",
                           .max = 1000});
}

int main(int argc, char **argv) {
    material *texts = hob_alloc(EVENTS * sizeof *texts);
    hob_shared_event *events = hob_alloc(EVENTS * sizeof *events);
    for (size_t i = 0; i < EVENTS; i++) make(&texts[i], &events[i], i);
    bench_table_init(argc, argv);
    hob_shared *s = time_appends(events);
    time_history(s, "shared.history_isolate", HOB_SHARED_ISOLATE);
    time_history(s, "shared.history_narrate", HOB_SHARED_NARRATE);
    time_reads(s);
    hob_shared_unref(s);
    hob_free(events);
    hob_free(texts);
    return bench_table_finish();
}
