/*
 * actions.h - what a tool asks for besides its answer (docs/state.md).
 */
#ifndef HOB_SRC_TOOL_ACTIONS_H
#define HOB_SRC_TOOL_ACTIONS_H

#include <hob/artifact.h>
#include <hob/tool.h>

#include "log/state.h"

#include <pthread.h>
#include <stdatomic.h>

enum { HOB_ACTIONS_KEYS_MAX = 4096, HOB_ACTIONS_BYTES_MAX = 4 << 20 }; /* of one call */

enum { HOB_ACTIONS_SAVES_MAX = 256, HOB_ACTIONS_SAVES_BYTES = 64 << 20 };

/* An artifact that waits for the result it is saved with. One block, shared by those who pass it on. */
typedef struct hob_save {
    atomic_int refs;
    hob_str name, mime, meta, bytes;
} hob_save;
hob_save *hob_save_ref(hob_save *s);
void hob_save_unref(hob_save *s);
/* Checks and copies. */
int hob_save_create(const hob_artifact_item *given, hob_save **out, hob_error *err);

typedef struct hob_actions {
    pthread_mutex_t lock; /* until the answer */
    hob_state changes;    /* an overlay, temp: keys with their values */
    hob_state artifacts;  /* name -> version */
    hob_save **saves;     /* whose version is not known yet */
    size_t nsaves, saved_bytes;
    bool no_saves; /* not here: nothing would carry them */
    char *transfer;
    char *narrow; /* JSON: what may be used from now on (run/narrow.c) */
    bool escalate, skip_summarization;
} hob_actions;

void hob_actions_init(hob_actions *a);
void hob_actions_finish(hob_actions *a);
/* What was asked for later: it counts more. Both are answered. */
void hob_actions_add(hob_actions *a, const hob_actions *later);
bool hob_actions_any(const hob_actions *a);
/* Forgets those, or says which versions they have got: then they are artifacts like others. */
void hob_actions_drop_saves(hob_actions *a);
void hob_actions_add_saves(hob_actions *a, const hob_actions *later);
void hob_actions_number_saves(hob_actions *a, const int64_t *versions);
/* As tool_finished has them: temp: keys by name only. */
void hob_actions_write(const hob_actions *a, hob_jsonw *w);

#endif
