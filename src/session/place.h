/*
 * place.h - where a child works if it works apart: a git worktree of its own (place.c).
 */
#ifndef HOB_SRC_SESSION_PLACE_H
#define HOB_SRC_SESSION_PLACE_H

#include "session/task.h"

void hob_place_write(const hob_worktree *w, hob_jsonw *to); /* an object */
bool hob_place_read(const hob_json *from, hob_arena *a, hob_worktree *w);
/* Makes the folder in which the worktrees of a session's children lie. */
int hob_place_folder(hob_runtime *rt, const char *parent, hob_buf *out, hob_error *err);
bool hob_place_find_folder(hob_runtime *rt, hob_str parent, hob_buf *out); /* if it is there */
int hob_place_note(const hob_worktree *w, hob_error *err);
void hob_place_forget(const hob_worktree *w); /* the note, and a folder that is empty then */

/* Each ends with a call of task.c's, below: later, from the loop itself, unless it says otherwise. */
int hob_place_find(hob_task *t, hob_error *err); /* hob_task_found; not if it fails at once */
int hob_place_make(hob_task *t, hob_error *err); /* hob_task_placed; the same; 1: it is there */
void hob_place_look(hob_task *t);                /* hob_task_looked, perhaps at once */
void hob_place_remove(hob_task *t);              /* hob_task_left, perhaps at once */

void hob_task_found(hob_task *t, int code, const hob_error *err);
void hob_task_placed(hob_task *t, int code, const hob_error *err);
void hob_task_looked(hob_task *t, bool unchanged);
void hob_task_left(hob_task *t);

/* ---- place_clear.c ------------------------------------------------------------------------------------------- */
typedef struct hob_places {
    hob_str parent, child; /* all of its children, or the one that is named */
    hob_page *kept;        /* gets a row for each that stays: {"folder","branch"?} */
} hob_places;
typedef void (*hob_places_fn)(void *user);
/* Removes the worktrees of a session's children that are unchanged. `done` comes later, from the loop itself. */
void hob_places_clear(hob_runtime *rt, const hob_places *of, hob_places_fn done, void *user);

#endif
