/*
 * id.c - names of runs. Runs of all sessions share one table, and a session's id may be anybody's choice: so two runs must
 * differ whatever their sessions are called.
 *
 * run-ID-SEQ has the session's whole id and the number of the event, and so is nobody else's. An id that is too long for
 * that stands there as its hash, which is longer than any id that stands there itself. Runs of earlier versions had
 * twelve hexadecimal digits in its place: an id that looks like these is hashed, too.
 */
#include "base/digest.h"
#include "run/run.h"

#include <stdio.h>

enum { ID_MAX = 38, HASH = 39, OLD_HASH = 12 }; /* 4 + 39 + 1 + 19 digits of a number are 63 */

static bool is_like_old(hob_str id) {
    for (size_t i = 0; i < id.n; i++)
        if (!memchr("0123456789abcdef", id.p[i], 16)) return false;
    return id.n == OLD_HASH;
}

void hob_run_id(hob_str session, uint64_t seq, char out[64]) {
    char hash[HASH + 1];
    if (session.n > ID_MAX || is_like_old(session)) {
        hob_digest(HOB_STR_NULL, session, hash, HASH);
        session = hob_str_n(hash, HASH);
    }
    snprintf(out, 64, "run-%.*s-%llu", HOB_FMT(session), (unsigned long long)seq);
}
