/*
 * prompt.c - the prompt: words, files, pictures and standard input as content blocks.
 *
 * Standard input that somebody forgot to close must not hold us up for ever when there is a prompt
 * already: it is waited for a few seconds, then left alone, and that is said.
 */
#include "cli/ask.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define STDIN_PATIENCE_MS 3000
#define CONTENT_MAX (64u << 20)
#define READ_CHUNK 65536

void hob_prompt_finish(hob_prompt *p) {
    hob_buf_finish(&p->content);
}

static void add_text(hob_jsonw *w, hob_str text) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("text"));
    hob_jsonw_kstr(w, "text", text);
    hob_jsonw_object_end(w);
}

void hob_prompt_text(hob_prompt *p, hob_str text) {
    hob_jsonw w;
    hob_buf_init(&p->content, CONTENT_MAX);
    hob_jsonw_init(&w, &p->content);
    hob_jsonw_array(&w);
    add_text(&w, text);
    hob_jsonw_array_end(&w);
    p->given = true;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *picture_type(hob_str bytes) {
    if (hob_str_starts(bytes, HOB_STR("\x89PNG\r\n\x1a\n"))) return "image/png";
    if (hob_str_starts(bytes, HOB_STR("\xff\xd8\xff"))) return "image/jpeg";
    if (hob_str_starts(bytes, HOB_STR("GIF8"))) return "image/gif";
    if (hob_str_starts(bytes, HOB_STR("RIFF")) &&
        hob_str_starts(hob_str_skip(bytes, 8), HOB_STR("WEBP")))
        return "image/webp";
    return NULL;
}

static void add_picture(hob_jsonw *w, const char *type, hob_str bytes) {
    hob_buf data;
    hob_buf_init(&data, CONTENT_MAX);
    hob_base64_encode(&data, bytes);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("image"));
    hob_jsonw_kstr(w, "media_type", hob_str_z(type));
    hob_jsonw_kstr(w, "data", hob_buf_str(&data));
    hob_jsonw_object_end(w);
    hob_buf_finish(&data);
}

