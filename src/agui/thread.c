/*
 * thread.c - the conversation as AG-UI messages, and state as an object.
 */
#include <hob/agui_project.h>

#include "agui/content.h"
#include "agui/patch.h"
#include "log/event.h"

#include <stdio.h>

#define MESSAGES_MAX ((size_t)10 << 20)

typedef struct telling {
    hob_jsonw w;
    hob_arena *arena;
    hob_agui_dialect dialect;
    hob_str name;
} telling;

static void begin(telling *t, hob_str id, const char *role) {
    hob_jsonw_object(&t->w);
    hob_jsonw_kstr(&t->w, "id", id);
    hob_jsonw_kstr(&t->w, "role", hob_str_z(role));
}

/* ---- what users say ------------------------------------------------------------------------------------------- */

static bool images_between(const hob_json *first, const hob_json *end) {
    for (; first != end; first = hob_json_next(first))
        if (hob_str_eqz(hob_json_get_str(first, "type"), "image")) return true;
    return false;
}

static void put_parts(telling *t, const hob_json *first, const hob_json *end) {
    hob_buf array;
    const hob_json *blocks;
    hob_buf_init(&array, MESSAGES_MAX * 2);
    hob_buf_addc(&array, '[');
    for (const hob_json *b = first; b != end; b = hob_json_next(b)) {
        if (b != first) hob_buf_addc(&array, ',');
        hob_buf_add(&array, hob_json_raw(b));
    }
    hob_buf_addc(&array, ']');
    hob_str text = hob_arena_dup(t->arena, hob_buf_str(&array));
    hob_buf_finish(&array);
    /* Users' parts are known to older clients too; only results have to be text there. */
    hob_agui_dialect dialect = images_between(first, end) ? HOB_AGUI_1_0 : t->dialect;
    if (hob_json_parse(t->arena, text, NULL, &blocks, NULL) == 0)
        hob_agui_write_content(&t->w, blocks, dialect);
    else
        hob_jsonw_str(&t->w, HOB_STR(""));
}

static int put_said(hob_str id, const hob_json *first, const hob_json *end, void *user) {
    telling *t = user;
    begin(t, id, "user");
    hob_jsonw_key(&t->w, "content");
    put_parts(t, first, end);
    hob_jsonw_kstr_opt(&t->w, "name", t->name);
    hob_jsonw_object_end(&t->w);
    return 0;
}

/* ---- what models answer ---------------------------------------------------------------------------------------- */

static void put_words(telling *t, const hob_json *block, hob_str message, size_t i) {
    char id[HOB_AGUI_MADE_ID];
    hob_str type = hob_json_get_str(block, "type"), text = hob_json_get_str(block, "text");
    bool thinks = hob_str_eqz(type, "thinking");
    if ((!thinks && !hob_str_eqz(type, "text")) || !text.n) return;
    snprintf(id, sizeof id, "%.*s-%zu", HOB_FMT(message), i);
    begin(t, hob_str_z(id), thinks ? "reasoning" : "assistant");
    hob_jsonw_kstr(&t->w, "content", text);
    if (!thinks) hob_jsonw_kstr_opt(&t->w, "name", t->name);
    hob_jsonw_object_end(&t->w);
}

static void put_call(telling *t, const hob_json *block) {
    hob_str args = hob_json_raw(hob_json_get(block, "args"));
    hob_jsonw_object(&t->w);
    hob_jsonw_kstr(&t->w, "id", hob_json_get_str(block, "call"));
    hob_jsonw_kstr(&t->w, "type", HOB_STR("function"));
    hob_jsonw_key(&t->w, "function");
    hob_jsonw_object(&t->w);
    hob_jsonw_kstr(&t->w, "name", hob_json_get_str(block, "name"));
    hob_jsonw_kstr(&t->w, "arguments", args.n ? args : hob_json_get_str(block, "args_text"));
    hob_jsonw_object_end(&t->w);
    hob_jsonw_object_end(&t->w);
}

static void put_calls(telling *t, const hob_json *content, hob_str message) {
    bool any = false;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        if (!hob_str_eqz(hob_json_get_str(b, "type"), "tool_call")) continue;
        if (!any) {
            begin(t, message, "assistant");
            hob_jsonw_kstr_opt(&t->w, "name", t->name);
            hob_jsonw_key(&t->w, "toolCalls");
            hob_jsonw_array(&t->w);
        }
        any = true;
        put_call(t, b);
    }
    if (!any) return;
    hob_jsonw_array_end(&t->w);
    hob_jsonw_object_end(&t->w);
}

