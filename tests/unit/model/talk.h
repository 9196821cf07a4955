/*
 * talk.h - a conversation for tests, made of the events a session would have: a real history, no stand-in.
 */
#ifndef HOB_TESTS_MODEL_TALK_H
#define HOB_TESTS_MODEL_TALK_H

#include "log/history.h"
#include "model/encode.h"
#include "support/check.h"

#include <stdio.h>

typedef struct talk {
    hob_history *history;
    uint64_t seq;
    char leaf[24];
    hob_wire *wire;
    uint64_t tools_version;
} talk;

static inline void talk_init(talk *t) {
    *t = (talk){.history = hob_history_create(), .tools_version = 1};
}

static inline void talk_finish(talk *t) {
    hob_wire_destroy(t->wire);
    hob_history_destroy(t->history);
}

static inline void talk_event(talk *t, hob_event_type type, const char *data, bool entry) {
    hob_draft d;
    hob_event *e = NULL;
    hob_error err;
    hob_arena *a = hob_arena_create(0);
    hob_draft_init(&d, type);
    hob_buf_addz(&d.data, data);
    d.is_entry = entry;
    if (entry) d.parent_entry = hob_str_z(t->leaf);
    assert_ok(hob_event_encode(&d, HOB_STR("s"), ++t->seq, 0, &e, &err), err);
    assert_ok(hob_history_apply(t->history, e, hob_event_parse(e, a), &err), err);
    if (entry) (void)snprintf(t->leaf, sizeof t->leaf, "e%llu", (unsigned long long)t->seq);
    hob_event_unref(e);
    hob_draft_finish(&d);
    hob_arena_destroy(a);
}

static inline void talk_user(talk *t, const char *content) {
    hob_buf b;
    hob_buf_init(&b, 4 << 20);
    hob_buf_addf(&b, "{\"content\":%s}", content);
    talk_event(t, HOB_EVENT_USER_MESSAGE, hob_buf_z(&b), true);
    hob_buf_finish(&b);
}

static inline void talk_answer(talk *t, const char *model, const char *message,
                               const char *content) {
    hob_buf b;
    hob_buf_init(&b, 4 << 20);
    hob_buf_addf(&b, "{\"message\":\"%s\",\"model\":\"%s\",\"content\":%s,\"stop\":\"done\"}",
                 message, model, content);
    talk_event(t, HOB_EVENT_ASSISTANT_MESSAGE, hob_buf_z(&b), true);
    hob_buf_finish(&b);
}

static inline void talk_result(talk *t, const char *call, const char *outcome,
                               const char *content) {
    hob_buf b;
    hob_buf_init(&b, 4 << 20);
    hob_buf_addf(&b, "{\"call\":\"%s\",\"outcome\":\"%s\",\"content\":%s}", call, outcome, content);
    talk_event(t, HOB_EVENT_TOOL_FINISHED, hob_buf_z(&b), false);
    hob_buf_finish(&b);
}

static inline hob_model_request talk_request(talk *t) {
    return (hob_model_request){
        .size = sizeof(hob_model_request),
        .model = HOB_STR("m-1"),
        .system = HOB_STR("Be \"good\"."),
        .max_output = 1000,
        .attempt = 1,
        .tools_version = t->tools_version,
        .history = t->history,
        .wire = &t->wire,
        .session = HOB_STR("s-1"),
    };
}

/* The whole body as it would be sent; owned by the caller. */
static inline hob_buf talk_body(const hob_model_request *rq, const hob_encode_opts *o,
                                hob_encode_fn fn) {
    hob_body body;
    hob_buf out;
    hob_error err;
    hob_buf_init(&out, HOB_WIRE_MAX);
    assert_ok(fn(rq, o, &body, &err), err);
    for (size_t i = 0; i < body.nparts; i++) hob_buf_add(&out, body.part[i]);
    hob_body_finish(&body);
    assert_true(hob_json_valid(hob_buf_str(&out)));
    return out;
}

#endif
