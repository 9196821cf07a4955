/*
 * field.c - reading one value out of an event's data, for hosts without a JSON reader of their own.
 */
#include "log/event.h"

int hob_event_field(const hob_event *e, const char *path, char *buf, size_t cap) {
    return hob_json_field(e->data, path, buf, cap);
}

int hob_event_text(const hob_event *e, char *buf, size_t cap) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *data = hob_event_parse(e, a), *content = hob_json_get(data, "content");
    hob_buf text;
    hob_buf_init(&text, HOB_EVENT_MAX);
    if (content) {
        for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
            if (hob_str_eqz(hob_json_get_str(b, "type"), "text"))
                hob_buf_add(&text, hob_json_get_str(b, "text"));
    } else {
        hob_buf_add(&text, hob_json_get_str(data, "text"));
    }
    int rc = hob_str_out(hob_buf_str(&text), buf, cap);
    hob_buf_finish(&text);
    hob_arena_destroy(a);
    return rc;
}

static bool makes_calls(const hob_json *content) {
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        if (hob_str_eqz(hob_json_get_str(b, "type"), "tool_call")) return true;
    return false;
}

static bool is_whole(hob_str stop) {
    return !hob_str_eqz(stop, "aborted") && !hob_str_eqz(stop, "continue");
}

int hob_event_is_final(const hob_event *e) {
    if (e->type != HOB_EVENT_ASSISTANT_MESSAGE && e->type != HOB_EVENT_TOOL_FINISHED) return 0;
    hob_arena *a = hob_arena_create(0);
    const hob_json *data = hob_event_parse(e, a);
    bool final =
        e->type == HOB_EVENT_ASSISTANT_MESSAGE
            ? is_whole(hob_json_get_str(data, "stop")) &&
                  !makes_calls(hob_json_get(data, "content"))
            : hob_json_get_bool(data, "pending", false) ||
                  hob_json_get_bool(hob_json_get(data, "actions"), "skip_summarization", false);
    hob_arena_destroy(a);
    return final;
}
