/*
 * hob/send.h - a message with its sender. Part of hob/session.h, which includes it.
 *
 * A host that works for many says on whose behalf a message comes, and the log remembers: who pays for a run stands in
 * its run_started, and in every answer of a model to it and to its sub-agents; so it is known after a restart, too, and
 * whoever lets the run go on later (an approval, a resume) changes nothing about it.
 */
#ifndef HOB_SEND_H
#define HOB_SEND_H

#include <hob/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_send_opts {
    size_t size;
    hob_send how;
    hob_str content; /* JSON array of text and image blocks (docs/messages.md) */
    hob_str
        payer; /* of the run that it starts, now or as a follow-up; "" = nobody. What steers a run
                          is part of it */
    hob_str
        key; /* by which the sender knows it again: stands in the first event about it; "" = none */
} hob_send_opts;
#define HOB_SEND_OPTS_INIT                                                                         \
    { .size = sizeof(hob_send_opts) }

/* As hob_session_send; `payer` and `key` have at most 128 bytes of UTF-8 (HOB_EINVAL). [any] */
HOB_API int hob_session_send_with(hob_session *s, const hob_send_opts *o, hob_receipt *out,
                                  hob_error *err);

/* What who pays for a run may spend is used up: only the host knows. */
typedef struct hob_quota_opts {
    size_t size;
    hob_str run;   /* the run it is about */
    hob_str limit; /* which: "quota_" and a word, at most 40 bytes */
    double value;  /* spent */
    double max;    /* of so much */
} hob_quota_opts;
#define HOB_QUOTA_OPTS_INIT                                                                        \
    { .size = sizeof(hob_quota_opts) }

/* Ends that run as any limit does: limit_reached names the quota, run_finished has status `limit` and it as its reason,
 * what waits in the queue goes back. HOB_EIDLE: it is not under way; another one is left alone. [any] */
HOB_API int hob_session_end_spent(hob_session *s, const hob_quota_opts *o, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
