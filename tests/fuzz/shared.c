/*
 * Shared sessions that come from outside: an export that is read, histories of it, and its export again.
 *
 * Beyond not crashing: what is accepted is exported and read again to the same text; a history has no call without its
 * result and no result without its call.
 */
#include <assert.h>

#include <hob/shared.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static hob_shared *read_export(hob_str text) {
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    hob_shared *s = NULL;
    hob_error err = {.code = HOB_OK};
    o.exported = text;
    int rc = hob_shared_create(&o, &s, &err);
    assert(rc >= 0 || err.message[0]);
    return s;
}

static char *export_of(hob_shared *s) {
    hob_shared_snapshot *p;
    hob_shared_events_snapshot(s, &p);
    int n = hob_shared_export(p, NULL, 0);
    assert(n > 0);
    char *text = hob_alloc((size_t)n + 1);
    assert(hob_shared_export(p, text, (size_t)n + 1) == n);
    hob_shared_snapshot_unref(p);
    return text;
}

static size_t count(const hob_json *content, const char *type) {
    size_t n = 0;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        n += hob_str_eqz(hob_json_get_str(b, "type"), type);
    return n;
}

static bool has_summaries(hob_shared *s) {
    hob_shared_snapshot *p;
    bool found = false;
    hob_shared_events_snapshot(s, &p);
    for (size_t i = 0; i < hob_shared_snapshot_len(p); i++)
        found = found || hob_shared_snapshot_event(p, i)->compaction.end;
    hob_shared_snapshot_unref(p);
    return found;
}

static void look(hob_shared *s, const char *agent, hob_shared_policy policy) {
    hob_shared_history_opts o = HOB_SHARED_HISTORY_OPTS_INIT;
    hob_shared_history *h;
    hob_arena *a = hob_arena_create(0);
    size_t calls = 0, results = 0;
    o.agent = hob_str_z(agent);
    o.policy = policy;
    assert(hob_shared_conversation_history_scoped(s, &o, &h, NULL) >= 0);
    for (size_t i = 0; i < hob_shared_history_count(h); i++) {
        const hob_shared_content *c = hob_shared_history_at(h, i);
        const hob_json *content;
        assert(hob_json_parse(a, c->content, NULL, &content, NULL) >= 0);
        assert(hob_json_is(content, HOB_JSON_ARRAY));
        if (c->role != HOB_SHARED_TOOL) calls += count(content, "tool_call");
        if (c->role == HOB_SHARED_TOOL) results += count(content, "tool_result");
    }
    assert(calls == results || has_summaries(s)); /* the words of a summary are anybody's */
    hob_shared_history_destroy(h);
    hob_arena_destroy(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_shared *s = size ? read_export(hob_str_n((const char *)data, size)) : NULL;
    if (!s) return 0;
    look(s, "", HOB_SHARED_ISOLATE);
    look(s, "a", HOB_SHARED_ISOLATE);
    look(s, "a", HOB_SHARED_NARRATE);
    char *first = export_of(s);
    hob_shared *again = read_export(hob_str_z(first));
    assert(again);
    char *second = export_of(again);
    assert(!strcmp(first, second));
    hob_free(first);
    hob_free(second);
    hob_shared_unref(again);
    hob_shared_unref(s);
    return 0;
}
