/*
 * serve_token.c - the token of a server that was given none.
 *
 * It is made once, kept in a file that only its owner reads, and shown once. A server without a token does not exist.
 */
#include "cli/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECRET_BYTES = 32 };

static int from_file(int fd, hob_serve_token *out, hob_error *err) {
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return hob_fail(err, HOB_ECONFIG, 0, "%s is not a file", out->file);
    if (st.st_mode & 077)
        return hob_fail(err, HOB_EACCES, 0,
                        "others can read %s: chmod 600 it, or remove it to have a new one",
                        out->file);
    ssize_t n = read(fd, out->text, sizeof out->text - 1);
    if (n < 0) return hob_fail_errno(err, HOB_ECONFIG, "%s cannot be read", out->file);
    hob_str text = hob_str_trim(hob_str_n(out->text, (size_t)n));
    if (!text.n)
        return hob_fail(err, HOB_ECONFIG, 0, "%s is empty; remove it to have a new token",
                        out->file);
    memmove(out->text, text.p, text.n);
    out->text[text.n] = 0;
    return HOB_OK;
}

static int make_secret(char *text) {
    unsigned char rnd[SECRET_BYTES];
    if (hob_random(rnd, sizeof rnd) < 0) return HOB_EIO;
    for (size_t i = 0; i < sizeof rnd; i++) snprintf(text + 2 * i, 3, "%02x", rnd[i]);
    return HOB_OK;
}

/* Written beside it and linked into its place: two servers that start at once have the same one. */
static int make_file(hob_serve_token *out, hob_error *err) {
    char beside[sizeof out->file + 32];
    if (make_secret(out->text) < 0)
        return hob_fail(err, HOB_EIO, 0, "the kernel gives no random bytes");
    snprintf(beside, sizeof beside, "%s.%ld", out->file, (long)getpid());
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return hob_fail_errno(err, HOB_ECONFIG, "the token cannot be kept in %s", beside);
    size_t n = strlen(out->text);
    bool whole = write(fd, out->text, n) == (ssize_t)n && write(fd, "\n", 1) == 1 && fsync(fd) == 0;
    close(fd);
    int linked = whole ? link(beside, out->file) : -1, why = errno;
    unlink(beside);
    if (linked < 0 && why == EEXIST) return HOB_EEXIST;
    errno = why;
    if (linked < 0)
        return hob_fail_errno(err, HOB_ECONFIG, "the token cannot be kept in %s", out->file);
    out->made = true;
    return HOB_OK;
}

static int read_or_make(hob_serve_token *out, hob_error *err) {
    for (int i = 0; i < 2; i++) {
        int fd = open(out->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0) {
            int r = from_file(fd, out, err);
            close(fd);
            return r;
        }
        if (errno != ENOENT)
            return hob_fail_errno(err, HOB_ECONFIG, "%s cannot be read", out->file);
        int r = make_file(out, err);
        if (r != HOB_EEXIST) return r;
    }
    return hob_fail(err, HOB_ECONFIG, 0, "%s comes and goes", out->file);
}

static int make_folder(hob_str dir, hob_error *err) {
    char *path = hob_dupz(dir);
    int rc = hob_folder_make(path, err);
    hob_free(path);
    return rc;
}

/* HOB_SERVER_TOKEN, or server.token of a file. 1: there is one. */
static int configured(hob_cli *cli, hob_serve_token *out, hob_error *err) {
    hob_str json = hob_config_get(cli->config, "server.token");
    hob_arena *a = hob_arena_create(65536);
    const hob_json *v = NULL;
    int rc = 0;
    if (json.n && hob_json_parse(a, json, NULL, &v, NULL) >= 0 && hob_json_str(v).n) {
        bool fits =
            hob_str_out(hob_json_str(v), out->text, sizeof out->text) < (int)sizeof out->text;
        rc = fits ? 1 : hob_fail(err, HOB_EINVAL, 0, "server.token is too long");
    }
    hob_arena_destroy(a);
    return rc;
}

int hob_serve_token_get(hob_cli *cli, hob_serve_token *out, hob_error *err) {
    memset(out, 0, sizeof *out);
    int given = configured(cli, out, err);
    if (given) return given < 0 ? given : HOB_OK;
    hob_str dir = hob_config_state_dir(cli->config);
    if (!dir.n)
        return hob_fail(
            err, HOB_ECONFIG, 0,
            "there is no folder to keep the token in: set HOME or HOB_HOME, or HOB_SERVER_TOKEN");
    int r = make_folder(dir, err);
    if (r < 0) return r;
    snprintf(out->file, sizeof out->file, "%.*s/server-token", HOB_FMT(dir));
    return read_or_make(out, err);
}
