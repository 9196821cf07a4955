/*
 * bench/huge.c - a session of 100,000 events, opened: spawn -> first request.
 *
 * The log is written straight into the store: tool turns of five events, as hob writes them. Nothing
 * in it was compacted, so the request carries all 40,000 messages. The first to open it finds no
 * snapshot and folds the log; it leaves one, and the others go on from there.
 */
#include "rig.h"
#include "store/store.h"
#include "table.h"

#include <stdio.h>

#define ROUNDS 5
#define EVENTS 100000
#define TURN_EVENTS 5
#define BATCH 1000
#define SESSION "01a1ddc7-c7ad-7b81-b313-6a16f2890e9b"
#define RUN "run-6a16f2890e9b-2"

/* ---- the lines ------------------------------------------------------------------------------ */

typedef struct script {
    hob_buf line;
    const char *cwd;
    uint64_t seq;  /* of the event being written */
    uint64_t leaf; /* the entry that the next one hangs on */
    uint64_t call; /* seq of the last model_call_started */
    unsigned turn;
} script;

static void begin(script *s, const char *type) {
    hob_buf_reset(&s->line);
    hob_buf_addf(&s->line,
                 "{\"v\":1,\"seq\":%llu,\"ts\":\"2026-01-02T03:04:05.678Z\",\"type\":\"%s\","
                 "\"session_id\":\"" SESSION "\"",
                 (unsigned long long)s->seq, type);
    if (s->seq > 1) hob_buf_addz(&s->line, ",\"run_id\":\"" RUN "\"");
    if (s->turn) hob_buf_addf(&s->line, ",\"turn\":%u", s->turn);
}

static void entry(script *s, const char *author) {
    hob_buf_addf(&s->line, ",\"author\":\"%s\",\"entry\":\"e%llu\"", author,
                 (unsigned long long)s->seq);
    if (s->leaf) hob_buf_addf(&s->line, ",\"parent_entry\":\"e%llu\"", (unsigned long long)s->leaf);
    s->leaf = s->seq;
}

#define USAGE                                                                                      \
    "\"usage\":{\"input_tokens\":10,\"output_tokens\":8,\"cache_read_tokens\":0,"                  \
    "\"cache_write_tokens\":0,\"reasoning_tokens\":0},\"cost_usd\":null"

static void opening(script *s) {
    switch (s->seq) {
    case 1:
        begin(s, "session_opened");
        hob_buf_addf(&s->line,
                     ",\"data\":{\"cwd\":\"%s\",\"version\":\"" HOB_VERSION
                     "\",\"model\":\"mock/text-8\",\"permission_mode\":\"yolo\","
                     "\"system_prompt\":\"You are hob.\"}}",
                     s->cwd);
        break;
    case 2:
        begin(s, "run_started");
        hob_buf_addz(&s->line,
                     ",\"data\":{\"model\":\"mock/text-8\",\"origin\":\"prompt\",\"limits\":{}}}");
        break;
    default:
        begin(s, "user_message");
        entry(s, "user");
        hob_buf_addz(&s->line, ",\"data\":{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}}");
    }
}

static void answer(script *s, bool last) {
    begin(s, "assistant_message");
    entry(s, "model");
    hob_buf_addf(&s->line, ",\"data\":{\"message\":\"m%llu\",\"model\":\"mock/text-8\",",
                 (unsigned long long)s->call);
    if (last) {
        hob_buf_addz(&s->line,
                     "\"stop\":\"done\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],");
    } else {
        hob_buf_addf(&s->line,
                     "\"stop\":\"tools\",\"content\":[{\"type\":\"tool_call\",\"call\":\"m%llu.0\","
                     "\"id\":\"toolu_%08u\",\"name\":\"read\",\"args\":{\"path\": \"notes.txt\", "
                     "\"offset\": %u, \"limit\": 1}}],",
                     (unsigned long long)s->call, s->turn, s->turn % 100 + 1);
    }
    hob_buf_addz(&s->line, USAGE ",\"response_id\":\"msg_01\"}}");
}

static void tool(script *s, const char *type) {
    begin(s, type);
    hob_buf_addf(&s->line, ",\"data\":{\"call\":\"m%llu.0\",\"tool\":\"read\",",
                 (unsigned long long)s->call);
    if (!strcmp(type, "tool_decided")) {
        hob_buf_addz(&s->line,
                     "\"decision\":\"allow\",\"by\":\"mode:ask\",\"class\":\"read_only\"}}");
    } else if (!strcmp(type, "tool_started")) {
        hob_buf_addf(&s->line,
                     "\"args\":{\"path\": \"notes.txt\", \"offset\": %u, \"limit\": 1},\"class\":"
                     "\"read_only\"}}",
                     s->turn % 100 + 1);
    } else {
        hob_buf_addf(
            &s->line,
            "\"outcome\":\"ok\",\"content\":[{\"type\":\"text\",\"text\":\"line %u: what was "
            "noted about the work of that day\"}],\"duration_ms\":1,\"truncated\":true}}",
            s->turn % 100 + 1);
    }
}

static void turn(script *s, bool last) {
    switch ((s->seq - 4) % TURN_EVENTS) {
    case 0:
        s->turn++;
        s->call = s->seq;
        begin(s, "model_call_started");
        hob_buf_addf(&s->line,
                     ",\"data\":{\"model\":\"mock/text-8\",\"attempt\":1,\"message\":\"m%llu\","
                     "\"reserved_tokens\":16431,\"output_limit\":16384}}",
                     (unsigned long long)s->call);
        break;
    case 1: answer(s, last); break;
    case 2: tool(s, "tool_decided"); break;
    case 3: tool(s, "tool_started"); break;
    case 4: tool(s, "tool_finished"); break;
    }
}

