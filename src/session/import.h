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

enum { HOB_IMPORT_SESSIONS = 10000, HOB_IMPORT_EVENTS = 2000000, HOB_IMPORT_ARTIFACTS = 10000 };
#define HOB_IMPORT_BYTES ((size_t)1 << 30)
#define HOB_IMPORT_DAY_MS (24 * 3600 * 1000) /* that clocks may differ */

typedef struct hob_import_part { /* a session */
    hob_str from;                /* its id in the file */
    char id[129];                /* and here */
    hob_str parent;              /* of a child, in the file; "" = it is none */
    int64_t wanted;              /* events that its line announced */
    hob_str *lines;              /* as they came; later as they are stored */
    size_t n, cap;
    hob_view *view; /* until it is stored */
    hob_run run;
    hob_store_artifact *shelf; /* import_shelf.c: by name and version */
    size_t nshelf, shelf_cap;
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
    int64_t events, artifacts;
    size_t bytes;
    size_t missing; /* bytes of the last artifact that are still to come */
};

void hob_import_keep(hob_import *im, hob_import_part *p, hob_str line);
/* import_shelf.c: a line {"type":"artifact",…}, whose session is whole, or one with more of its bytes. */
int hob_import_read_artifact(hob_import *im, hob_import_part *p, const hob_json *o, hob_error *err);
int hob_import_read_more(hob_import *im, hob_import_part *p, const hob_json *o, hob_error *err);
/* The line with the ids of here, in the arena; itself, if nothing differs. */
int hob_import_rewrite(hob_import *im, const hob_import_part *p, hob_str *line, hob_error *err);

#endif
