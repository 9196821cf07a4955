/*
 * import.h - sessions on their way from an export into a store.
 *
 * Lines are read and judged one by one (import.c): a line that is wrong says which. Nothing is written before the last
 * one: then ids are chosen, lines that name them rewritten, and all of it stored, or nothing (import_store.c).
 *
 * A log that comes from elsewhere is data. Whatever it says, nothing in it goes on by itself: a run without an end gets
 * one, children at work are ended, messages that wait are returned, and a mode wider than `ask` is taken back.
 */
#ifndef HOB_SRC_SESSION_IMPORT_H
#define HOB_SRC_SESSION_IMPORT_H

#include "session/session.h"

enum { HOB_IMPORT_SESSIONS = 10000, HOB_IMPORT_EVENTS = 2000000 };
#define HOB_IMPORT_BYTES ((size_t)1 << 30)

typedef struct hob_import_part { /* a session */
    hob_str from;                /* its id in the file */
    char id[129];                /* and here */
    hob_str parent;              /* of a child, in the file; "" = it is none */
    int64_t wanted;              /* events that its line announced */
    hob_str *lines;              /* as they came; later as they are stored */
    size_t n, cap;
    hob_view *view; /* until it is stored */
    hob_run run;
    uint64_t epoch; /* 0 = not made yet */
} hob_import_part;

typedef enum hob_import_stage {
    HOB_IMPORT_HEAD, /* the first line is expected */
    HOB_IMPORT_BODY,
    HOB_IMPORT_ENDED,
    HOB_IMPORT_FAILED
} hob_import_stage;

struct hob_import {
    hob_runtime *rt;
    hob_import_stage stage;
    char *app, *user;
    hob_arena *arena, *scratch;
    hob_import_part *parts;
    size_t nparts, cap;
    hob_map *ids; /* of the file -> part number + 1 */
    int64_t line;
    int64_t events;
    size_t bytes;
};

void hob_import_keep(hob_import *im, hob_import_part *p, hob_str line);
/* The line with the ids of here, in the arena; itself, if nothing differs. */
int hob_import_rewrite(hob_import *im, const hob_import_part *p, hob_str *line, hob_error *err);

#endif