static void closing(script *s) {
    bool settled = s->seq == EVENTS;
    begin(s, settled ? "settled" : "run_finished");
    hob_buf_addz(&s->line, settled
                               ? ",\"data\":{\"status\":\"completed\"}}"
                               : ",\"data\":{\"status\":\"completed\",\"turns\":1,\"tool_calls\":1,"
                                 "\"duration_ms\":1," USAGE "}}");
}

/* The last answer is a text, so that the run may end. */
static void next_line(script *s) {
    s->seq++;
    if (s->seq <= 3) {
        opening(s);
    } else if (s->seq > EVENTS - 2) {
        closing(s);
    } else {
        turn(s, s->seq == EVENTS - 2);
    }
}

/* ---- into the store -------------------------------------------------------------------------- */

typedef struct writer {
    hob_loop *loop;
    hob_store *store;
    int code; /* 1 = not answered yet */
    uint64_t epoch;
} writer;

static void on_own(int code, const hob_error *err, const hob_store_session *row, void *user) {
    writer *w = user;
    if (err) fprintf(stderr, "bench: %s\n", err->message);
    w->code = code;
    if (row) w->epoch = row->epoch;
}

static void on_done(int code, const hob_error *err, void *user) {
    writer *w = user;
    if (err) fprintf(stderr, "bench: %s\n", err->message);
    w->code = code;
}

static bool answered(writer *w) {
    while (w->code == 1) hob_loop_run_once(w->loop, -1);
    return w->code >= 0;
}

static bool write_batch(writer *w, script *s) {
    hob_arena *a = hob_arena_create(0);
    hob_store_event *events = hob_arena_alloc(a, BATCH * sizeof(*events));
    hob_store_append ap = {.session = HOB_STR(SESSION),
                           .epoch = w->epoch,
                           .after_seq = s->seq,
                           .events = events,
                           .nevents = BATCH};
    for (size_t i = 0; i < BATCH; i++) {
        next_line(s);
        events[i] =
            (hob_store_event){.seq = s->seq, .json = hob_arena_dup(a, hob_buf_str(&s->line))};
    }
    w->code = 1;
    w->store->ops->commit(w->store, &(hob_store_batch){.appends = &ap, .nappends = 1}, on_done, w);
    hob_arena_destroy(a);
    return answered(w);
}

static bool write_session(const bench_rig *r) {
    const char *path = bench_rig_path(r, "state/hob.db");
    script s = {.cwd = bench_rig_path(r, "work")};
    writer w = {.code = 1};
    hob_sqlite_opts o = {.path = hob_str_z(path)};
    hob_store_session row = {.cwd = hob_str_z(s.cwd), .state = HOB_STR("idle"), .messages = 2};
    hob_buf_init(&s.line, 4096);
    if (hob_loop_create(NULL, &w.loop, NULL) < 0 ||
        hob_store_sqlite_open(w.loop, &o, &w.store, NULL) < 0)
        return false;
    w.store->ops->own(w.store, HOB_STR(SESSION), HOB_OWN_CREATE, &row, on_own, &w);
    bool ok = answered(&w);
    while (ok && s.seq < EVENTS) ok = write_batch(&w, &s);
    w.store->ops->close(w.store);
    hob_loop_destroy(w.loop);
    hob_buf_finish(&s.line);
    return ok;
}

/* ---- measuring --------------------------------------------------------------------------------- */

static bool open_it(bench_rig *r, bench_samples *request, bench_samples *rss, size_t *messages) {
    static const char *const flags[] = {"-r", SESSION, NULL};
    bench_run run = bench_rig_hob(r, &(bench_ask){.model = "text-8", .flags = flags});
    double ms = bench_rig_to_request(r, &run);
    if (run.status != 0 || ms < 0) return false;
    bench_add(request, ms);
    bench_add(rss, run.rss_mb);
    *messages = r->mock->x[0].messages;
    return true;
}

static void measure(bench_rig *r) {
    bench_samples fold = {0}, fold_rss = {0}, request = {0}, rss = {0};
    size_t messages = 0;
    char note[64];
    if (!write_session(r)) {
        bench_failed("open.100000", "the log could not be written");
        return;
    }
    for (int i = 0; i < 1 + ROUNDS; i++) {
        bool first = i == 0;
        if (!open_it(r, first ? &fold : &request, first ? &fold_rss : &rss, &messages) ||
            messages < EVENTS / TURN_EVENTS) {
            bench_failed("open.100000", "the session could not be opened");
            return;
        }
    }
    snprintf(note, sizeof(note), "%zu messages sent", messages);
    bench_row((bench_line){
        .name = "open.100000", .samples = &request, .unit = "ms", .max = 50, .note = note});
    bench_row((bench_line){
        .name = "open.100000.fold", .samples = &fold, .unit = "ms", .note = "without a snapshot"});
    bench_row((bench_line){.name = "open.100000.fold.rss", .samples = &fold_rss, .unit = "MB"});
    bench_row((bench_line){.name = "open.100000.rss", .samples = &rss, .unit = "MB"});
}

int main(int argc, char **argv) {
    bench_rig r;
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    measure(&r);
    bench_rig_finish(&r);
    return bench_table_finish();
}
