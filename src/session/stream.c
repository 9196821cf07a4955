/*
 * stream.c - streamed text on its way to those who read.
 *
 * While an answer is made, its text is a range of the answer's own buffer: a reader that comes late or reads slowly
 * gets everything since its offset as one delta. Once it is made, the durable message has the text, and a reader that
 * saw nothing of it yet gets its deltas from there. So the deltas of a message always stand between its
 * model_call_started and its end, and add up to its text; only the history from before the reader came has none.
 *
 * Several agents may answer at once: the deltas of their messages stand between each other. What the reader has of a
 * message is kept for each (hob_sent), from its opening until its end went to the reader; the strand may be gone by then.
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

/* ---- what the reader has of each message -------------------------------------------------------------- */

static hob_sent *find_sent(hob_reader *r, hob_str message) {
    HOB_LIST_EACH (it, &r->sent) {
        hob_sent *x = HOB_CONTAINER(it, hob_sent, link);
        if (hob_str_eqz(hob_str_first(message, sizeof x->message - 1), x->message)) return x;
    }
    return NULL;
}

static hob_sent *add_sent(hob_reader *r, hob_str message, hob_str run) {
    hob_sent *x = HOB_NEW(hob_sent);
    snprintf(x->message, sizeof x->message, "%.*s", HOB_FMT(message));
    snprintf(x->run, sizeof x->run, "%.*s", HOB_FMT(run));
    hob_list_push(&r->sent, &x->link);
    return x;
}

static void forget(hob_sent *x) {
    if (!x) return;
    hob_list_remove(&x->link);
    hob_free(x);
}

void hob_reader_forget_sent(hob_reader *r) {
    while (!hob_list_empty(&r->sent)) forget(HOB_LIST_FIRST(&r->sent, hob_sent, link));
}

static void forget_run(hob_reader *r, hob_str run) {
    HOB_LIST_EACH_SAFE (it, &r->sent) {
        hob_sent *x = HOB_CONTAINER(it, hob_sent, link);
        if (hob_str_eqz(run, x->run)) forget(x);
    }
}

/* Messages that came to nothing end with these; so does all of a run. */
static void forget_ended(hob_reader *r, const hob_event *e) {
    if (hob_list_empty(&r->sent)) return;
    if (e->type == HOB_EVENT_RUN_FINISHED) forget_run(r, e->run_id);
    if (e->type != HOB_EVENT_MODEL_CALL_FAILED && e->type != HOB_EVENT_TURN_DISCARDED) return;
    hob_arena *a = hob_arena_create(0);
    forget(find_sent(r, hob_json_get_str(hob_event_parse(e, a), "message")));
    hob_arena_destroy(a);
}

/* ---- putting what is new of a block ------------------------------------------------------------------- */

typedef struct stream {
    hob_reader *r;
    hob_str message, run, agent, branch;
    bool force; /* the ceiling does not count */
    hob_sent *sent;
    int calls; /* seen so far */
} stream;

static bool put(const stream *t, hob_delta *d, hob_str text) {
    hob_mailbox *box = &t->r->box;
    memcpy(d->key, t->message.p, HOB_MIN(t->message.n, sizeof d->key - 1));
    d->agent = t->agent;
    d->branch = t->branch;
    if (hob_mailbox_put_delta(box, d, t->run, hob_session_now(t->r->s), text, t->force))
        return true;
    hob_mailbox_hold(box);
    return false;
}

static bool open_message(stream *t) {
    t->sent = find_sent(t->r, t->message);
    if (t->sent) return true;
    if (!put(t, &(hob_delta){.type = HOB_EVENT_MESSAGE_OPEN}, HOB_STR_NULL)) return false;
    t->sent = add_sent(t->r, t->message, t->run);
    return true;
}

/* A call is counted also while it has no arguments: the name of those behind it depends on it. */
static bool put_block(stream *t, size_t i, hob_event_type type, hob_str text, hob_str tool) {
    int call = type == HOB_EVENT_TOOL_ARGS_DELTA ? t->calls++ : 0;
    size_t *upto = i < HOB_MAX_BLOCKS ? &t->sent->upto[i] : NULL;
    if (type == HOB_EVENT_UNKNOWN || !upto || text.n <= *upto) return true;
    hob_delta d = {.type = type, .block = (int)i, .offset = *upto, .tool = tool, .call = call};
    if (!put(t, &d, hob_str_skip(text, *upto))) return false;
    *upto = text.n;
    return true;
}

/* ---- of an answer that is being made ------------------------------------------------------------------- */

static bool put_answer(hob_reader *r, hob_strand *st, bool force) {
    const hob_answer *a = st->answer;
    stream t = {.r = r,
                .message = hob_str_z(st->answer_message),
                .run = hob_str_z(st->answer_run),
                .agent = hob_str_z(st->agent),
                .branch = hob_str_z(st->branch),
                .force = force};
    bool room = open_message(&t);
    for (size_t i = 0; room && i < a->nblocks; i++) {
        const hob_block *b = &a->blocks[i];
        hob_str tool = b->kind == HOB_BLOCK_TOOL_CALL ? b->name : HOB_STR_NULL;
        room = put_block(&t, i, delta_type(b->kind), hob_buf_str(&b->text), tool);
    }
    return room;
}