/* A labelled block: where the text came from and where it ends. */
static void add_block(hob_jsonw *w, const char *label, hob_str text) {
    hob_buf b;
    hob_buf_init(&b, CONTENT_MAX);
    hob_buf_addf(&b, "<%s>\n", label);
    hob_buf_add(&b, text);
    if (text.n && text.p[text.n - 1] != '\n') hob_buf_addc(&b, '\n');
    hob_str name = hob_str_z(label);
    ptrdiff_t space = hob_str_chr(name, ' ');
    hob_buf_addf(&b, "</%.*s>", (int)(space < 0 ? (ptrdiff_t)name.n : space), label);
    add_text(w, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static int add_file(hob_jsonw *w, const char *path, bool only_picture, hob_error *err) {
    hob_buf bytes, label;
    int code = hob_cli_file_read(path, HOB_INPUT_MAX, &bytes, err);
    if (code < 0) return code;
    const char *type = picture_type(hob_buf_str(&bytes));
    if (type) {
        add_picture(w, type, hob_buf_str(&bytes));
    } else if (only_picture) {
        code = hob_fail(err, HOB_EINVAL, 0, "%s is not a png, jpeg, gif or webp picture", path);
    } else if (!hob_utf8_valid(hob_buf_str(&bytes))) {
        code = hob_fail(err, HOB_EINVAL, 0, "%s is neither UTF-8 text nor a picture", path);
    } else {
        hob_buf_init(&label, 65536);
        hob_buf_addf(&label, "file path=\"%s\"", path);
        add_block(w, hob_buf_z(&label), hob_buf_str(&bytes));
        hob_buf_finish(&label);
    }
    hob_buf_finish(&bytes);
    return code;
}

/* ---- standard input -------------------------------------------------------------------------- */

/* 1 = there is something (or the end), 0 = silence, HOB_ECANCELLED = a signal. */
static int wait_stdin(int ms) {
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    for (;;) {
        if (hob_signals_waiting()) return HOB_ECANCELLED;
        int n = poll(&p, 1, ms);
        if (n >= 0) return n > 0;
        if (errno != EINTR) return 1; /* read() says what is wrong */
    }
}

static int read_stdin(hob_cli *cli, int patience, hob_buf *out, hob_error *err) {
    for (;;) {
        int ready = wait_stdin(patience);
        if (ready < 0) return hob_fail(err, ready, 0, "stopped while reading standard input");
        if (ready == 0) {
            hob_tell_note(
                cli, "standard input is open but silent; going on without it (use </dev/null)");
            return HOB_OK;
        }
        patience = -1; /* somebody is there: read to the end */
        char *room = hob_buf_reserve(out, READ_CHUNK);
        if (!room || out->n > HOB_INPUT_MAX)
            return hob_fail(err, HOB_EINVAL, 0,
                            "standard input is over %d MiB, too big for a prompt",
                            HOB_INPUT_MAX >> 20);
        ssize_t n = read(STDIN_FILENO, room, READ_CHUNK);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0) return hob_fail_errno(err, HOB_EINVAL, "standard input cannot be read");
        if (n == 0) return HOB_OK;
        out->n += (size_t)n;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool is_file(const hob_rest *r, size_t i) {
    const char *word = r->words.at[i];
    return i < r->literal && word[0] == '@' && word[1] && word[1] != '@';
}

/* A lone "-" says that standard input is the prompt, or part of it. */
static bool is_dash(const hob_rest *r, size_t i) {
    return i < r->literal && !strcmp(r->words.at[i], "-");
}

static void join_words(const hob_rest *r, hob_buf *out, bool *dash) {
    for (size_t i = 0; i < r->words.n; i++) {
        const char *word = r->words.at[i];
        *dash = *dash || is_dash(r, i);
        if (is_file(r, i) || is_dash(r, i)) continue;
        if (out->n) hob_buf_addc(out, ' ');
        hob_buf_addz(out, i < r->literal && word[0] == '@' && word[1] == '@' ? word + 1 : word);
    }
}

static int add_files(hob_jsonw *w, const hob_prompt_from *from, size_t *count, hob_error *err) {
    int code = HOB_OK;
    for (size_t i = 0; code >= 0 && i < from->rest->words.n; i++) {
        if (!is_file(from->rest, i)) continue;
        code = add_file(w, from->rest->words.at[i] + 1, false, err);
        if (code < 0 && err && err->sub == ENOENT)
            hob_fail(err, HOB_EINVAL, ENOENT,
                     "%.300s: there is no such file; the plain word is @%.100s",
                     from->rest->words.at[i], from->rest->words.at[i]);
        ++*count;
    }
    for (size_t i = 0; code >= 0 && i < from->images->n; i++) {
        code = add_file(w, from->images->at[i], true, err);
        ++*count;
    }
    return code;
}

typedef struct sources {
    hob_buf words, input, clean; /* input: standard input; clean: the same as UTF-8 */
} sources;

static int write_prompt(const hob_prompt_from *from, const sources *x, hob_prompt *out,
                        hob_error *err) {
    hob_jsonw w;
    size_t files = 0;
    hob_str words = hob_buf_str(&x->words), input = hob_buf_str(&x->clean);
    bool has_input = hob_str_trim(input).n > 0;
    hob_jsonw_init(&w, &out->content);
    hob_jsonw_array(&w);
    if (words.n) add_text(&w, words);
    int code = add_files(&w, from, &files, err);
    if (has_input && (words.n || files))
        add_block(&w, "stdin", input);
    else if (has_input)
        add_text(&w, input);
    hob_jsonw_array_end(&w);
    out->given = words.n || files || has_input;
    if (code >= 0 && out->content.err) code = hob_fail(err, HOB_EINVAL, 0, "the prompt is too big");
    return code;
}

static int gather(hob_cli *cli, const hob_prompt_from *from, sources *x, hob_error *err) {
    bool dash = false;
    join_words(from->rest, &x->words, &dash);
    if (!from->use_stdin || isatty(STDIN_FILENO) == 1) return HOB_OK;
    bool enough = !dash && (from->rest->words.n || from->images->n || from->optional);
    int code = read_stdin(cli, enough ? STDIN_PATIENCE_MS : -1, &x->input, err);
    if (code >= 0) hob_utf8_repair(&x->clean, hob_buf_str(&x->input));
    return code;
}

int hob_prompt_read(hob_cli *cli, const hob_prompt_from *from, hob_prompt *out, hob_error *err) {
    sources x;
    hob_prompt p = {.given = false};
    hob_buf_init(&x.words, HOB_INPUT_MAX);
    hob_buf_init(&x.input, HOB_INPUT_MAX + READ_CHUNK * 2);
    hob_buf_init(&x.clean, HOB_INPUT_MAX * 3u);
    hob_buf_init(&p.content, CONTENT_MAX);
    int code = gather(cli, from, &x, err);
    if (code >= 0) code = write_prompt(from, &x, &p, err);
    hob_buf_finish(&x.words);
    hob_buf_finish(&x.input);
    hob_buf_finish(&x.clean);
    if (code < 0)
        hob_prompt_finish(&p);
    else
        *out = p;
    return code;
}
