/*
 * owner.h - who is alive. Each open store holds a lock on a file of its own for as long as it lives;
 * whoever finds that file gone or not locked knows that its owner is dead. Process ids play no part, so
 * their reuse does not matter; the clock neither.
 *
 * The file is made and locked under the lock of the store, and swept under it too: a file without a lock
 * is never one that is about to get it.
 */
#ifndef HOB_SRC_STORE_OWNER_H
#define HOB_SRC_STORE_OWNER_H

#include "base/base.h"

typedef struct hob_owner {
    char id[37];     /* its name in the folder */
    const char *dir; /* borrowed */
    int fd;          /* -1 = not open */
} hob_owner;

/* Makes the folder (0700) and the file (0600). Hold the lock of the store. */
int hob_owner_open(hob_owner *o, const char *dir, hob_error *err);
void hob_owner_close(hob_owner *o);
bool hob_owner_alive(const char *dir, hob_str id);  /* [any] */
void hob_owner_forget(const char *dir, hob_str id); /* removes the file of a dead owner */
/* Removes the files of owners that died without being missed; looks at a bounded number of them. */
void hob_owner_sweep(const char *dir);

#endif
