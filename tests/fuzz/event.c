/*
 * A log of any origin: lines are decoded and folded into the views, then the loop is asked what follows. Nothing may
 * crash, leak or go on for ever, and the two readers of the envelope agree.
 *
 * A line that starts with { is an event as it is stored. Any other line is "kind data" with the envelope left out, so
 * that the fuzzer finds its way into the folds; a leading + makes it an entry, a leading - an event of no run.
 */
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINES_MAX = 200, SAYINGS_MAX = 20000 };

typedef struct fold {
    hob_run run;
    hob_view *view;
    hob_policy *policy;
    uint64_t seq;
    int64_t now;
} fold;

static void tool_facts(void *user, hob_str name, hob_str args, hob_tool_facts *out) {
    (void)user;
    *out = (hob_tool_facts){.known = true, .class_ = (hob_tool_class)(name.n % 3)};
    if (args.n % 7 == 6) out->error = "wrong";
}

static hob_run_env env_of(const fold *f) {
    return (hob_run_env){.now = f->now,
                         .policy = f->policy,
                         .tool = tool_facts,
                         .can_ask = f->seq % 2,
                         .retry_attempts = 3,
                         .retry_cap_ms = 60000,
                         .model = HOB_STR("lab/one"),
                         .max_output = 1000,
                         .path_bytes = f->view->history->bytes};
}

static void apply(fold *f, hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    hob_effect effects[HOB_EFFECTS_MAX];
    const hob_json *data = hob_event_parse(e, a);
    if (!data) abort();
    (void)hob_view_apply(f->view, e, data, NULL);
    (void)hob_run_apply(&f->run, e, data, NULL);
    if (hob_run_pending(&f->run, effects) > HOB_EFFECTS_MAX) abort();
    f->seq = e->seq > f->seq && e->seq < UINT32_MAX ? e->seq : f->seq + 1;
    hob_arena_destroy(a);
}

/* ---- lines -------------------------------------------------------------------------------------- */

static bool same(const hob_event *a, const hob_event *b) {
    return a->type == b->type && a->seq == b->seq && a->ts == b->ts && a->turn == b->turn &&
           hob_str_eq(a->data, b->data) && hob_str_eq(a->name, b->name) &&
           hob_str_eq(a->run_id, b->run_id) && hob_str_eq(a->entry, b->entry) &&
           hob_str_eq(a->parent_entry, b->parent_entry);
}

/* A space before it sends a line to the general reader. */
static hob_event *decode(hob_str line) {
    hob_event *quick = NULL, *general = NULL;
    hob_error err = {0};
    hob_buf shifted;
    hob_buf_init(&shifted, line.n + 1);
    hob_buf_addc(&shifted, ' ');
    hob_buf_add(&shifted, line);
    int rc = hob_event_decode(line, &quick, &err);
    int other = hob_event_decode(hob_buf_str(&shifted), &general, NULL);
    if ((rc < 0) != (other < 0) || (rc >= 0 && !same(quick, general))) abort();
    if (rc < 0 && (quick || err.code != rc || !err.message[0])) abort();
    hob_event_unref(general);
    hob_buf_finish(&shifted);
    return quick;
}

static hob_event *complete(fold *f, hob_str line) {
    char text[24];
    bool entry = line.n && line.p[0] == '+', apart = line.n && line.p[0] == '-';
    hob_str kind;
    hob_event *e = NULL;
    hob_draft d;
    if (entry || apart) line = hob_str_skip(line, 1);
    if (!hob_str_split(&line, ' ', &kind) || !hob_event_type_from(kind)) return NULL;
    hob_draft_init(&d, hob_event_type_from(kind));
    d.run_id = apart ? HOB_STR_NULL : HOB_STR("r1");
    d.turn = (int)(f->seq / 8);
    d.is_entry = entry;
    if (entry && f->view->history->leaf >= 0) {
        int n = snprintf(text, sizeof(text), "e%llu",
                         (unsigned long long)hob_history_leaf(f->view->history));
        d.parent_entry = hob_str_n(text, (size_t)n);
    }
    hob_buf_add(&d.data, line);
    (void)hob_event_encode(&d, HOB_STR("s"), f->seq + 1, f->now, &e, NULL);
    hob_draft_finish(&d);
    return e;
}

static void read_log(fold *f, hob_str log) {
    hob_str line;
    for (int i = 0; i < LINES_MAX && hob_str_split(&log, '\n', &line); i++) {
        hob_event *e = line.n && line.p[0] == '{' ? decode(line) : complete(f, line);
        f->now += 100;
        if (e) apply(f, e);
        hob_event_unref(e);
    }
}

/* ---- what follows ------------------------------------------------------------------------------- */

static void ask(fold *f, const hob_input *in) {
    int said = HOB_SAID_MORE;
    for (int i = 0; said == HOB_SAID_MORE || (in->kind == HOB_INPUT_NEXT && said > 0); i++) {
        hob_run_env env = env_of(f);
        hob_error err = {0};
        hob_event *e = NULL;
        hob_draft d;
        if (i > SAYINGS_MAX) abort();
        said = hob_run_decide(&f->run, &env, in, &d, &err);
        if (said < 0 && (err.code != said || !err.message[0])) abort();
        if (said <= 0) return;
        if (hob_event_encode(&d, HOB_STR("s"), f->seq + 1, f->now, &e, NULL) >= 0) apply(f, e);
        hob_draft_finish(&d);
        if (!e) return; /* over a ceiling */
        hob_event_unref(e);
    }
}

static void go_on(fold *f, uint8_t how) {
    const hob_input next = {.kind = HOB_INPUT_NEXT};
    const hob_input resume = {.kind = HOB_INPUT_RESUME};
    const hob_input settle = {.kind = HOB_INPUT_CANCEL, .ending = HOB_ENDING_SETTLE};
    const hob_input steer = {.kind = HOB_INPUT_STEER,
                             .content = HOB_STR("[{\"type\":\"text\",\"text\":\"left\"}]")};
    if (how & 1) ask(f, &next);
    if (how & 2) ask(f, &resume);
    if (how & 4) ask(f, &steer);
    ask(f, &next);
    ask(f, &settle);
    ask(f, &next);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static const hob_policy_opts opts = {.mode = HOB_MODE_ASK};
    fold f = {.view = hob_view_create(), .now = 1700000000000};
    if (hob_policy_create(&opts, &f.policy, NULL) < 0) abort();
    hob_run_init(&f.run, HOB_STR("s"));
    if (n) read_log(&f, hob_str_n((const char *)bytes + 1, n - 1));
    if (n) go_on(&f, bytes[0]);
    hob_run_finish(&f.run);
    hob_view_destroy(f.view);
    hob_policy_destroy(f.policy);
    return 0;
}
