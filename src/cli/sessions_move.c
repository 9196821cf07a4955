/*
 * sessions_move.c - `hob sessions export`, `import`: a session as a file, and back.
 */
#include "cli/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 << 10, LINE_MAX_BYTES = 65 << 20 };

/* ---- export ---------------------------------------------------------------------------------- */

/* What stands in memory is bounded: a reader that is slow is waited for. */
static int put_line(hob_str line, void *user) {
    hob_out *o = user;
    hob_out_add(o, line);
    hob_out_add(o, HOB_STR("\n"));
    if (hob_out_waiting(o) >= HOB_OUT_FULL) hob_out_flush(o);
    return o->err || hob_signals_waiting() ? HOB_ECANCELLED : HOB_OK;
}

static int export_to(hob_sessions_job *j, hob_out *out, hob_error *err) {
    bool text = j->o->format && !strcmp(j->o->format, "markdown");
    hob_page *page = NULL;
    char id[160];
    int code = hob_sessions_find(j, hob_sessions_word(j, 0), &page, err);
    if (code < 0) return code;
    hob_str row = hob_page_row(page, 0);
    code = hob_json_field(row, "id", id, sizeof id);
    if (code >= 0 && text)
        code = hob_sessions_markdown(j, row, out, err);
    else if (code >= 0)
        code = hob_runtime_export_session(j->cli->rt, id, &j->of, put_line, out, err);
    hob_page_destroy(page);
    hob_out_flush(out);
    return code;
}

/* A file that is not whole is not left behind. */
int hob_sessions_export(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    hob_out out;
    if (!j->o->file) return export_to(j, &j->cli->out, err);
    int fd = open(j->o->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return hob_fail(err, HOB_EINVAL, errno, "cannot make %s: %s", j->o->file, strerror(errno));
    hob_out_init(&out, fd);
    int code = export_to(j, &out, err);
    if (code >= 0 && out.err)
        code =
            hob_fail(err, HOB_EIO, out.err, "cannot write %s: %s", j->o->file, strerror(out.err));
    hob_out_finish(&out);
    if (close(fd) < 0 && code >= 0)
        code = hob_fail(err, HOB_EIO, errno, "cannot write %s: %s", j->o->file, strerror(errno));
    if (code < 0) unlink(j->o->file);
    return code;
}

/* ---- import ---------------------------------------------------------------------------------- */

/* Whole lines of the buffer; at the end of the file also one without its newline. */
static int give_lines(hob_import *im, hob_buf *b, bool end, hob_error *err) {
    hob_str rest = hob_buf_str(b), line;
    int code = HOB_OK;
    ptrdiff_t n;
    while (code >= 0 && (n = hob_str_chr(rest, '\n')) >= 0) {
        line = hob_str_first(rest, (size_t)n);
        rest = hob_str_skip(rest, (size_t)n + 1);
        code = hob_import_line(im, line, err);
    }
    if (code >= 0 && end && rest.n) code = hob_import_line(im, rest, err);
    memmove(b->p, rest.p, rest.n);
    b->n = rest.n;
    return code;
}

static int read_all(hob_import *im, int fd, const char *name, hob_error *err) {
    hob_buf b;
    char chunk[CHUNK];
    int code = HOB_OK;
    ssize_t n = 1;
    hob_buf_init(&b, LINE_MAX_BYTES);
    while (code >= 0 && n > 0) {
        n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR && !hob_signals_waiting()) {
            n = 1;
            continue;
        }
        if (n < 0)
            code = hob_fail(err, HOB_EIO, errno, "cannot read %s: %s", name, strerror(errno));
        if (n > 0) hob_buf_add(&b, hob_str_n(chunk, (size_t)n));
        if (code >= 0 && b.err)
            code = hob_fail(err, HOB_ETOOBIG, 0, "a line of %s is too long", name);
        if (code >= 0) code = give_lines(im, &b, n == 0, err);
    }
    hob_buf_finish(&b);
    return code;
}

static void tell_rows(hob_sessions_job *j, const hob_page *page) {
    char id[160], from[160];
    if (j->o->json) {
        hob_page_print_json(j->cli, page);
        return;
    }
    for (size_t i = 0; i < hob_page_count(page); i++) {
        hob_str row = hob_page_row(page, i);
        if (hob_json_field(row, "id", id, sizeof id) < 0) continue;
        if (i == 0) hob_out_addf(&j->cli->out, "%s\n", id);
        if (hob_json_field(row, "from", from, sizeof from) >= 0)
            hob_tell_note(j->cli, "session %s exists here already: this one is %s", from, id);
    }
}

int hob_sessions_import(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    const char *name = j->words->at[0];
    hob_import *im = NULL;
    hob_page *page = NULL;
    bool standard = !strcmp(name, "-");
    int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return hob_fail(err, HOB_EINVAL, errno, "cannot read %s: %s", name, strerror(errno));
    int code = hob_import_create(j->cli->rt, &j->of, &im, err);
    if (code >= 0) code = read_all(im, fd, name, err);
    if (code >= 0) code = hob_import_commit(im, &page, err);
    if (code >= 0) tell_rows(j, page);
    hob_page_destroy(page);
    hob_import_destroy(im);
    if (!standard) close(fd);
    return code;
}
