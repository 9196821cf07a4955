/*
 * read.c - the tool `read`: a page of a text file, or an image.
 *
 * At most 2000 lines or 50 KiB come back, whole lines only, and the answer says how to go on. The rest
 * of the file is looked through a little further, so that "of N lines" can be said of files of usual
 * size.
 *
 * With a back end the file is opened all the same: what is an image or no text is read here, and only text, or what is
 * not there on the disk, is asked for.
 */
#include "tool/builtin.h"
#include "tool/excerpt.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINES 2000
#define MAX_BYTES (50 * 1024)
#define MAX_IMAGE (5 * 1024 * 1024)
#define CHUNK (64 * 1024)
#define LOOK_FOR_NUL (8 * 1024)
#define MAX_SKIP ((int64_t)1 << 30)  /* bytes before the first line wanted */
#define LOOK_AHEAD (8 * 1024 * 1024) /* bytes behind the page, to count lines */

typedef struct reading {
    hob_file_call *call;
    hob_reply *reply;
    hob_str path;
    int fd;
    hob_str rest; /* fd -1: what is to be read instead */
    char *chunk;
    hob_excerpt page;
    int64_t scanned;
    bool whole; /* the end of the file was reached: page.lines is all there are */
} reading;

/* ---- images -------------------------------------------------------------------------------- */

static const char *image_type(hob_str head) {
    static const struct {
        const char *magic;
        size_t n;
        const char *type;
    } kinds[] = {
        {"\x89PNG\r\n\x1a\n", 8, "image/png"},
        {"\xff\xd8\xff", 3, "image/jpeg"},
        {"GIF87a", 6, "image/gif"},
        {"GIF89a", 6, "image/gif"},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(kinds); i++)
        if (hob_str_starts(head, hob_str_n(kinds[i].magic, kinds[i].n))) return kinds[i].type;
    if (hob_str_starts(head, HOB_STR("RIFF")) && head.n >= 12 && !memcmp(head.p + 8, "WEBP", 4))
        return "image/webp";
    return NULL;
}

