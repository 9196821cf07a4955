/*
 * tell.h - what another agent did, as words of the user: the one wording, for conversations of sessions
 * (history_view.c) and shared ones (shared_tell.c).
 *
 * What is told goes from one JSON text into another: texts and names are given as they stand inside the quotes of their
 * event and are not read on the way.
 */
#ifndef HOB_SRC_TELL_H
#define HOB_SRC_TELL_H

#include "base/base.h"
#include "base/json.h"

void hob_tell_begin(hob_buf *out); /* "For context:" */
void hob_tell_end(hob_buf *out);
void hob_tell_said(hob_buf *out, hob_str who, hob_str inside);
/* `name`: inside its quotes; `args`, `content`: JSON, "" = {} and []. */
void hob_tell_called(hob_buf *out, hob_str who, hob_str name, hob_str args);
void hob_tell_returned(hob_buf *out, hob_str who, hob_str name, hob_str content);
void hob_tell_shown(hob_buf *out, hob_str block); /* an image, as it is */

/* A JSON string without its quotes; "" for anything shorter. */
static inline hob_str hob_tell_inside(hob_str quoted) {
    return quoted.n >= 2 ? hob_str_n(quoted.p + 1, quoted.n - 2) : HOB_STR_NULL;
}

#endif
