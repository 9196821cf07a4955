/*
 * faulty_vfs.h - a disk that fails on demand: a SQLite VFS in front of the usual one. Test only.
 *
 * A test loops n = 1, 2, … over the same work until faulty_hits() says that the n-th call was never
 * reached: then every point of failure has been visited.
 */
#ifndef HOB_TESTS_FAULTY_VFS_H
#define HOB_TESTS_FAULTY_VFS_H

#include <stdbool.h>

typedef enum faulty_call {
    FAULTY_WRITE = 1,
    FAULTY_SYNC = 2,
    FAULTY_TRUNCATE = 4,
    FAULTY_READ = 8
} faulty_call;

typedef struct faulty_plan {
    faulty_call call;
    int code;     /* SQLITE_… that the call returns */
    int nth;      /* from 1; 0 = never */
    bool forever; /* the n-th and all after it */
} faulty_plan;

void faulty_install(void); /* becomes the default for the process */
void faulty_arm(const faulty_plan *p);
int faulty_disarm(void); /* how often it failed */

#endif
