/*
 * shared_log.c - the conversation of a session's log as records of a ledger.
 *
 * An answer and the results of its calls become two records: what the agent said, and one with all results, in the order
 * of its calls. Who said it is the agent of the event; the session's own agent has no name there and is "model" here.
 */
#include "log/event.h"
#include "log/shared.h"

#include <stdio.h>

static bool is_result(const hob_event *e) {
    return e->type == HOB_EVENT_TOOL_FINISHED || e->type == HOB_EVENT_TOOL_UPDATED;
}

static hob_str author_of(const hob_event *e) {
    bool answers = e->type == HOB_EVENT_ASSISTANT_MESSAGE || is_result(e);
    if (!answers) return HOB_STR("user");
    return e->agent.n ? e->agent : HOB_STR("model");
}

static int enter(hob_ledger *l, const hob_event *e, hob_str content, hob_error *err) {
    const hob_change nothing = {.n = 0};
    hob_arena *a = hob_arena_create(0);
    hob_record *r = NULL;
    char id[24];
    int n = snprintf(id, sizeof id, "%c%llu", is_result(e) ? 'r' : 'e', (unsigned long long)e->seq);
    hob_shared_event as = HOB_SHARED_EVENT_INIT;
    as.id = hob_str_n(id, (size_t)n);
    as.time = e->ts;
    as.invocation = e->run_id;
    as.author = author_of(e);
    as.branch = e->branch;
    as.content = content;
    int rc = hob_record_create(&as, &nothing, a, &r, err);
    if (rc >= 0 && (rc = hob_ledger_append(l, r, &nothing, NULL, err)) < 0) hob_record_unref(r);
    hob_arena_destroy(a);
    return rc;
}

static void write_result(hob_jsonw *w, const hob_event *e, hob_arena *a) {
    const hob_json *data = hob_event_parse(e, a);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("tool_result"));
    hob_jsonw_kstr(w, "call", hob_json_get_str(data, "call"));
    hob_jsonw_kstr(w, "name", hob_json_get_str(data, "tool"));
    hob_jsonw_kraw(w, "content", hob_json_raw(hob_json_get(data, "content")));
    if (!hob_str_eqz(hob_json_get_str(data, "outcome"), "ok")) hob_jsonw_kbool(w, "failed", true);
    hob_jsonw_object_end(w);
}

static int add_results(hob_ledger *l, hob_event *const *results, size_t n, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    hob_buf content;
    hob_jsonw w;
    hob_buf_init(&content, HOB_SHARED_EVENT_MAX);
    hob_jsonw_init(&w, &content);
    hob_jsonw_array(&w);
    for (size_t i = 0; i < n; i++) write_result(&w, results[i], a);
    hob_jsonw_array_end(&w);
    int rc = content.err ? hob_fail(err, HOB_ETOOBIG, 0, "the results of one answer are too large")
                         : enter(l, results[0], hob_buf_str(&content), err);
    hob_buf_finish(&content);
    hob_arena_destroy(a);
    return rc;
}

static int add_message(hob_ledger *l, const hob_event *e, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *content = hob_json_get(hob_event_parse(e, a), "content");
    int rc = enter(l, e, hob_json_raw(content), err);
    hob_arena_destroy(a);
    return rc;
}

int hob_ledger_add_log(hob_ledger *l, hob_event *const *events, size_t n, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = 0, next; i < n && rc >= 0; i = next) {
        next = i + 1;
        if (!is_result(events[i])) {
            rc = add_message(l, events[i], err);
            continue;
        }
        while (next < n && is_result(events[next])) next++;
        rc = add_results(l, &events[i], next - i, err);
    }
    return rc;
}
