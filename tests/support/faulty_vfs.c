#include "support/faulty_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

typedef struct faulty_file {
    sqlite3_file base;
    sqlite3_file *real; /* right behind this struct */
} faulty_file;

static sqlite3_vfs *usual, vfs;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static faulty_plan plan;
static int calls, hits;

void faulty_arm(const faulty_plan *p) {
    pthread_mutex_lock(&mu);
    plan = *p;
    calls = hits = 0;
    pthread_mutex_unlock(&mu);
}

int faulty_disarm(void) {
    pthread_mutex_lock(&mu);
    plan.nth = 0;
    int n = hits;
    pthread_mutex_unlock(&mu);
    return n;
}

static int fault(faulty_call call) {
    pthread_mutex_lock(&mu);
    int code = SQLITE_OK;
    if (plan.nth && call == plan.call) {
        calls++;
        if (calls == plan.nth || (plan.forever && calls > plan.nth)) {
            hits++;
            code = plan.code;
        }
    }
    pthread_mutex_unlock(&mu);
    return code;
}

#define REAL(f) (((faulty_file *)(f))->real)
#define CALL(f, name, ...) (REAL(f)->pMethods->name(REAL(f), ##__VA_ARGS__))

static int f_close(sqlite3_file *f) {
    return CALL(f, xClose);
}
static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) {
    int rc = fault(FAULTY_READ);
    return rc ? rc : CALL(f, xRead, p, n, at);
}
/* Half of it gets there, as it may on a real disk. */
static int f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
    int rc = fault(FAULTY_WRITE);
    if (rc && n > 1) CALL(f, xWrite, p, n / 2, at);
    return rc ? rc : CALL(f, xWrite, p, n, at);
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 n) {
    int rc = fault(FAULTY_TRUNCATE);
    return rc ? rc : CALL(f, xTruncate, n);
}
static int f_sync(sqlite3_file *f, int flags) {
    int rc = fault(FAULTY_SYNC);
    return rc ? rc : CALL(f, xSync, flags);
}
static int f_size(sqlite3_file *f, sqlite3_int64 *n) {
    return CALL(f, xFileSize, n);
}
static int f_lock(sqlite3_file *f, int how) {
    return CALL(f, xLock, how);
}
static int f_unlock(sqlite3_file *f, int how) {
    return CALL(f, xUnlock, how);
}
static int f_reserved(sqlite3_file *f, int *out) {
    return CALL(f, xCheckReservedLock, out);
}
static int f_control(sqlite3_file *f, int op, void *arg) {
    return CALL(f, xFileControl, op, arg);
}
static int f_sector(sqlite3_file *f) {
    return CALL(f, xSectorSize);
}
static int f_device(sqlite3_file *f) {
    return CALL(f, xDeviceCharacteristics);
}
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return CALL(f, xShmMap, page, size, extend, out);
}
static int f_shm_lock(sqlite3_file *f, int at, int n, int flags) {
    return CALL(f, xShmLock, at, n, flags);
}
static void f_shm_barrier(sqlite3_file *f) {
    CALL(f, xShmBarrier);
}
static int f_shm_unmap(sqlite3_file *f, int erase) {
    return CALL(f, xShmUnmap, erase);
}

static const sqlite3_io_methods methods = {
    2,          f_close,       f_read,      f_write,   f_truncate, f_sync,   f_size,
    f_lock,     f_unlock,      f_reserved,  f_control, f_sector,   f_device, f_shm_map,
    f_shm_lock, f_shm_barrier, f_shm_unmap, NULL,      NULL};

static int v_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out) {
    (void)v;
    REAL(f) = (sqlite3_file *)((char *)f + sizeof(faulty_file));
    memset(REAL(f), 0, (size_t)usual->szOsFile);
    int rc = usual->xOpen(usual, name, REAL(f), flags, out);
    f->pMethods = rc == SQLITE_OK ? &methods : NULL;
    return rc;
}

void faulty_install(void) {
    usual = sqlite3_vfs_find(NULL);
    vfs = *usual;
    vfs.zName = "faulty";
    vfs.szOsFile = (int)sizeof(faulty_file) + usual->szOsFile;
    vfs.xOpen = v_open;
    vfs.pNext = NULL;
    sqlite3_vfs_register(&vfs, 1);
}
