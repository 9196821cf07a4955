/*
 * seen.h - a client of a session's stream that comes and goes, and what it has seen: every event once, in order.
 */
#ifndef HOB_TESTS_SEEN_H
#define HOB_TESTS_SEEN_H

#include "support/client.h"

enum { SEEN_EVENTS = 256 };

typedef struct seen {
    char id[32]; /* of the session */
    tail *t;
    uint64_t last;
    uint64_t hash[SEEN_EVENTS]; /* of each event, by its number */
    bool settled;
} seen;

void seen_attach(client *k, seen *s); /* from where it was */
/* The event that the tail has now; fails the test if it is not the next one. */
void seen_note(seen *s);
void seen_drain(seen *s); /* what is there already, and no more */
void seen_to_end(seen *s);
/* Everything that was seen is in the log, as it was seen, and the log has no more than that. */
void seen_compare(client *k, const seen *s);

#endif
