/*
 * store.h - the stores that come with hob, behind <hob/ext/store.h>.
 */
#ifndef HOB_SRC_STORE_H
#define HOB_SRC_STORE_H

#include <hob/ext/store.h>

#include "loop/loop.h"

int hob_store_memory_open(hob_loop *l, hob_store **out, hob_error *err);

typedef struct hob_sqlite_opts {
    hob_str path;         /* the database file; its folder is made (0700), the file is 0600 */
    hob_str owner_name;   /* how this process is named to others, e.g. "hob[1234]"; "" = "pid N" */
    hob_pool *pool;       /* for cold reads; NULL: the writer thread reads too */
    int64_t lock_wait_ms; /* for another process in the middle of a commit; 0 = 30 s */
} hob_sqlite_opts;
/* Returns at once; opening, migrating and checking happen on the writer thread and their failure is the
 * answer to every later call (HOB_ESTORE, HOB_EVERSION: the message says what to do). */
int hob_store_sqlite_open(hob_loop *l, const hob_sqlite_opts *o, hob_store **out, hob_error *err);

#endif
