/*
 * sse.c - the event stream reader.
 *
 * Lines that are whole in the input are read where they stand; only the piece of a line at the end of
 * the input is kept in `line`. The ceiling counts the bytes of a line wherever they are, so that the
 * result does not depend on how the input was cut.
 *
 * `next_end` remembers the next LF and the next CR: searching for either anew at every line would be
 * quadratic on input that only has the other one.
 */
#include "net/sse.h"

#define DEFAULT_MAX ((size_t)16 << 20)

void hob_sse_init(hob_sse *s, size_t max_event, hob_sse_fn fn, void *user) {
    size_t max = max_event ? max_event : DEFAULT_MAX;
    *s = (hob_sse){.fn = fn, .user = user};
    hob_buf_init(&s->line, max);
    hob_buf_init(&s->data, max);
    hob_buf_init(&s->event, max);
    hob_buf_init(&s->id, max);
}

void hob_sse_finish(hob_sse *s) {
    hob_buf_finish(&s->line);
    hob_buf_finish(&s->data);
    hob_buf_finish(&s->event);
    hob_buf_finish(&s->id);
}

/* ---- one line ------------------------------------------------------------------------------ */

static int set(hob_buf *b, hob_str value) {
    hob_buf_reset(b);
    return hob_buf_add(b, value);
}

static int add_data(hob_sse *s, hob_str value) {
    if (s->has_data) hob_buf_addc(&s->data, '\n');
    s->has_data = true;
    return hob_buf_add(&s->data, value);
}

static int dispatch(hob_sse *s) {
    int r = HOB_OK;
    if (s->has_data) {
        hob_sse_event e = {hob_buf_str(&s->event), hob_buf_str(&s->data), hob_buf_str(&s->id)};
        r = s->fn(&e, s->user);
    }
    s->has_data = false;
    hob_buf_reset(&s->data);
    hob_buf_reset(&s->event);
    return r < 0 ? r : HOB_OK;
}

static int read_line(hob_sse *s, hob_str line) {
    if (line.n == 0) return dispatch(s);
    ptrdiff_t colon = hob_str_chr(line, ':');
    if (colon == 0) return HOB_OK; /* a comment */
    hob_str name = colon < 0 ? line : hob_str_first(line, (size_t)colon);
    hob_str value = colon < 0 ? HOB_STR("") : hob_str_skip(line, (size_t)colon + 1);
    if (value.n > 0 && value.p[0] == ' ') value = hob_str_skip(value, 1);
    if (hob_str_eqz(name, "data")) return add_data(s, value);
    if (hob_str_eqz(name, "event")) return set(&s->event, value);
    if (hob_str_eqz(name, "id") && hob_str_chr(value, '\0') < 0) return set(&s->id, value);
    return HOB_OK; /* retry and unknown fields */
}

/* ---- the input ----------------------------------------------------------------------------- */

/* Takes a BOM off the very start; a beginning of one that turns out to be text goes into `line`. */
static int skip_bom(hob_sse *s, hob_str *in) {
    static const char bom[] = "\xEF\xBB\xBF";
    while (in->n > 0 && s->bom_seen < 3 && in->p[0] == bom[s->bom_seen]) {
        s->bom_seen++;
        *in = hob_str_skip(*in, 1);
    }
    if (s->bom_seen < 3 && in->n == 0) return HOB_OK;
    s->bom_checked = true;
    return s->bom_seen < 3 ? hob_buf_add(&s->line, hob_str_n(bom, s->bom_seen)) : HOB_OK;
}

static int keep(hob_sse *s, hob_str piece) {
    return piece.n ? hob_buf_add(&s->line, piece) : HOB_OK;
}

static int end_line(hob_sse *s, hob_str piece) {
    if (s->line.n == 0) return piece.n > s->line.max ? HOB_ETOOBIG : read_line(s, piece);
    int r = keep(s, piece);
    if (r == HOB_OK) r = read_line(s, hob_buf_str(&s->line));
    hob_buf_reset(&s->line);
    return r;
}

typedef struct line_ends {
    const char *lf, *cr; /* at or after the position asked for; `end` if there is none */
    const char *end;
} line_ends;

static const char *find(const char *p, const char *end, char c) {
    const char *at = p < end ? memchr(p, c, (size_t)(end - p)) : NULL;
    return at ? at : end;
}

static const char *next_end(line_ends *e, const char *p) {
    if (e->lf < p) e->lf = find(p, e->end, '\n');
    if (e->cr < p) e->cr = find(p, e->end, '\r');
    return HOB_MIN(e->lf, e->cr);
}

static int read_lines(hob_sse *s, hob_str in) {
    const char *p = in.p, *end = in.p + in.n;
    line_ends ends = {find(p, end, '\n'), find(p, end, '\r'), end};
    while (p < end) {
        if (s->after_cr && *p == '\n') p++; /* the second half of CRLF */
        s->after_cr = false;
        const char *stop = next_end(&ends, p);
        hob_str piece = hob_str_n(p, (size_t)(stop - p));
        if (stop == end) return keep(s, piece);
        s->after_cr = *stop == '\r';
        int r = end_line(s, piece);
        if (r < 0) return r;
        p = stop + 1;
    }
    return HOB_OK;
}

int hob_sse_feed(hob_sse *s, hob_str bytes) {
    if (s->err < 0) return s->err;
    if (!s->bom_checked) s->err = skip_bom(s, &bytes);
    if (s->err == HOB_OK && bytes.n > 0) s->err = read_lines(s, bytes);
    return s->err;
}
