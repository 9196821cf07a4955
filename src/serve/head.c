/*
 * head.c - the head of a request: request line and fields.
 */
#include "serve/wire.h"

static const hob_wire_error bad_line_end = {400, "bad_request",
                                            "a line of the request does not end in CR LF"};
static const hob_wire_error bad_byte = {400, "bad_request",
                                        "there is a control character in the request"};
static const hob_wire_error bad_fold = {400, "bad_request", "folded header lines are not accepted"};
static const hob_wire_error bad_field = {400, "bad_request",
                                         "a header line is not NAME: VALUE with a plain name"};
static const hob_wire_error bad_request_line = {400, "bad_request",
                                                "the request line is not METHOD /path HTTP/1.1"};
static const hob_wire_error bad_target = {
    400, "bad_request", "the request must name a path that begins with / and has plain characters"};
static const hob_wire_error bad_host = {400, "bad_request", "exactly one Host header is needed"};
static const hob_wire_error bad_twice = {400, "bad_request",
                                         "a header that may come once came twice"};
static const hob_wire_error bad_length = {400, "bad_request", "Content-Length is not a number"};
static const hob_wire_error bad_both = {400, "bad_request",
                                        "Content-Length and Transfer-Encoding exclude each other"};
static const hob_wire_error bad_coding = {501, "not_implemented",
                                          "the only Transfer-Encoding understood here is chunked"};
static const hob_wire_error bad_expect = {417, "expectation_failed",
                                          "the only expectation understood here is 100-continue"};
static const hob_wire_error bad_upgrade = {
    400, "no_upgrade", "there is no WebSocket here; events come as text/event-stream"};
static const hob_wire_error bad_version = {505, "http_version",
                                           "only HTTP/1.0 and HTTP/1.1 are spoken here"};
static const hob_wire_error long_target = {414, "uri_too_long",
                                           "the path and query are over 8 KiB"};
static const hob_wire_error long_head = {431, "headers_too_large",
                                         "the headers are over 16 KiB or more than 64"};

/* ---- where it ends ------------------------------------------------------------------------------------ */

static bool is_control(unsigned char c) {
    return (c < 0x20 && c != '\t') || c == 0x7f;
}

/* The byte at i, given the one before it. CR and LF come as a pair; after an empty line the head is over. */
static const hob_wire_error *look_at(hob_str b, size_t i) {
    unsigned char c = (unsigned char)b.p[i], before = i ? (unsigned char)b.p[i - 1] : 0;
    if (c == '\n') return before == '\r' ? NULL : &bad_line_end;
    if (before == '\r') return &bad_line_end;
    return c == '\r' || !is_control(c) ? NULL : &bad_byte;
}

static bool ends_at(hob_str b, size_t i) {
    return b.p[i] == '\n' && i >= 3 && b.p[i - 2] == '\n';
}

ptrdiff_t hob_head_end(hob_str bytes, size_t *scanned, const hob_wire_error **why) {
    size_t n = HOB_MIN(bytes.n, (size_t)HOB_HEAD_MAX);
    for (size_t i = *scanned; i < n; i++) {
        *why = look_at(bytes, i);
        if (*why) return -1;
        if (ends_at(bytes, i)) {
            *scanned = 0;
            return (ptrdiff_t)i + 1;
        }
    }
    *scanned = n;
    if (bytes.n < HOB_HEAD_MAX) return 0;
    *why = &long_head;
    return -1;
}

/* ---- request line ------------------------------------------------------------------------------------- */

static bool is_token_char(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool hob_head_token(hob_str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!is_token_char((unsigned char)s.p[i])) return false;
    return s.n > 0;
}

/* Visible ASCII without what no URL has. */
static bool plain_target(hob_str s) {
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c <= 0x20 || c >= 0x7f || c == '#' || c == '\\' || c == '"' || c == '<' || c == '>')
            return false;
    }
    return s.n > 0 && s.p[0] == '/';
}

static const hob_wire_error *read_target(hob_str target, hob_head *h) {
    if (target.n > HOB_TARGET_MAX) return &long_target;
    if (!plain_target(target)) return &bad_target;
    h->query = HOB_STR_NULL;
    h->path = target;
    ptrdiff_t mark = hob_str_chr(target, '?');
    if (mark < 0) return NULL;
    h->path = hob_str_first(target, (size_t)mark);
    h->query = hob_str_skip(target, (size_t)mark + 1);
    return NULL;
}

