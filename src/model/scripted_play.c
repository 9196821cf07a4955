/*
 * scripted_play.c - a cursor in a reply that writes the answer, move by move.
 *
 * It knows no time: where the script wants a pause it says how long and goes on when it is called again.
 * Neighbouring text steps make one block, as a model's deltas would, so that a repeated step is a long
 * stream and not many blocks.
 */
#include "model/failure.h"
#include "model/scripted.h"

#include <stdio.h>

void hob_script_player_init(hob_script_player *p, const hob_script_reply *reply, hob_answer *a) {
    *p = (hob_script_player){.answer = a, .block = -1, .depth = 1};
    p->frames[0] = (hob_script_frame){.reply = reply, .round = 1, .times = 1};
    hob_buf_init(&p->text, HOB_ANSWER_MAX);
}

void hob_script_player_finish(hob_script_player *p) {
    hob_buf_finish(&p->text);
}

/* ---- ends ----------------------------------------------------------------------------------- */

hob_script_move hob_script_player_end(hob_script_player *p, int code, const char *message) {
    hob_outcome_init(&p->outcome);
    if (code < 0) hob_outcome_fail(&p->outcome, code, hob_error_retryable(code), "%s", message);
    p->state = HOB_SCRIPT_ENDED;
    return HOB_SCRIPT_MOVE_END;
}

static hob_script_move end_too_big(hob_script_player *p) {
    return hob_script_player_end(p, HOB_ETOOBIG,
                                 "the scripted reply is longer than an answer may be");
}

static hob_script_move end_whole(hob_script_player *p) {
    hob_stop natural = p->calls ? HOB_STOP_TOOLS : HOB_STOP_DONE;
    hob_answer_stop(p->answer, p->stop == HOB_STOP_NONE ? natural : p->stop);
    hob_script_player_usage(p);
    return hob_script_player_end(p, HOB_OK, NULL);
}

/* ---- usage ---------------------------------------------------------------------------------- */

static int64_t tokens(int64_t bytes) {
    return (bytes + 3) / 4;
}

static int64_t said_or(int64_t said, int64_t otherwise) {
    return said >= 0 ? said : otherwise;
}

static void overlay(hob_usage *to, const hob_usage *said) {
    to->input_tokens = said_or(said->input_tokens, to->input_tokens);
    to->output_tokens = said_or(said->output_tokens, to->output_tokens);
    to->cache_read_tokens = said_or(said->cache_read_tokens, to->cache_read_tokens);
    to->cache_write_tokens = said_or(said->cache_write_tokens, to->cache_write_tokens);
    to->reasoning_tokens = said_or(said->reasoning_tokens, to->reasoning_tokens);
}

void hob_script_player_usage(hob_script_player *p) {
    hob_usage u = {.input_tokens = tokens(p->view.bytes),
                   .output_tokens = tokens(p->spoken),
                   .reasoning_tokens = tokens(p->thought)};
    overlay(&u, &p->usage);
    hob_answer_usage(p->answer, &u);
}

/* ---- speaking ------------------------------------------------------------------------------- */

static hob_block_kind block_kind(hob_script_kind kind) {
    if (kind == HOB_SCRIPT_STEP_THINKING) return HOB_BLOCK_THINKING;
    if (kind == HOB_SCRIPT_STEP_CALL) return HOB_BLOCK_TOOL_CALL;
    return HOB_BLOCK_TEXT;
}

static int name_call(hob_script_player *p) {
    char made[64];
    snprintf(made, sizeof(made), "call_%lld_%d", (long long)p->view.turn, ++p->calls);
    hob_str id = p->step->id.n ? p->step->id : hob_str_z(made);
    return hob_answer_call(p->answer, p->block, id, p->step->name);
}

/* The block for the present step: the open one where it can go on, else a new one. */
static int open_block(hob_script_player *p) {
    const hob_script_step *s = p->step;
    bool call = s->kind == HOB_SCRIPT_STEP_CALL;
    p->opened = true;
    if (p->block >= 0 && p->block_of == s->kind && !s->new_block && !call) return HOB_OK;
    p->block = hob_answer_open(p->answer, block_kind(s->kind));
    p->block_of = s->kind;
    if (p->block < 0) return p->block;
    return call ? name_call(p) : HOB_OK;
}

/* At least one character, so that every chunk gets on. */
static hob_str next_chunk(const hob_script_player *p) {
    hob_str rest = hob_str_skip(hob_buf_str(&p->text), p->said);
    size_t n = p->step->chunk ? hob_utf8_prefix(rest, p->step->chunk) : rest.n;
    if (n == 0 && rest.n) hob_utf8_next(rest, &n);
    return hob_str_first(rest, n);
}