static ssize_t read_some(reading *r, char *to, size_t n) {
    ssize_t got;
    if (r->fd < 0) { /* text that the back end gave */
        n = HOB_MIN(n, r->rest.n);
        if (n) memcpy(to, r->rest.p, n);
        r->rest = hob_str_skip(r->rest, n);
        return (ssize_t)n;
    }
    do got = read(r->fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

/* The rest of the file behind `head`. */
static bool read_rest(reading *r, hob_buf *bytes) {
    ssize_t n = 1;
    while (n > 0 && !bytes->err) {
        n = read_some(r, r->chunk, CHUNK);
        if (n > 0) hob_buf_add(bytes, hob_str_n(r->chunk, (size_t)n));
    }
    return n == 0 && !bytes->err;
}

static void answer_image(reading *r, const char *type, hob_str bytes) {
    hob_buf json;
    hob_buf_init(&json, 2 * MAX_IMAGE);
    hob_buf_addf(&json, "[{\"type\":\"image\",\"media_type\":\"%s\",\"data\":\"", type);
    hob_base64_encode(&json, bytes);
    hob_buf_addz(&json, "\"}]");
    hob_reply_content(r->reply, HOB_OUTCOME_OK, hob_buf_str(&json));
    hob_buf_finish(&json);
}

static void read_image(reading *r, const char *type, hob_str head) {
    hob_buf bytes;
    hob_buf_init(&bytes, MAX_IMAGE);
    hob_buf_add(&bytes, head);
    if (read_rest(r, &bytes))
        answer_image(r, type, hob_buf_str(&bytes));
    else if (bytes.err)
        hob_reply_error(r->reply, "%.*s is an image of more than %d MiB; make it smaller first",
                        HOB_FMT(hob_str_first(r->path, 300)), MAX_IMAGE >> 20);
    else
        hob_reply_error(r->reply, "cannot read %.*s (errno %d)",
                        HOB_FMT(hob_str_first(r->path, 300)), errno);
    hob_buf_finish(&bytes);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void refuse_binary(reading *r, hob_str head) {
    bool utf16 =
        hob_str_starts(head, HOB_STR("\xff\xfe")) || hob_str_starts(head, HOB_STR("\xfe\xff"));
    hob_reply_error(r->reply,
                    utf16 ? "%.*s is UTF-16; convert it first, for example with iconv in bash"
                          : "%.*s is a binary file; look at it with file, xxd or strings in bash",
                    HOB_FMT(hob_str_first(r->path, 300)));
}

/* Goes on until the page is full, and a bit further to count lines. */
static bool scan(reading *r) {
    int64_t full_at = -1;
    while (!r->whole) {
        if (atomic_load(&r->call->cancelled)) return true;
        if (r->page.full && full_at < 0) full_at = r->scanned;
        if (full_at >= 0 ? r->scanned - full_at > LOOK_AHEAD : r->scanned > MAX_SKIP) return true;
        ssize_t n = read_some(r, r->chunk, CHUNK);
        if (n < 0) return false;
        if (n == 0) {
            hob_excerpt_end(&r->page);
            r->whole = true;
        } else {
            hob_excerpt_add(&r->page, hob_str_n(r->chunk, (size_t)n));
            r->scanned += n;
        }
    }
    return true;
}

/* An empty page: why? */
static void answer_nothing(reading *r) {
    const hob_excerpt *p = &r->page;
    hob_str path = hob_str_first(r->path, hob_utf8_prefix(r->path, 200));
    if (p->long_line)
        hob_reply_error(r->reply,
                        "line %lld is %zu bytes long%s, and at most %d are shown at once; take a "
                        "part of it in bash: sed -n '%lldp' '%.*s' | cut -c 1-2000",
                        (long long)p->offset, p->long_line, r->whole ? "" : " or more", MAX_BYTES,
                        (long long)p->offset, HOB_FMT(path));
    else if (!r->whole)
        hob_reply_error(r->reply,
                        "line %lld is more than %lld MiB into the file; use sed -n in bash",
                        (long long)p->offset, (long long)(MAX_SKIP >> 20));
    else if (p->lines == 0 && p->offset == 1)
        hob_reply_text(r->reply, HOB_OUTCOME_OK, HOB_STR("(the file is empty)"));
    else
        hob_reply_error(r->reply, "offset %lld is behind the end: %.*s has %lld line%s",
                        (long long)p->offset, HOB_FMT(path), (long long)p->lines,
                        p->lines == 1 ? "" : "s");
}

static void add_notes(reading *r, hob_buf *out, bool repaired) {
    const hob_excerpt *p = &r->page;
    int64_t last = p->offset + p->kept - 1;
    bool more = !r->whole || last < p->lines, other = r->call->told && r->call->answer.n;
    if (!more && !repaired && !other) return;
    if (out->p[out->n - 1] != '\n') hob_buf_addc(out, '\n');
    if (more)
        hob_buf_addf(out, "\n[lines %lld-%lld of %s%lld; to go on: offset %lld]",
                     (long long)p->offset, (long long)last, r->whole ? "" : "more than ",
                     (long long)p->lines, (long long)last + 1);
    if (repaired)
        hob_buf_addz(out, "\n[bytes that are not UTF-8 are shown as \xEF\xBF\xBD; writing this "
                          "text back would lose them]");
    if (other)
        hob_buf_addf(
            out, "\n[this is what the disk has; %s did not give its view: %.*s]",
            r->call->backend.name,
            HOB_FMT(hob_str_first(r->call->answer, hob_utf8_prefix(r->call->answer, 200))));
}

static void answer_page(reading *r) {
    hob_str text = hob_str_first(hob_buf_str(&r->page.text), r->page.whole);
    hob_tool_result result = {.outcome = HOB_OUTCOME_OK, .exit_code = -1};
    hob_buf out;
    if (memchr(text.p, '\0', text.n)) {
        refuse_binary(r, text);
        return;
    }
    hob_buf_init(&out, 4 * MAX_BYTES);
    hob_utf8_repair(&out, text);
    add_notes(r, &out, !hob_utf8_valid(text));
    result.truncated = !r->whole || r->page.offset + r->page.kept - 1 < r->page.lines;
    hob_reply_words(r->reply, &result, hob_buf_str(&out));
    hob_buf_finish(&out);
}

static void read_text(reading *r, hob_str head) {
    hob_excerpt_init(&r->page, hob_builtin_call_int(&r->call->base, "offset", 1),
                     HOB_MIN(hob_builtin_call_int(&r->call->base, "limit", MAX_LINES), MAX_LINES),
                     MAX_BYTES);
    hob_excerpt_add(&r->page, head);
    r->scanned = (int64_t)head.n;
    if (!scan(r))
        hob_reply_error(r->reply, "cannot read %.*s (errno %d)",
                        HOB_FMT(hob_str_first(r->path, 300)), errno);
    else if (atomic_load(&r->call->cancelled))
        hob_reply_text(r->reply, HOB_OUTCOME_CANCELLED, HOB_STR("cancelled"));
    else if (r->page.kept == 0)
        answer_nothing(r);
    else
        answer_page(r);
    hob_excerpt_finish(&r->page);
}

/* ---- the back end's view ------------------------------------------------------------------------ */

static void run_given(hob_file_call *f) {
    reading r = {.call = f, .reply = f->base.reply, .fd = -1, .rest = f->answer};
    r.path = hob_json_get_str(f->base.args, "path");
    r.chunk = hob_alloc(CHUNK);
    ssize_t n = read_some(&r, r.chunk, CHUNK);
    read_text(&r, hob_str_n(r.chunk, (size_t)n));
    hob_free(r.chunk);
}

static void run_work(hob_file_call *f);

static void on_answer(hob_asked *q, const hob_tool_result *result) {
    hob_file_call *f = HOB_CONTAINER(q, hob_file_call, asked);
    bool given = result->outcome == HOB_OUTCOME_OK && !result->passed;
    f->answer = hob_asked_text(result, f->base.arena);
    f->told = !given;
    hob_file_call_again(f, given ? run_given : run_work);
}

static void ask(hob_file_call *f) {
    hob_file_call_ask(f, f->backend.read, on_answer);
}

/* True: it will be asked for. */
static bool wants_view(hob_file_call *f, hob_str real) {
    hob_buf name;
    if (!f->backend.read || f->told) return false;
    hob_buf_init(&name, 16 * 1024);
    int code = hob_workspace_name(f->workspace, real, HOB_WORKSPACE_READ, &name, NULL);
    if (code >= 0) {
        f->what.path = hob_arena_dup(f->base.arena, hob_buf_str(&name));
        f->next = ask;
    }
    hob_buf_finish(&name);
    return code >= 0;
}

/* ---- the call ------------------------------------------------------------------------------ */

static void read_open(reading *r, hob_str real) {
    ssize_t n = read_some(r, r->chunk, CHUNK);
    if (n < 0) {
        hob_reply_error(r->reply, "cannot read %.*s (errno %d)",
                        HOB_FMT(hob_str_first(r->path, 300)), errno);
        return;
    }
    hob_str head = hob_str_n(r->chunk, (size_t)n);
    const char *type = image_type(head);
    if (type)
        read_image(r, type, head);
    else if (memchr(head.p, '\0', HOB_MIN(head.n, LOOK_FOR_NUL)))
        refuse_binary(r, head);
    else if (!wants_view(r->call, real))
        read_text(r, head);
}

static void run_work(hob_file_call *f) {
    reading r = {.call = f, .reply = f->base.reply};
    hob_error err = {.message = ""};
    hob_str real;
    r.path = hob_json_get_str(f->base.args, "path");
    if (!hob_file_call_path(f, &hob_read_tool, &real)) return;
    int code = hob_workspace_open_file(f->workspace, real, &r.fd, &err);
    if (code == HOB_ENOENT && wants_view(f, real)) return; /* it may be there, not yet saved */
    if (code < 0) {
        hob_reply_error(r.reply, "%s", err.message);
        return;
    }
    r.chunk = hob_alloc(CHUNK);
    read_open(&r, real);
    hob_free(r.chunk);
    close(r.fd);
}

static void run(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_file_call_start(user, call, reply, run_work);
}

const hob_tool hob_read_tool = {
    .size = sizeof(hob_tool),
    .name = "read",
    .description = "Reads a text file of the workspace, or shows an image (png, jpeg, gif, webp). "
                   "At most 2000 lines or 50 KiB come back at once; the answer says at which "
                   "offset to go on.",
    .schema = "{\"type\":\"object\",\"properties\":{"
              "\"path\":{\"type\":\"string\",\"minLength\":1,\"description\":"
              "\"relative to the workspace, or absolute inside it\"},"
              "\"offset\":{\"type\":\"integer\",\"minimum\":1,\"description\":"
              "\"first line, counted from 1\"},"
              "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"description\":"
              "\"how many lines at most\"}},"
              "\"required\":[\"path\"],\"additionalProperties\":false}",
    .class_ = HOB_TOOL_READ_ONLY,
    .timeout_ms = 60 * 1000,
    .run = run,
};
