/*
 * sqlite_open.c - the file as a whole: opening, opening again after a failed fsync, closing. On the
 * writer.
 *
 * A failed write is an error like others: the transaction is undone and the next one may succeed. A
 * failed fsync is not: the kernel may have dropped pages that it goes on showing to readers, and the
 * next fsync would say all is well. So nothing in memory is trusted then: the connections are closed,
 * the file is opened and checked like any other, and the whole WAL is copied into the database and cut
 * before the first new commit. What was acknowledged had been synced before the error; from there on
 * every page that counts is written and synced anew. Until that works, every call fails.
 */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Never opens a file that exists: closing it would drop the locks that SQLite holds on it in another
 * store of this process. */
static int make_file(hob_sqlite *s, hob_error *err) {
    struct stat st;
    if (lstat(s->path, &st) == 0) {
        if (S_ISREG(st.st_mode)) return 0;
        return hob_fail(err, HOB_ESTORE, S_ISLNK(st.st_mode) ? ELOOP : EINVAL,
                        "the store %s is a %s, not a file: name the file itself", s->path,
                        S_ISLNK(st.st_mode)   ? "symbolic link"
                        : S_ISDIR(st.st_mode) ? "folder"
                                              : "device");
    }
    int fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return hob_fail_errno(err, HOB_ESTORE,
                              "cannot make the store %s (may this user write to its folder?)",
                              s->path);
    close(fd);
    return 0;
}

/* The folder that the file stands in. */
static int make_folder(const char *path, hob_error *err) {
    const char *slash = strrchr(path, '/');
    hob_error why;
    if (!slash || slash == path) return HOB_OK;
    char *folder = hob_dupz(hob_str_n(path, (size_t)(slash - path)));
    int rc = hob_folder_make(folder, &why);
    if (rc < 0) rc = hob_fail(err, HOB_ESTORE, why.sub, "no place for the store: %s", why.message);
    hob_free(folder);
    return rc;
}

static int open_conn(hob_sqlite *s, hob_error *err) {
    hob_sqlite_conn *c;
    int rc = hob_sqlite_conn_open(s->path, HOB_SQLITE_WRITER, &c, err);
    if (rc < 0) return rc;
    rc = hob_sqlite_migrate(c, err);
    if (rc == 0) rc = hob_sqlite_verify(c, err);
    if (rc < 0) {
        hob_sqlite_conn_close(c);
        return rc;
    }
    s->conn = c;
    s->trash = true; /* perhaps: the first look finds out */
    return 0;
}

static void set_ready(hob_sqlite *s, bool ready) {
    pthread_mutex_lock(&s->mu);
    s->ready = ready;
    pthread_mutex_unlock(&s->mu);
}

int hob_sqlite_file_open(hob_sqlite *s, hob_error *err) {
    int rc = make_folder(s->path, err);
    if (rc == 0) rc = hob_filelock_open(&s->lock, s->lock_path, err);
    if (rc == 0) rc = hob_filelock_take(&s->lock, s->lock_wait_ms, err);
    if (rc < 0) return rc;
    rc = make_file(s, err);
    if (rc == 0) rc = open_conn(s, err);
    if (rc == 0) rc = hob_owner_open(&s->owner, s->owners_path, err);
    if (rc == 0) hob_owner_sweep(s->owners_path);
    hob_filelock_drop(&s->lock);
    set_ready(s, rc == 0);
    return rc;
}

void hob_sqlite_file_abandon(hob_sqlite *s) {
    set_ready(s, false);
    hob_sqlite_readers_close(s);
    hob_sqlite_conn_close(s->conn);
    s->conn = NULL;
    hob_sqlite_seats_destroy(s);
}

int hob_sqlite_file_reopen(hob_sqlite *s, hob_error *err) {
    int rc = hob_filelock_take(&s->lock, s->lock_wait_ms, err);
    if (rc < 0) return rc;
    rc = open_conn(s, err);
    if (rc == 0) rc = hob_sqlite_checkpoint_all(s, err);
    if (rc < 0) {
        hob_sqlite_conn_close(s->conn);
        s->conn = NULL;
    }
    hob_filelock_drop(&s->lock);
    set_ready(s, rc == 0);
    return rc;
}

/* Not synced: if it is lost with the power, the owner is just as gone. */
static void release_all(hob_sqlite *s) {
    hob_error err;
    if (hob_filelock_take(&s->lock, HOB_MIN(s->lock_wait_ms, (int64_t)1000), &err) < 0)
        return; /* a dead owner is found dead by its file */
    sqlite3_stmt *st = hob_sqlite_stmt(s->conn, HOB_SQL_HEAD_RELEASE_ALL);
    sqlite3_exec(s->conn->db, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
    if (st) hob_sqlite_bind_str(st, 1, hob_str_z(s->owner.id));
    if (!st || hob_sqlite_run(st) < 0 || hob_sqlite_unclaim(s) < 0) {
        hob_sqlite_fail(s->conn, &err);
        hob_log(HOB_LOG_WARN, "store", "sessions not released on close: %s", err.message);
    }
    hob_filelock_drop(&s->lock);
}

void hob_sqlite_file_close(hob_sqlite *s) {
    set_ready(s, false);
    if (s->conn) release_all(s);
    hob_sqlite_readers_close(s);
    hob_sqlite_checkpoint_last(s);
    hob_sqlite_conn_close(s->conn);
    s->conn = NULL;
    hob_owner_close(&s->owner);
    hob_filelock_close(&s->lock);
    hob_sqlite_seats_destroy(s);
}
