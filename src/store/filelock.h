/*
 * filelock.h - one process at a time, waited for fairly and not for ever.
 *
 * The lock is an OFD lock on a file of its own: it belongs to the open file, so two stores of one
 * process exclude each other like two processes, and the kernel drops it when its holder dies.
 *
 * Fair: there is a room and a door. Whoever waits for the room stands in the door, so the one who just
 * left the room cannot come back before those who wait. Not for ever: a stopped holder must not stop
 * everybody without a word, and a blocking F_OFD_SETLKW can only be ended by a signal, which a library
 * may not use; so both are asked for again and again, with pauses that grow from 20 us to 2 ms.
 */
#ifndef HOB_SRC_STORE_FILELOCK_H
#define HOB_SRC_STORE_FILELOCK_H

#include "base/base.h"

typedef struct hob_filelock {
    int fd; /* -1 = not open */
    const char *path;
} hob_filelock;

/* Makes the file (0600) if it is not there. `path` is borrowed. The file is never removed. */
int hob_filelock_open(hob_filelock *l, const char *path, hob_error *err);
void hob_filelock_close(hob_filelock *l);
int hob_filelock_take(hob_filelock *l, int64_t wait_ms, hob_error *err); /* HOB_ESTORE, ETIMEDOUT */
void hob_filelock_drop(hob_filelock *l);

#endif