static void give_rest(hob_reader *r, hob_strand *st) {
    hob_sent *x = find_sent(r, hob_str_z(st->answer_message));
    if (!x || !r->reading) return;
    put_answer(r, st, true);
    x->all = true;
}

/* A reader that saw the beginning gets the rest, whatever its size: once, since it sees no other beginning of this
 * strand before. */
void hob_strand_close_answer(hob_strand *st) {
    if (!st->answer) return;
    HOB_LIST_EACH (it, &st->s->readers) give_rest(HOB_CONTAINER(it, hob_reader, link), st);
    hob_strand_drop_answer(st);
}

void hob_strand_drop_answer(hob_strand *st) {
    hob_answer_destroy(st->answer);
    st->answer = NULL;
}

/* ---- of a message that was made ------------------------------------------------------------------------- */

static bool put_content(stream *t, const hob_json *b, size_t i) {
    hob_str type = hob_json_get_str(b, "type"), text = hob_json_get_str(b, "text");
    if (hob_str_eqz(type, "text")) return put_block(t, i, HOB_EVENT_TEXT_DELTA, text, HOB_STR_NULL);
    if (hob_str_eqz(type, "thinking"))
        return put_block(t, i, HOB_EVENT_THINKING_DELTA, text, HOB_STR_NULL);
    if (!hob_str_eqz(type, "tool_call")) return true;
    hob_str args = hob_json_raw(hob_json_get(b, "args"));
    return put_block(t, i, HOB_EVENT_TOOL_ARGS_DELTA,
                     args.n ? args : hob_json_get_str(b, "args_text"), hob_json_get_str(b, "name"));
}

static bool put_message(hob_reader *r, const hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *d = hob_event_parse(e, a);
    stream t = {.r = r,
                .message = hob_json_get_str(d, "message"),
                .run = e->run_id,
                .agent = e->agent,
                .branch = e->branch};
    bool room = open_message(&t);
    size_t i = 0;
    for (const hob_json *b = hob_json_first(hob_json_get(d, "content")); b && room && !t.sent->all;
         b = hob_json_next(b))
        room = put_content(&t, b, i++);
    if (room) forget(t.sent);
    hob_arena_destroy(a);
    return room;
}

/* ---- when ------------------------------------------------------------------------------------------------- */

static hob_strand *ends_answer(hob_session *s, const hob_event *e) {
    HOB_LIST_EACH (it, &s->strands) {
        hob_strand *st = HOB_CONTAINER(it, hob_strand, link);
        if (st->answer && e->seq == st->answer_end) return st;
    }
    return NULL;
}

bool hob_reader_stream_before(hob_reader *r, const hob_event *e) {
    hob_strand *st = ends_answer(r->s, e);
    if (st) {
        if (!put_answer(r, st, false)) return false;
        forget(find_sent(r, hob_str_z(st->answer_message)));
    } else if (e->type == HOB_EVENT_ASSISTANT_MESSAGE && e->seq > r->live_from) {
        if (!put_message(r, e)) return false;
    }
    forget_ended(r, e);
    return true;
}

/* The reader has seen all events, and is to have what there is of the answer. */
static void stream_strand(hob_reader *r, hob_strand *st) {
    uint64_t durable = r->s->durable, seen = r->reading ? r->cursor : durable;
    bool over = st->answer_end && seen >= st->answer_end;
    if (!st->answer || st->answer_held || over || seen < st->answer_seq) return;
    if (!r->reading)
        hob_mailbox_hold(&r->box);
    else if (r->cursor >= durable)
        put_answer(r, st, false);
}

void hob_reader_stream(hob_reader *r) {
    HOB_LIST_EACH (it, &r->s->strands) stream_strand(r, HOB_CONTAINER(it, hob_strand, link));
}

static bool wanted(hob_session *s, const hob_strand *st) {
    HOB_LIST_EACH (it, &s->readers) {
        const hob_reader *r = HOB_CONTAINER(it, hob_reader, link);
        if (r->reading && r->cursor < st->answer_end) return true;
    }
    return false;
}

void hob_session_drop_answers(hob_session *s) {
    HOB_LIST_EACH (it, &s->strands) {
        hob_strand *st = HOB_CONTAINER(it, hob_strand, link);
        bool over = st->answer && st->answer_end && s->durable >= st->answer_end;
        if (over && !wanted(s, st)) hob_strand_close_answer(st);
    }
}

static void put_output(hob_reader *r, hob_strand *st, const hob_tool_output *o) {
    stream t = {.r = r,
                .message = o->call,
                .run = hob_str_z(st->run->id),
                .agent = hob_str_z(st->agent),
                .branch = hob_str_z(st->branch)};
    hob_delta d = {.type = HOB_EVENT_TOOL_OUTPUT_DELTA, .offset = o->offset};
    if (!r->reading || r->cursor < r->s->durable || r->cursor < o->started)
        return; /* the reader has not seen the call start yet */
    put(&t, &d, o->text);
}

void hob_strand_tool_output(hob_strand *st, const hob_tool_output *o) {
    HOB_LIST_EACH (it, &st->s->readers) put_output(HOB_CONTAINER(it, hob_reader, link), st, o);
    hob_session_deliver(st->s);
}
