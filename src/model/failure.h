/*
 * failure.h - what went wrong with a model call, in hob's terms: code, whether trying again can help, and words
 * for the person in front of it.
 */
#ifndef HOB_SRC_MODEL_FAILURE_H
#define HOB_SRC_MODEL_FAILURE_H

#include "model/model.h"

void hob_outcome_init(hob_model_outcome *o); /* HOB_OK, nothing said of a retry */

/* Fills o with a failure; `retryable` as given. Returns code. */
int hob_outcome_fail(hob_model_outcome *o, int code, bool retryable, const char *fmt, ...)
    HOB_PRINTF(4, 5);

/* Who was asked, for messages. */
typedef struct hob_asked {
    hob_str provider;   /* "anthropic" */
    hob_str model;      /* as the provider names it */
    hob_str url;        /* without query */
    hob_str key_source; /* "ANTHROPIC_API_KEY"; "" = no key was sent */
} hob_asked;

/* An error object of the provider: of an event in the stream (status 0), or the body of an HTTP answer. Both
 * {"error":{type,code,message}}, {"error":"text"} and {"message":…} are understood, any other text is quoted. */
void hob_outcome_from_error(hob_model_outcome *o, const hob_asked *who, int status, hob_str body);

/* Seconds or milliseconds that the answer asks to wait, in ms; -1 = not said. `now` is Unix time in ms. */
int64_t hob_retry_after(const hob_http_head *head, int64_t now);
/* "Sun, 06 Nov 1994 08:49:37 GMT" in Unix ms. HOB_EPARSE. */
int hob_http_date(hob_str text, int64_t *out);

/* Hides the secret, also where only its start is left of it, in the message. */
void hob_error_redact(hob_error *err, hob_str secret);

#endif
