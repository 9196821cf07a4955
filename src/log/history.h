/*
 * history.h - the conversation: a tree of messages, and the path through it that the model sees.
 *
 * A node is a user message (user_message, steer_delivered, child_reported) or an answer (assistant_message) together with the
 * results of its calls. Results land in the slot of their call, so the order in which calls finished does not
 * matter; tool_updated puts another one in the place of a receipt. Answers that were cut off (stop "aborted") are nodes of the tree but never part of the path's messages; so
 * are entries of kinds that a newer version wrote, so that what hangs on them keeps its place. branch_moved chooses
 * another path and changes the generation.
 *
 * A history that was opened from a snapshot is cold at its beginning: how much there is, is known, the messages
 * themselves are in the log only (`cold`). It grows as any other; an event that needs what is cold is refused. Whoever
 * needs all of it folds the log into a fresh one and has it take the place (hob_history_thaw).
 */
#ifndef HOB_SRC_HISTORY_H
#define HOB_SRC_HISTORY_H

#include <hob/ext/provider.h>

#include "log/event.h"

typedef struct hob_slot {
    hob_event *event; /* NULL = no result yet */
    hob_str content;  /* JSON array */
    size_t weight;
    bool failed;
    bool pending; /* it is a receipt: tool_updated brings another */
} hob_slot;

typedef struct hob_node {
    uint64_t seq;
    ptrdiff_t parent; /* index, -1 = root */
    hob_role role;
    bool aborted; /* not part of the path: cut off, or of a kind that this version does not know */
    hob_event *event;
    hob_str content; /* JSON array */
    hob_str model, message;
    size_t weight;
    hob_slot *results;
    size_t nresults;
    char *made; /* content that stands in no event, heap: of a view */
} hob_node;

/* The beginning of the path that is not in memory. */
typedef struct hob_cold {
    size_t count;  /* messages; 0 = the history is whole */
    uint64_t leaf; /* seq of the last of them */
    size_t bytes;  /* weight */
} hob_cold;

struct hob_history {
    hob_cold cold;
    hob_node *nodes;
    size_t nnodes, cap;
    size_t *path; /* indices of the nodes the model sees, oldest first, behind what is cold */
    size_t npath, path_cap;
    ptrdiff_t leaf; /* node the next message hangs on, -1 = none, or the cold one */
    uint64_t generation;
    size_t bytes; /* weight of the content on the path: the estimate of prompt size builds on it */
};

hob_history *hob_history_create(void);
void hob_history_destroy(hob_history *h);
/* HOB_ENOENT: it needs an entry that is not there, or is cold. */
int hob_history_apply(hob_history *h, const hob_event *e, const hob_json *data, hob_error *err);
uint64_t hob_history_leaf(const hob_history *h); /* seq of the leaf entry, 0 = none */
/* The answer with this call, on the path, if the call is pending. HOB_ENOENT, HOB_EEXIST (it has its result). */
int hob_history_pending(const hob_history *h, hob_str call, const hob_node **out, hob_error *err);
/* The node with this entry seq, or NULL. */
const hob_node *hob_history_find(const hob_history *h, uint64_t seq);
/* For views (history_view.h): a node of another history with what it holds, and words of the user about one; takes the
 * text. */
void hob_history_push_copy(hob_history *h, const hob_node *n);
void hob_history_push_made(hob_history *h, const hob_node *about, char *text, size_t length);

/* ---- history_cold.c ---- */
/* The beginning of a history that is left when its first `count` messages, or fewer, are not kept, and the seq of the
 * event from which on the rest can be folded again, which is not after `latest`. 0: it cannot be cut there, since other
 * branches hang on what would be gone, or a call there has no result. */
uint64_t hob_history_prefix(const hob_history *h, size_t count, uint64_t latest, hob_cold *out);
/* `whole` (given) is folded from the same events: its content becomes h's, which stays what it is for everybody who
 * holds it. False: they do not agree; h is unchanged. */
bool hob_history_thaw(hob_history *h, hob_history *whole);
size_t hob_node_weight(const hob_node *n); /* with its results */

/* How many bytes of text a prompt grows by with this content: an image counts for what models make of it, not for the
 * length of its base64. */
size_t hob_content_weight(const hob_json *content);
/* "e12" -> 12; 0 if it is no entry id. */
uint64_t hob_entry_seq(hob_str entry);

#endif
