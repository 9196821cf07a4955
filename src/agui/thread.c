/*
 * thread.c - the conversation as AG-UI messages, and state as an object.
 *
 * An event has a size that clients take, a conversation has none: a few photographs are enough. One that is too large is
 * told in brief: first only what is old is, without its images and the rest of its long texts; then all of it, and what
 * is older than that is left out. Who comes back always sees how it ended.
 */
#include <hob/agui_project.h>

#include "agui/content.h"
#include "agui/patch.h"
#include "log/event.h"

#include <stdio.h>

#define MESSAGES_MAX (((size_t)10 << 20) - 4096) /* and the event around them */

enum {
    WHOLE_MAX = 6 << 20, /* bytes of the log, the newest, that are told whole */
    BRIEF_MAX = 2 << 20, /* and in brief, when that was still too much */
    BRIEF_TEXT = 8 << 10
};

typedef enum brevity { TELL_ALL, TELL_OLD_IN_BRIEF, TELL_THE_LAST } brevity;

typedef struct telling {
    hob_jsonw w;
    hob_arena *arena;
    hob_agui_dialect dialect;
    hob_str name;
    bool brief; /* of the row that is told: no images, no long texts */
} telling;

/* ---- in brief ------------------------------------------------------------------------------------------------- */

static void put_brief(telling *t, hob_str text, bool images) {
    hob_buf b;
    size_t n = hob_utf8_prefix(text, BRIEF_TEXT);
    hob_buf_init(&b, BRIEF_TEXT + 100);
    hob_buf_add(&b, hob_str_first(text, n));
    if (n < text.n) hob_buf_addz(&b, "… [cut: the conversation is too large]");
    if (images)
        hob_buf_addf(&b, "%s[image left out: the conversation is too large]", n ? "\n" : "");
    hob_jsonw_str(&t->w, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void put_text(telling *t, hob_str text) {
    if (t->brief)
        put_brief(t, text, false);
    else
        hob_jsonw_str(&t->w, text);
}

static void put_content(telling *t, const hob_json *blocks, hob_agui_dialect dialect) {
    hob_buf text;
    if (!t->brief) {
        hob_agui_write_content(&t->w, blocks, dialect);
        return;
    }
    hob_buf_init(&text, (size_t)64 << 20);
    hob_agui_text_of(blocks, &text);
    put_brief(t, hob_buf_str(&text), hob_agui_has_images(blocks));
    hob_buf_finish(&text);
}

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
    hob_buf_init(&array, (size_t)64 << 20);
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
        put_content(t, blocks, dialect);
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
    hob_jsonw_key(&t->w, "content");
    put_text(t, text);
    if (!thinks) hob_jsonw_kstr_opt(&t->w, "name", t->name);
    hob_jsonw_object_end(&t->w);
}

static void put_call(telling *t, const hob_json *block) {
    hob_str args = hob_json_raw(hob_json_get(block, "args"));
    if (t->brief && args.n > BRIEF_TEXT) args = HOB_STR("{}"); /* half of it would be no JSON */
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
    put_content(t, content, t->dialect);
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

/* The first row from which on all of them have together no more than that; of each counts no more than `most`. */
static size_t last_rows(const hob_page *history, size_t room, size_t most) {
    size_t i = hob_page_count(history);
    for (; i > 0; i--) {
        size_t n = hob_page_row(history, i - 1).n;
        n = n < most ? n : most;
        if (n > room) break;
        room -= n;
    }
    return i;
}

static int tell(const hob_page *history, telling *t, brevity how, hob_error *err) {
    int rc = 0;
    size_t whole = how == TELL_ALL            ? 0
                   : how == TELL_OLD_IN_BRIEF ? last_rows(history, WHOLE_MAX, SIZE_MAX)
                                              : hob_page_count(history);
    size_t first = how == TELL_THE_LAST ? last_rows(history, BRIEF_MAX, 2 * BRIEF_TEXT) : 0;
    hob_jsonw_array(&t->w);
    for (size_t i = first; rc == 0 && i < hob_page_count(history); i++) {
        hob_event *e;
        hob_arena_reset(t->arena);
        rc = hob_event_decode(hob_page_row(history, i), &e, err);
        if (rc < 0) return rc;
        t->brief = i < whole;
        put_row(t, e, hob_event_parse(e, t->arena));
        hob_event_unref(e);
    }
    hob_jsonw_array_end(&t->w);
    if (!t->w.out->err) return rc;
    return hob_fail(err, HOB_ETOOBIG, 0, "the conversation is larger than an event may be");
}

int hob_agui_messages(const hob_page *history, hob_agui_dialect dialect, hob_agui_json **out,
                      hob_error *err) {
    hob_agui_json *j = NULL;
    telling t = {.arena = hob_arena_create(0), .dialect = dialect};
    int rc = HOB_ETOOBIG, how = TELL_ALL;
    for (; rc == HOB_ETOOBIG && how <= TELL_THE_LAST; how++) {
        hob_agui_json_destroy(j);
        j = hob_agui_json_create(MESSAGES_MAX);
        hob_jsonw_init(&t.w, &j->text);
        rc = tell(history, &t, (brevity)how, err);
    }
    hob_arena_destroy(t.arena);
    if (rc < 0)
        hob_agui_json_destroy(j);
    else
        *out = j;
    return rc < 0 ? rc : how - 1 > TELL_ALL;
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
