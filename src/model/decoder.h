/*
 * decoder.h - bytes of an event stream -> an answer. Pure: no network, no clock.
 *
 * A decoder is fed what arrives, split anywhere, and writes blocks into the answer. It ends in one of three
 * ways: the provider's own end mark was seen (done), something in the stream says that the attempt failed
 * (outcome.code is set), or the bytes ran out, which hob_decoder_end() judges. An answer counts only if
 * hob_decoder_end() returns HOB_OK: a stream that stops early is a failure, however good its text looks.
 */
#ifndef HOB_SRC_MODEL_DECODER_H
#define HOB_SRC_MODEL_DECODER_H

#include "model/failure.h"
#include "net/sse.h"

typedef struct hob_decoder hob_decoder;

typedef struct hob_decoder_ops {
    /* One event with data; negative = failed (hob_decoder_fail says so). Sets d->done at the end mark. */
    int (*event)(hob_decoder *d, const hob_sse_event *e);
    /* The stream ended without the end mark: true if the answer is whole all the same. */
    bool (*whole)(const hob_decoder *d);
    void (*finish)(hob_decoder *d);
} hob_decoder_ops;

struct hob_decoder { /* implementations put this first in their own struct */
    const hob_decoder_ops *ops;
    hob_asked who; /* borrowed */
    hob_answer *answer;
    hob_sse sse;
    hob_arena *arena; /* of the event at hand */
    hob_model_outcome outcome;
    bool done;
    bool warned; /* something followed the end mark */
};

hob_decoder *hob_decoder_anthropic_create(hob_answer *a, const hob_asked *who);
hob_decoder *hob_decoder_openai_chat_create(hob_answer *a, const hob_asked *who);
void hob_decoder_destroy(hob_decoder *d);

int hob_decoder_feed(hob_decoder *d, hob_str bytes); /* HOB_OK, or the code of the failure */
int hob_decoder_end(hob_decoder *d);                 /* no more bytes will come */

/* ---- for implementations -------------------------------------------------------------------- */
void hob_decoder_init(hob_decoder *d, const hob_decoder_ops *ops, hob_answer *a,
                      const hob_asked *who);
int hob_decoder_fail(hob_decoder *d, int code, bool retryable, const char *what);
/* The event's data as an object, or NULL: then the failure is set. */
const hob_json *hob_decoder_object(hob_decoder *d, const hob_sse_event *e);
/* What a hob_answer_ call returned: passes >= 0 through, turns the rest into a failure. */
int hob_decoder_check(hob_decoder *d, int rc);
/* An answer that holds calls stops for them, whatever the provider calls it. */
void hob_decoder_stop(hob_decoder *d, hob_stop stop);

#endif
