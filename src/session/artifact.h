/*
 * artifact.h - artifacts of a session on their way into the store. Everything but the public calls happens on the loop.
 *
 *     claim (which version?) -> the event says so -> one commit with both
 *
 * The store gives the number first, to this process alone, because the event names it. Meanwhile the bytes are shelved with
 * the session, under the event they belong to; submit() takes them along when it meets that event. An event that was never
 * written leaves nothing: whoever shelved drops them, and the number is free again later.
 */
#ifndef HOB_SRC_SESSION_ARTIFACT_H
#define HOB_SRC_SESSION_ARTIFACT_H

#include <hob/artifact.h>

#include "session/session.h"

/* ---- artifact_shelf.c ------------------------------------------------------------------------------------- */

/* What goes with one event: the tool_finished of `call`, or event `seq`. */
typedef struct hob_shelved {
    hob_list link;
    char call[64]; /* "" = by seq */
    uint64_t seq;
    hob_str removed; /* heap: a name that is deleted; "" = none */
    hob_save **saves;
    int64_t *versions;
    size_t n;
} hob_shelved;
/* References the saves. `versions`: one each. */
hob_shelved *hob_session_shelve(hob_session *s, hob_save *const *saves, const int64_t *versions,
                                size_t n);
void hob_shelves_drop(hob_list *shelves);
/* Those that are left of this call, or event: it was not written. */
void hob_session_unshelve(hob_session *s, const char *call, uint64_t seq);

typedef struct hob_shelf_rows {
    hob_store_artifact *at; /* in the arena */
    size_t n, cap;
    hob_list taken; /* whose bytes they are; hob_shelves_drop when the store has them */
} hob_shelf_rows;
void hob_shelf_rows_init(hob_shelf_rows *rows);
void hob_session_take_shelved(hob_session *s, const hob_event *e, hob_arena *a,
                              hob_shelf_rows *rows);

/* Asks the store for versions of these; names are copied. */
void hob_session_claim(hob_session *s, hob_save *const *saves, size_t n, hob_store_claim_fn done,
                       void *user);

#endif
