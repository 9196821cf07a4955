/*
 * stream.c - streamed text on its way to the reader.
 *
 * While an answer is made, its text is a range of the answer's own buffer: a reader that comes late or reads slowly
 * gets everything since its offset as one delta. Once it is made, the durable message has the text, and a reader that
 * saw nothing of it yet gets its deltas from there. So the deltas of a message always stand between its
 * model_call_started and its end, and add up to its text; only the history from before the reader came has none.
 */
#include "session/session.h"

static hob_event_type delta_type(hob_block_kind k) {
    switch (k) {
    case HOB_BLOCK_TEXT: return HOB_EVENT_TEXT_DELTA;
    case HOB_BLOCK_THINKING: return HOB_EVENT_THINKING_DELTA;
    case HOB_BLOCK_TOOL_CALL: return HOB_EVENT_TOOL_ARGS_DELTA;
    case HOB_BLOCK_OPAQUE: break;
    }
    return HOB_EVENT_UNKNOWN;
}

/* ---- putting what is new of a block ------------------------------------------------------------------- */

typedef struct stream {
    hob_session *s;
    hob_str message, run;
    bool force; /* the ceiling does not count */
} stream;

static bool put(const stream *t, hob_delta *d, hob_str text) {
    hob_mailbox *box = &t->s->box;
    memcpy(d->key, t->message.p, HOB_MIN(t->message.n, sizeof d->key - 1));
    if (hob_mailbox_put_delta(box, d, t->run, hob_session_now(t->s), text, t->force)) return true;
    hob_mailbox_hold(box);
    return false;
}

static bool open_message(const stream *t) {
    hob_session *s = t->s;
    if (hob_str_eqz(t->message, s->sent_message)) return true;
    if (!put(t, &(hob_delta){.type = HOB_EVENT_MESSAGE_OPEN}, HOB_STR_NULL)) return false;
    memset(s->sent_message, 0, sizeof s->sent_message);
    memcpy(s->sent_message, t->message.p, HOB_MIN(t->message.n, sizeof s->sent_message - 1));
    memset(s->sent, 0, sizeof s->sent);
    s->sent_all = false;
    return true;
}

static bool put_block(const stream *t, size_t i, hob_event_type type, hob_str text, hob_str tool) {
    hob_session *s = t->s;
    if (type == HOB_EVENT_UNKNOWN || i >= HOB_MAX_BLOCKS || text.n <= s->sent[i]) return true;
    hob_delta d = {.type = type, .block = (int)i, .offset = s->sent[i], .tool = tool};
    if (!put(t, &d, hob_str_skip(text, s->sent[i]))) return false;
    s->sent[i] = text.n;
    return true;
}

/* ---- of an answer that is being made ------------------------------------------------------------------- */

static bool put_answer(hob_session *s, bool force) {
    const hob_answer *a = s->answer;
    stream t = {s, hob_str_z(s->answer_message), hob_str_z(s->answer_run), force};
    bool room = open_message(&t);
    for (size_t i = 0; room && i < a->nblocks; i++) {
        const hob_block *b = &a->blocks[i];
        hob_str tool = b->kind == HOB_BLOCK_TOOL_CALL ? b->name : HOB_STR_NULL;
        room = put_block(&t, i, delta_type(b->kind), hob_buf_str(&b->text), tool);
    }
    return room;
}

/* A reader that saw the beginning gets the rest, whatever its size: once, since it sees no other beginning before. */
void hob_session_close_answer(hob_session *s) {
    if (s->answer && s->reading && !strcmp(s->sent_message, s->answer_message)) {
        put_answer(s, true);
        s->sent_all = true;
    }
    hob_answer_destroy(s->answer);
    s->answer = NULL;
}

/* ---- of a message that was made ------------------------------------------------------------------------- */

static bool put_content(const stream *t, const hob_json *b, size_t i) {
    hob_str type = hob_json_get_str(b, "type"), text = hob_json_get_str(b, "text");
    if (hob_str_eqz(type, "text")) return put_block(t, i, HOB_EVENT_TEXT_DELTA, text, HOB_STR_NULL);
    if (hob_str_eqz(type, "thinking"))
        return put_block(t, i, HOB_EVENT_THINKING_DELTA, text, HOB_STR_NULL);
    if (!hob_str_eqz(type, "tool_call")) return true;
    hob_str args = hob_json_raw(hob_json_get(b, "args"));
    return put_block(t, i, HOB_EVENT_TOOL_ARGS_DELTA,
                     args.n ? args : hob_json_get_str(b, "args_text"), hob_json_get_str(b, "name"));
}

static bool put_message(hob_session *s, const hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *d = hob_event_parse(e, a);
    stream t = {.s = s, .message = hob_json_get_str(d, "message"), .run = e->run_id};
    bool room = open_message(&t);
    size_t i = 0;
    for (const hob_json *b = hob_json_first(hob_json_get(d, "content")); b && room && !s->sent_all;
         b = hob_json_next(b))
        room = put_content(&t, b, i++);
    hob_arena_destroy(a);
    return room;
}

/* ---- when ------------------------------------------------------------------------------------------------- */

bool hob_session_stream_before(hob_session *s, const hob_event *e) {
    if (s->answer && e->seq == s->answer_end) {
        if (!put_answer(s, false)) return false;
        hob_session_close_answer(s);
        return true;
    }
    if (e->type != HOB_EVENT_ASSISTANT_MESSAGE || e->seq <= s->live_from) return true;
    return put_message(s, e);
}

void hob_session_stream(hob_session *s) {
    uint64_t seen = s->reading ? s->cursor : s->durable;
    if (!s->answer || seen < s->answer_seq) return;
    if (s->answer_end && seen >= s->answer_end)
        hob_session_close_answer(s);
    else if (!s->reading)
        hob_mailbox_hold(&s->box);
    else if (s->cursor >= s->durable)
        put_answer(s, false);
}

void hob_session_tool_output(hob_session *s, const hob_tool_output *o) {
    stream t = {.s = s, .message = o->call, .run = hob_str_z(s->run.id)};
    hob_delta d = {.type = HOB_EVENT_TOOL_OUTPUT_DELTA, .offset = o->offset};
    if (!s->reading || s->cursor < s->durable || s->cursor < o->started)
        return; /* the reader has not seen the call start yet */
    put(&t, &d, o->text);
    hob_session_deliver(s);
}
