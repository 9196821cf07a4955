/*
 * thread.h - an AG-UI client of a desk: inputs, and what comes of them.
 */
#ifndef HOB_TESTS_THREAD_H
#define HOB_TESTS_THREAD_H

#include "support/check.h"
#include "support/desk.h"

#include <stdio.h>
#include <string.h>

/* An input with these messages (and further members), ' for ". */
static inline const char *input(const char *thread, const char *run, const char *messages,
                                const char *more) {
    static char text[4096];
    snprintf(text, sizeof text,
             "{'protocolVersion':'1.0','threadId':'%s','runId':'%s','messages':[%s],'context':[],"
             "'state':{},'forwardedProps':{}%s}",
             thread, run, messages, more ? more : ",'tools':[]");
    return text;
}

#define SAY(id, text) "{'id':'" id "','role':'user','content':'" text "'}"

static inline tail *begin(desk *d, const char *path, const char *body) {
    tail *t = tail_post(d->port, DESK_TOKEN, path, NULL, body);
    if (tail_status(t) != 200) fail_msg("%s: %d", path, tail_status(t));
    return t;
}

static inline const char *field(tail *t, const char *path) {
    static char text[8][512];
    static unsigned at;
    char *out = text[at++ % 8];
    out[0] = 0;
    hob_json_field(tail_data(t), path, out, sizeof text[0]);
    return out;
}

/* The types of all events that follow, "RUN_" and the like left as they are, until the stream ends; the last event stays. */
static inline const char *types(tail *t) {
    static char all[4000];
    const char *last = "";
    all[0] = 0;
    while (tail_next(t)) {
        const char *type = field(t, "type");
        if (!strcmp(type, last)) continue; /* pieces */
        strncat(all, type, sizeof all - strlen(all) - 2);
        strcat(all, " ");
        last = type;
    }
    return all;
}

/* The next event of that type; the test fails if the stream ends before. */
static inline void until(tail *t, const char *type) {
    do
        if (tail_next(t) != 1) fail_msg("no %s came", type);
    while (strcmp(field(t, "type"), type) != 0);
}

#endif
