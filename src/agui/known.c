/*
 * known.c - messages and calls that the thread has had: from the input, from a snapshot, from this session.
 */
#include "agui/agui.h"

void hob_agui_known_init(hob_agui_session *s) {
    s->past = hob_arena_create((size_t)1 << 30);
    s->messages = hob_map_create();
    s->calls = hob_map_create();
    s->runs = hob_map_create();
    hob_list_init(&s->run_calls);
}

void hob_agui_known_finish(hob_agui_session *s) {
    hob_map_destroy(s->messages);
    hob_map_destroy(s->calls);
    hob_map_destroy(s->runs);
    hob_arena_destroy(s->past);
}

void hob_agui_known_forget(hob_agui_session *s) {
    hob_map_destroy(s->messages);
    hob_map_destroy(s->calls);
    hob_arena_reset(s->past);
    s->messages = hob_map_create();
    s->calls = hob_map_create();
    hob_list_init(&s->run_calls);
}

hob_agui_seen *hob_agui_known_message(const hob_agui_session *s, hob_str id) {
    return hob_map_get(s->messages, id);
}

hob_agui_call *hob_agui_known_call(const hob_agui_session *s, hob_str id) {
    return hob_map_get(s->calls, id);
}

bool hob_agui_known_foreign(const hob_agui_session *s, hob_str id) {
    const hob_agui_seen *m = hob_agui_known_message(s, id);
    return m && m->told < s->snapshots;
}

int hob_agui_known_room(const hob_agui_session *s, hob_error *err) {
    if (hob_map_count(s->messages) + hob_map_count(s->calls) < HOB_AGUI_KNOWN_MAX) return 0;
    return hob_fail(err, HOB_ETOOBIG, 0, "the thread has more than %d messages and calls",
                    HOB_AGUI_KNOWN_MAX);
}

void hob_agui_known_add_message(hob_agui_session *s, hob_str id, hob_str owner, bool begun) {
    hob_agui_seen *m = hob_agui_known_message(s, id);
    if (!m) {
        m = HOB_ARENA_NEW(s->past, hob_agui_seen);
        if (!m) return; /* 1 GiB of ids: known_room comes first by far */
        m->owner = hob_arena_dup(s->past, owner);
        hob_map_put(s->messages, id, m);
    }
    m->begun |= begun;
    m->told = s->snapshots;
}

hob_agui_call *hob_agui_known_add_call(hob_agui_session *s, hob_str id, hob_str owner) {
    hob_agui_call *c = hob_agui_known_call(s, id);
    if (c) return c;
    c = HOB_ARENA_NEW(s->past, hob_agui_call);
    if (!c) return NULL;
    hob_list_init(&c->link);
    c->id = hob_arena_dup(s->past, id);
    c->owner = hob_arena_dup(s->past, owner);
    hob_map_put(s->calls, id, c);
    return c;
}

void hob_agui_known_read(hob_agui_session *s, const hob_json *messages) {
    for (const hob_json *m = hob_json_first(messages); m; m = hob_json_next(m)) {
        if (hob_agui_known_room(s, NULL) < 0) return;
        hob_str owner = hob_json_get_str(m, "subagentRunId");
        hob_agui_known_add_message(s, hob_json_get_str(m, "id"), owner, true);
        const hob_json *calls = hob_json_get(m, "toolCalls");
        for (const hob_json *c = hob_json_first(calls); c; c = hob_json_next(c)) {
            hob_agui_call *call = hob_agui_known_add_call(s, hob_json_get_str(c, "id"), owner);
            if (call && s->snapshots) call->answered = false; /* its result is there too, or not */
        }
        hob_agui_call *answered = hob_agui_known_call(s, hob_json_get_str(m, "toolCallId"));
        if (answered) answered->answered = true;
    }
}