static const hob_wire_error *read_request_line(hob_str line, hob_head *h) {
    hob_str rest = line, target, version;
    if (!hob_str_split(&rest, ' ', &h->method) || !hob_str_split(&rest, ' ', &target) ||
        !hob_str_split(&rest, ' ', &version) || rest.p)
        return line.n > HOB_TARGET_MAX ? &long_target : &bad_request_line;
    if (!hob_head_token(h->method) || h->method.n > 32) return &bad_request_line;
    if (!hob_str_starts(version, HOB_STR("HTTP/"))) return &bad_request_line;
    bool one = version.n == 8 && hob_str_starts(version, HOB_STR("HTTP/1."));
    if (!one || (version.p[7] != '0' && version.p[7] != '1')) return &bad_version;
    h->minor = version.p[7] - '0';
    return read_target(target, h);
}

/* ---- fields ------------------------------------------------------------------------------------------- */

static const hob_wire_error *read_field(hob_str line, hob_head *h) {
    if (line.p[0] == ' ' || line.p[0] == '\t') return &bad_fold;
    if (h->nfields == HOB_HEAD_FIELDS) return &long_head;
    ptrdiff_t colon = hob_str_chr(line, ':');
    if (colon <= 0) return &bad_field;
    hob_field *f = &h->fields[h->nfields++];
    f->name = hob_str_first(line, (size_t)colon);
    f->value = hob_str_trim(hob_str_skip(line, (size_t)colon + 1));
    return hob_head_token(f->name) ? NULL : &bad_field;
}

hob_str hob_head_field(const hob_head *h, const char *name) {
    for (size_t i = 0; i < h->nfields; i++)
        if (hob_str_ieq(h->fields[i].name, hob_str_z(name))) return h->fields[i].value;
    return HOB_STR_NULL;
}

static size_t count(const hob_head *h, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < h->nfields; i++) n += hob_str_ieq(h->fields[i].name, hob_str_z(name));
    return n;
}

/* Those on which decisions hang: two of them would be two opinions. */
static const hob_wire_error *check_single(const hob_head *h) {
    static const char *const single[] = {"content-length",    "content-type",   "authorization",
                                         "transfer-encoding", "origin",         "expect",
                                         "sec-fetch-site",    "sec-fetch-mode", "sec-fetch-dest",
                                         "last-event-id",     "idempotency-key"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(single); i++)
        if (count(h, single[i]) > 1) return &bad_twice;
    size_t hosts = count(h, "host");
    return hosts > 1 || (hosts == 0 && h->minor > 0) ? &bad_host : NULL;
}

static bool all_digits(hob_str s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9') return false;
    return s.n > 0 && s.n <= 18;
}

static const hob_wire_error *read_framing(hob_head *h) {
    hob_str length = hob_head_field(h, "content-length");
    hob_str coding = hob_head_field(h, "transfer-encoding");
    if (length.p && coding.p) return &bad_both;
    if (length.p) {
        if (!all_digits(length)) return &bad_length;
        hob_str_int(length, &h->length);
    }
    if (!coding.p) return NULL;
    if (h->minor == 0 || !hob_str_ieq(coding, HOB_STR("chunked"))) return &bad_coding;
    h->chunked = true;
    return NULL;
}

/* Is the word one of a list with commas? */
static bool lists(hob_str list, hob_str word) {
    hob_str part;
    while (hob_str_split(&list, ',', &part))
        if (hob_str_ieq(hob_str_trim(part), word)) return true;
    return false;
}

static const hob_wire_error *read_manners(hob_head *h) {
    hob_str connection = hob_head_field(h, "connection"), expect = hob_head_field(h, "expect");
    h->keep_alive = h->minor > 0 ? !lists(connection, HOB_STR("close"))
                                 : lists(connection, HOB_STR("keep-alive"));
    if (expect.p && !hob_str_ieq(expect, HOB_STR("100-continue"))) return &bad_expect;
    h->expects = expect.p && h->minor > 0;
    if (lists(hob_head_field(h, "upgrade"), HOB_STR("websocket"))) return &bad_upgrade;
    h->host = hob_head_field(h, "host");
    return NULL;
}

static const hob_wire_error *read_lines(hob_str rest, hob_head *h) {
    const hob_wire_error *why = NULL;
    bool first = true;
    while (!why && rest.n > 2) {
        ptrdiff_t end = hob_str_find(rest, HOB_STR("\r\n"));
        if (end <= 0) return &bad_request_line; /* an empty line before the request */
        hob_str line = hob_str_first(rest, (size_t)end);
        why = first ? read_request_line(line, h) : read_field(line, h);
        rest = hob_str_skip(rest, (size_t)end + 2);
        first = false;
    }
    return first ? &bad_request_line : why;
}

const hob_wire_error *hob_head_parse(hob_str head, hob_head *out) {
    memset(out, 0, sizeof *out);
    const hob_wire_error *why = read_lines(head, out);
    if (!why) why = check_single(out);
    if (!why) why = read_framing(out);
    if (!why) why = read_manners(out);
    return why;
}
