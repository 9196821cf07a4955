/*
 * crowd.h - a tool of the host at which many callers wait at once, until the test lets them go.
 */
#ifndef HOB_TESTS_CROWD_H
#define HOB_TESTS_CROWD_H

#include <hob/hob.h>

#include <pthread.h>

typedef struct crowd {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    struct {
        char who[200]; /* session and call */
        hob_reply *reply;
    } at[64];
    int n, started, cancelled;
    hob_tool tool; /* "gate", read-only, without arguments */
} crowd;
void crowd_init(crowd *c);
void crowd_finish(crowd *c);
void crowd_wait(crowd *c, int started);          /* until so many came, ever */
void crowd_let_go(crowd *c, const char *answer); /* all who wait */

#endif