static int close_step(hob_script_player *p) {
    p->state = HOB_SCRIPT_TAKING;
    if (p->step->kind != HOB_SCRIPT_STEP_THINKING || !p->step->signature.n) return HOB_OK;
    int code = hob_answer_signature(p->answer, p->block, p->step->signature);
    p->block = -1; /* what is signed is whole */
    return code;
}

static hob_script_move speak(hob_script_player *p) {
    if (p->step->delay_ms && !p->waited) {
        p->waited = true;
        p->pause_ms = p->step->delay_ms;
        return HOB_SCRIPT_MOVE_PAUSE;
    }
    p->waited = false;
    hob_str chunk = next_chunk(p);
    int code = p->opened ? HOB_OK : open_block(p);
    if (code >= 0 && chunk.n) code = hob_answer_append(p->answer, p->block, chunk);
    if (code < 0) return end_too_big(p);
    p->grew = true;
    p->said += chunk.n;
    p->spoken += (int64_t)chunk.n;
    if (p->step->kind == HOB_SCRIPT_STEP_THINKING) p->thought += (int64_t)chunk.n;
    if (p->said == p->text.n && close_step(p) < 0) return end_too_big(p);
    return HOB_SCRIPT_MOVE_ON;
}

static int expand(hob_script_player *p) {
    hob_buf_reset(&p->text);
    int64_t round = p->depth > 1 ? p->frames[p->depth - 1].round : 0;
    hob_script_text_expand(&p->step->text, &p->view, round, &p->text);
    return p->text.err;
}

static hob_script_move start_speaking(hob_script_player *p) {
    if (expand(p) < 0) return end_too_big(p);
    p->said = 0;
    p->opened = false;
    p->state = HOB_SCRIPT_SPEAKING;
    return HOB_SCRIPT_MOVE_ON;
}

static hob_script_move show_opaque(hob_script_player *p) {
    int code = expand(p);
    int block = code < 0 ? code : hob_answer_open(p->answer, HOB_BLOCK_OPAQUE);
    if (block >= 0) code = hob_answer_opaque(p->answer, block, hob_buf_str(&p->text));
    if (block < 0 || code < 0) return end_too_big(p);
    p->block = -1;
    p->spoken += (int64_t)p->text.n;
    p->grew = true;
    return HOB_SCRIPT_MOVE_ON;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static hob_script_move enter(hob_script_player *p) {
    p->frames[p->depth++] =
        (hob_script_frame){.reply = &p->step->body, .round = 1, .times = p->step->times};
    return HOB_SCRIPT_MOVE_ON;
}

static hob_script_move start_step(hob_script_player *p) {
    const hob_script_step *s = p->step;
    switch (s->kind) {
    case HOB_SCRIPT_STEP_TEXT:
    case HOB_SCRIPT_STEP_THINKING:
    case HOB_SCRIPT_STEP_CALL: return start_speaking(p);
    case HOB_SCRIPT_STEP_OPAQUE: return show_opaque(p);
    case HOB_SCRIPT_STEP_DELAY: p->pause_ms = s->delay_ms; return HOB_SCRIPT_MOVE_PAUSE;
    case HOB_SCRIPT_STEP_WAIT: p->state = HOB_SCRIPT_SILENT; return HOB_SCRIPT_MOVE_SILENCE;
    case HOB_SCRIPT_STEP_ERROR:
        p->outcome = *s->fail;
        p->state = HOB_SCRIPT_ENDED;
        return HOB_SCRIPT_MOVE_END;
    case HOB_SCRIPT_STEP_CUT:
        return hob_script_player_end(p, HOB_EPROTO, "the stream ended without its final event");
    case HOB_SCRIPT_STEP_USAGE: overlay(&p->usage, &s->usage); return HOB_SCRIPT_MOVE_ON;
    case HOB_SCRIPT_STEP_STOP: p->stop = s->stop; return HOB_SCRIPT_MOVE_ON;
    case HOB_SCRIPT_STEP_REPEAT: return enter(p);
    }
    return HOB_SCRIPT_MOVE_END;
}

static hob_script_move take(hob_script_player *p) {
    hob_script_frame *f = &p->frames[p->depth - 1];
    if (f->at < f->reply->n) {
        p->step = &f->reply->steps[f->at++];
        return start_step(p);
    }
    if (f->round < f->times) {
        f->round++;
        f->at = 0;
        return HOB_SCRIPT_MOVE_ON;
    }
    return --p->depth ? HOB_SCRIPT_MOVE_ON : end_whole(p);
}

hob_script_move hob_script_player_move(hob_script_player *p) {
    switch (p->state) {
    case HOB_SCRIPT_TAKING: return take(p);
    case HOB_SCRIPT_SPEAKING: return speak(p);
    case HOB_SCRIPT_SILENT: return HOB_SCRIPT_MOVE_SILENCE;
    case HOB_SCRIPT_ENDED: return HOB_SCRIPT_MOVE_END;
    }
    return HOB_SCRIPT_MOVE_END;
}
