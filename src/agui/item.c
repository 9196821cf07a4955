/*
 * item.c - what is open in a run, and how it is closed.
 */
#include "agui/agui.h"

static const char *const space_words[] = {"message",           "tool call", "reasoning",
                                          "reasoning message", "step",      "sub-agent"};

typedef struct key {
    char text[2 * HOB_AGUI_ID_MAX + 2];
    size_t n;
} key;

static void add(key *k, hob_str s) {
    if (s.n) memcpy(k->text + k->n, s.p, s.n);
    k->n += s.n;
}

/* Steps have an id space for each owner; the other spaces are the run's. False: no id is that long. */
static bool key_of(hob_agui_space space, hob_str owner, hob_str id, key *k) {
    if (id.n > HOB_AGUI_ID_MAX || owner.n > HOB_AGUI_ID_MAX) return false;
    k->text[0] = (char)('a' + (int)space);
    k->n = 1;
    if (space == HOB_SPACE_STEP) {
        add(k, owner);
        k->text[k->n++] = '\0';
    }
    add(k, id);
    return true;
}

static hob_str key_str(const key *k) {
    return hob_str_n(k->text, k->n);
}

hob_agui_item *hob_agui_item_get(const hob_agui_session *s, hob_agui_space space, hob_str owner,
                                 hob_str id) {
    key k;
    return key_of(space, owner, id, &k) ? hob_map_get(s->items, key_str(&k)) : NULL;
}

int hob_agui_item_need(const hob_agui_session *s, hob_agui_space space, hob_str id,
                       hob_agui_item **out, hob_error *err) {
    *out = hob_agui_item_get(s, space, HOB_STR_NULL, id);
    if (*out) return 0;
    return hob_fail(err, HOB_ENOENT, 0, "no %s \"%.*s\" is open", space_words[space],
                    HOB_FMT(hob_str_first(id, hob_utf8_prefix(id, 100))));
}

int hob_agui_item_may(const hob_agui_session *s, hob_agui_space space, hob_str owner, hob_str id,
                      hob_error *err) {
    int rc = hob_agui_need_id(space == HOB_SPACE_STEP ? "step's name" : "id", id, err);
    if (rc < 0) return rc;
    if (hob_agui_item_get(s, space, owner, id))
        return hob_fail(err, HOB_EEXIST, 0, "the %s \"%.*s\" is open already", space_words[space],
                        HOB_FMT(hob_str_first(id, hob_utf8_prefix(id, 100))));
    if (s->nopen < HOB_AGUI_OPEN_MAX) return 0;
    return hob_fail(err, HOB_ETOOBIG, 0, "more than %d things are open at once", HOB_AGUI_OPEN_MAX);
}

void hob_agui_item_add(hob_agui_session *s, hob_agui_space space, hob_str owner, hob_str id) {
    hob_agui_item *item = hob_alloc(sizeof *item + owner.n + id.n);
    char *text = (char *)(item + 1);
    if (owner.n) memcpy(text, owner.p, owner.n);
    memcpy(text + owner.n, id.p, id.n);
    item->space = space;
    item->owner = hob_str_n(text, owner.n);
    item->id = hob_str_n(text + owner.n, id.n);
    hob_list_push(&s->open, &item->link);
    key k;
    if (key_of(space, owner, id, &k)) hob_map_put(s->items, key_str(&k), item);
    s->nopen++;
}

void hob_agui_item_remove(hob_agui_session *s, hob_agui_item *item) {
    key k;
    if (key_of(item->space, item->owner, item->id, &k)) hob_map_take(s->items, key_str(&k));
    hob_list_remove(&item->link);
    hob_free(item);
    s->nopen--;
}

void hob_agui_item_clear(hob_agui_session *s) {
    while (!hob_list_empty(&s->open))
        hob_agui_item_remove(s, HOB_LIST_FIRST(&s->open, hob_agui_item, link));
}

/* ---- closing ------------------------------------------------------------------------------------------- */

/* The end of a sub-agent that somebody else's end brings about. */
static hob_jsonw *begin_subagent_end(hob_agui_session *s, hob_str id, hob_agui_why why) {
    bool cancelled = why == HOB_WHY_CANCEL;
    hob_jsonw *w =
        hob_agui_begin(s, cancelled ? HOB_AGUI_SUBAGENT_ERROR : HOB_AGUI_SUBAGENT_FINISHED);
    hob_jsonw_kstr(w, "subagentRunId", id);
    if (cancelled) {
        hob_jsonw_kstr(w, "message", HOB_STR("cancelled"));
        hob_jsonw_kstr(w, "code", HOB_STR("cancelled"));
    } else if (why == HOB_WHY_INTERRUPT) {
        hob_jsonw_kraw(w, "outcome", HOB_STR("{\"type\":\"suspended\"}"));
    }
    return w;
}

static void begin_end(hob_agui_session *s, const hob_agui_item *item, hob_agui_why why) {
    static const struct {
        hob_agui_kind kind;
        const char *key;
    } ends[] = {
        [HOB_SPACE_TEXT] = {HOB_AGUI_TEXT_MESSAGE_END, "messageId"},
        [HOB_SPACE_CALL] = {HOB_AGUI_TOOL_CALL_END, "toolCallId"},
        [HOB_SPACE_SPAN] = {HOB_AGUI_REASONING_END, "messageId"},
        [HOB_SPACE_THOUGHT] = {HOB_AGUI_REASONING_MESSAGE_END, "messageId"},
        [HOB_SPACE_STEP] = {HOB_AGUI_STEP_FINISHED, "stepName"},
    };
    if (item->space == HOB_SPACE_SUBAGENT) {
        begin_subagent_end(s, item->id, why);
        return;
    }
    hob_jsonw *w = hob_agui_begin(s, ends[item->space].kind);
    hob_jsonw_kstr(w, ends[item->space].key, item->id);
    hob_jsonw_kstr_opt(w, "subagentRunId", item->owner);
}

int hob_agui_item_close(hob_agui_session *s, hob_agui_item *item, hob_agui_why why,
                        hob_error *err) {
    begin_end(s, item, why);
    int rc = hob_agui_send(s, err);
    if (hob_agui_happened(rc)) hob_agui_item_remove(s, item);
    return rc;
}

int hob_agui_item_close_all(hob_agui_session *s, const hob_str *owner, hob_agui_why why,
                            hob_error *err) {
    for (hob_list *l = s->open.prev, *prev; l != &s->open; l = prev) {
        hob_agui_item *item = HOB_CONTAINER(l, hob_agui_item, link);
        prev = l->prev;
        if (owner && !hob_str_eq(item->owner, *owner)) continue;
        int rc = hob_agui_item_close(s, item, why, err);
        if (!hob_agui_happened(rc)) return rc;
    }
    return 0;
}