/* The calls stand where the first of them was made, as in a client that saw them come. */
static void put_answer(telling *t, const hob_json *d) {
    const hob_json *content = hob_json_get(d, "content");
    hob_str message = hob_json_get_str(d, "message");
    bool called = false;
    size_t i = 0;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        bool call = hob_str_eqz(hob_json_get_str(b, "type"), "tool_call");
        if (call && !called) put_calls(t, content, message);
        called = called || call;
        put_words(t, b, message, i++);
    }
}

/* A receipt is none: the result is still to come. */
static void put_result(telling *t, const hob_event *e, const hob_json *d) {
    char made[HOB_AGUI_MADE_ID];
    const hob_json *content = hob_json_get(d, "content");
    hob_str call = hob_json_get_str(d, "call"), outcome = hob_json_get_str(d, "outcome");
    bool receipt = e->type == HOB_EVENT_TOOL_UPDATED ? !hob_json_get_bool(d, "final", false)
                                                     : hob_json_get_bool(d, "pending", false);
    if (receipt) return;
    snprintf(made, sizeof made, "%.*s:result", HOB_FMT(call));
    hob_str given = hob_agui_message_id(hob_json_first(content));
    begin(t, given.n ? given : hob_str_z(made), "tool");
    hob_jsonw_kstr(&t->w, "toolCallId", call);
    hob_jsonw_key(&t->w, "content");
    hob_agui_write_content(&t->w, content, t->dialect);
    if (!hob_str_eqz(outcome, "ok")) hob_jsonw_kstr(&t->w, "error", outcome);
    hob_jsonw_object_end(&t->w);
}

static void put_row(telling *t, const hob_event *e, const hob_json *d) {
    t->name = e->agent;
    switch ((int)e->type) {
    case HOB_EVENT_USER_MESSAGE:
    case HOB_EVENT_STEER_DELIVERED:
        t->name = HOB_STR_NULL;
        hob_agui_each_said(hob_json_get(d, "content"), e->entry, put_said, t);
        break;
    case HOB_EVENT_CHILD_REPORTED:
        t->name = hob_json_get_str(d, "agent");
        hob_agui_each_said(hob_json_get(d, "content"), e->entry, put_said, t);
        break;
    case HOB_EVENT_ASSISTANT_MESSAGE: put_answer(t, d); break;
    case HOB_EVENT_TOOL_FINISHED:
    case HOB_EVENT_TOOL_UPDATED: put_result(t, e, d); break;
    default: break; /* other kinds are no part of a conversation */
    }
}

static int tell(const hob_page *history, telling *t, hob_error *err) {
    int rc = 0;
    hob_jsonw_array(&t->w);
    for (size_t i = 0; rc == 0 && i < hob_page_count(history); i++) {
        hob_event *e;
        hob_arena_reset(t->arena);
        rc = hob_event_decode(hob_page_row(history, i), &e, err);
        if (rc < 0) return rc;
        put_row(t, e, hob_event_parse(e, t->arena));
        hob_event_unref(e);
    }
    hob_jsonw_array_end(&t->w);
    if (!t->w.out->err) return rc;
    return hob_fail(err, HOB_ETOOBIG, 0, "the conversation is larger than an event may be");
}

int hob_agui_messages(const hob_page *history, hob_agui_dialect dialect, hob_agui_json **out,
                      hob_error *err) {
    hob_agui_json *j = hob_agui_json_create(MESSAGES_MAX);
    telling t = {.arena = hob_arena_create(0), .dialect = dialect};
    hob_jsonw_init(&t.w, &j->text);
    int rc = tell(history, &t, err);
    hob_arena_destroy(t.arena);
    if (rc < 0)
        hob_agui_json_destroy(j);
    else
        *out = j;
    return rc;
}

int hob_agui_state_json(const hob_state *state, hob_agui_json **out, hob_error *err) {
    hob_agui_json *j = hob_agui_json_create(MESSAGES_MAX);
    hob_str key = HOB_STR(""), value;
    hob_jsonw w;
    hob_jsonw_init(&w, &j->text);
    hob_jsonw_object(&w);
    while (hob_state_next(state, key, &key, &value)) {
        if (hob_str_starts(key, HOB_STR("temp:"))) continue;
        hob_jsonw_key_n(&w, key);
        hob_jsonw_raw(&w, value);
    }
    hob_jsonw_object_end(&w);
    if (j->text.err) {
        hob_agui_json_destroy(j);
        return hob_fail(err, HOB_ETOOBIG, 0, "the state is larger than an event may be");
    }
    *out = j;
    return 0;
}
