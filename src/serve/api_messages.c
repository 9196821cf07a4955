/*
 * api_messages.c - GET …/messages: the conversation.
 *
 * An answer that was cut off is not sent to the model again, so the library's history leaves it out; but the message
 * that follows hangs on it (parent_entry). It is put back where it was: every entry that a row names is a row.
 */
#include "serve/api.h"

#include <stdio.h>

enum { MISSING_MAX = 1000 }; /* in a row, one after the other */

typedef struct telling {
    hob_web_request *r;
    hob_arena *a; /* of one row */
    hob_jsonw w;
    char last[32]; /* the entry that was told last */
} telling;

/* The entry of a row, and the one that it hangs on; false: it is no message. */
static bool read_row(hob_arena *a, hob_str row, hob_str *entry, hob_str *parent) {
    const hob_json *e;
    hob_arena_reset(a);
    if (hob_json_parse(a, row, NULL, &e, NULL) < 0) return false;
    *entry = hob_json_get_str(e, "entry");
    *parent = hob_json_get_str(e, "parent_entry");
    return entry->n > 0;
}

/* The event that is this entry; NULL: there is none. */
static hob_page *fetch(const telling *t, hob_str entry) {
    hob_page *page;
    int64_t seq;
    if (entry.n < 2 || hob_str_int(hob_str_skip(entry, 1), &seq) < 0 || seq < 1) return NULL;
    const char *id = hob_api_z(t->r, hob_api_id(t->r));
    int rc = hob_runtime_events(hob_api_runtime(t->r), id, (uint64_t)seq - 1, 1, &page, NULL);
    return rc < 0 ? NULL : page;
}

/* What lies between the entry that was told last and this one, oldest first. */
static void tell_missing(telling *t, hob_str parent) {
    hob_page *found[MISSING_MAX];
    hob_str entry, before = hob_arena_dup(hob_web_arena(t->r), parent);
    size_t n = 0;
    while (n < MISSING_MAX && before.n && !hob_str_eqz(before, t->last)) {
        if (!(found[n] = fetch(t, before))) break;
        if (!read_row(t->a, hob_page_row(found[n++], 0), &entry, &parent) ||
            !hob_str_eq(entry, before))
            break;
        before = hob_arena_dup(hob_web_arena(t->r), parent);
    }
    bool reached = hob_str_eqz(before, t->last);
    while (n-- > 0) {
        if (reached) hob_jsonw_raw(&t->w, hob_page_row(found[n], 0));
        hob_page_destroy(found[n]);
    }
}

static void tell(telling *t, hob_str row) {
    hob_str entry, parent;
    char name[32];
    if (read_row(t->a, row, &entry, &parent)) {
        snprintf(name, sizeof name, "%.*s", HOB_FMT(entry));
        if (!hob_str_eqz(parent, t->last)) tell_missing(t, parent);
        memcpy(t->last, name, sizeof name);
    }
    hob_jsonw_raw(&t->w, row);
}

static void answer(hob_web_request *r, const hob_page *page) {
    telling t = {.r = r, .a = hob_arena_create(0)};
    hob_buf b;
    hob_buf_init(&b, HOB_API_ANSWER_MAX);
    hob_jsonw_init(&t.w, &b);
    hob_jsonw_object(&t.w);
    hob_jsonw_key(&t.w, "messages");
    hob_jsonw_array(&t.w);
    for (size_t i = 0; i < hob_page_count(page); i++) tell(&t, hob_page_row(page, i));
    hob_jsonw_array_end(&t.w);
    hob_jsonw_key(&t.w, "next");
    hob_jsonw_null(&t.w);
    hob_jsonw_object_end(&t.w);
    hob_api_answer_large(r, &b);
    hob_arena_destroy(t.a);
}

void hob_api_messages(hob_web_request *r) {
    hob_page *page = NULL;
    hob_error err;
    if (!hob_api_is_there(r)) return;
    hob_room *room = hob_api_peek(r);
    int rc =
        room ? hob_session_history(hob_room_session(room), &page, &err)
             : hob_runtime_history(hob_api_runtime(r), hob_api_z(r, hob_api_id(r)), &page, &err);
    if (room) hob_hub_leave(room);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        answer(r, page);
    hob_page_destroy(page);
}
