/*
 * talk.h - a conversation with a scripted model, on virtual time.
 *
 * Scripts and content are written with ' for " so that they can be read in C.
 */
#ifndef HOB_TESTS_TALK_H
#define HOB_TESTS_TALK_H

#include "log/history.h"
#include "model/model.h"

typedef struct talk {
    hob_fake_clock clock;
    hob_loop *loop;
    hob_provider *provider;
    hob_history *history;
    uint64_t seq;   /* of the last event */
    char entry[24]; /* of the last message */
    int answers;
    hob_model_request rq; /* change what the next request says */
    hob_answer *answer;   /* of the last request */
    hob_model_call *call; /* NULL once it has ended */
    int grown, ended;     /* callbacks so far */
    bool cancel_when_grown;
    int64_t grown_at[64]; /* ms since the request, of the first callbacks */
    int64_t asked_at;
    hob_model_outcome outcome;
    hob_buf said;
} talk;

void talk_init(talk *t, const char *script);
void talk_init_raw(talk *t, hob_str script); /* real JSON */
void talk_finish(talk *t);
/* The script's error, "CODE message", static; fails if there is none. */
const char *talk_script_error(const char *script);

void talk_user(talk *t, const char *text);
void talk_answer(talk *t, const char *content); /* JSON array; calls are named m<i>.<k> */
void talk_answer_raw(talk *t, hob_str json);    /* real JSON */
void talk_result(talk *t, int k, const char *outcome, const char *text); /* of the last answer */

void talk_start(talk *t); /* sends the request */
void talk_run(talk *t);   /* until it has ended, or an hour has passed */
int talk_try(talk *t);    /* both; the code of start, or else of the outcome */
/* Both, and the content of the answer, with ' for ". */
const char *talk_ask(talk *t);
const char *talk_said(talk *t);
void talk_cancel(talk *t);

#endif
