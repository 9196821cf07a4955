/*
 * tell.h - events for a view, one call each. Data is written with ' for ".
 */
#ifndef HOB_TESTS_TELL_H
#define HOB_TESTS_TELL_H

#include "log/view.h"

typedef struct tell {
    hob_view *view;
    uint64_t seq; /* of the last event */
    hob_error err;
    hob_buf text;
} tell;

void tell_init(tell *t);
void tell_finish(tell *t);
/* An event of this kind by its name; with a parent ("e3", "" = a root) it is an entry. Its seq, or why it was refused. */
int64_t tell_event(tell *t, const char *type, const char *parent, const char *data);
/* The path as the model sees it: "2:user [..] 4:assistant [..] >[..]". */
const char *tell_path(tell *t);

#endif
