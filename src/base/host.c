/*
 * host.c - the name of a host.
 */
#include "base/host.h"

#include <arpa/inet.h>

static int refuse(hob_error *err, hob_str text, const char *why) {
    char shown[96];
    hob_str_out(hob_str_first(text, HOB_MIN(text.n, sizeof shown - 1)), shown, sizeof shown);
    for (char *p = shown; *p; p++)
        if (*p < 0x20 || *p > 0x7e) *p = '?';
    return hob_fail(err, HOB_EINVAL, 0, "'%s' is not the name of a host: %s", shown, why);
}

/* ---- names ------------------------------------------------------------------------------------------- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_ldh(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

static bool good_label(hob_str label) {
    if (!label.n || label.n > 63 || label.p[0] == '-' || label.p[label.n - 1] == '-') return false;
    for (size_t i = 0; i < label.n; i++)
        if (!is_ldh(label.p[i])) return false;
    return true;
}

/* "255", "0x7f": resolvers take a name for an address by its last label. */
static bool is_number(hob_str label) {
    if (label.n > 1 && label.p[0] == '0' && (label.p[1] | 32) == 'x') return true;
    for (size_t i = 0; i < label.n; i++)
        if (!is_digit(label.p[i])) return false;
    return true;
}

static int copy_name(hob_str text, hob_host *out) {
    hob_str rest = text, label = text;
    while (hob_str_split(&rest, '.', &label))
        if (!good_label(label)) return HOB_EINVAL;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        out->name[i] = c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
    }
    out->name[text.n] = 0;
    out->kind = HOB_HOST_NAME;
    if (!is_number(label)) return HOB_OK;
    struct in_addr a;
    out->kind = HOB_HOST_IPV4;
    return inet_pton(AF_INET, out->name, &a) == 1 ? HOB_OK : HOB_EINVAL;
}

static int read_name(hob_str text, hob_host *out, hob_error *err) {
    if (text.n > 1 && text.p[text.n - 1] == '.') text.n--;
    if (!text.n || text.n > 253) return refuse(err, text, "it is empty or over 253 characters");
    if (copy_name(text, out) < 0)
        return refuse(err, text, "use letters, digits, hyphens and dots, or a whole IPv4 address");
    return HOB_OK;
}

static int read_ipv6(hob_str text, hob_host *out, hob_error *err) {
    char z[INET6_ADDRSTRLEN];
    struct in6_addr a;
    if (text.n >= sizeof z) return refuse(err, text, "it is too long for an IPv6 address");
    if (memchr(text.p, 0, text.n)) return refuse(err, text, "it has a NUL in it");
    hob_str_out(text, z, sizeof z);
    if (inet_pton(AF_INET6, z, &a) != 1) return refuse(err, text, "it is no IPv6 address");
    inet_ntop(AF_INET6, &a, out->name, sizeof out->name);
    out->kind = HOB_HOST_IPV6;
    return HOB_OK;
}

/* ---- with a port --------------------------------------------------------------------------------------- */

static int read_port(hob_str digits, hob_host *out, hob_error *err) {
    int64_t port = 0;
    bool plain = digits.n > 0 && digits.n <= 5;
    for (size_t i = 0; plain && i < digits.n; i++) plain = is_digit(digits.p[i]);
    if (!plain || hob_str_int(digits, &port) < 0 || port < 1 || port > 65535)
        return refuse(err, digits, "a port is a number from 1 to 65535");
    out->port = (int)port;
    return HOB_OK;
}

static int read_host(hob_str text, hob_host *out, hob_error *err) {
    memset(out, 0, sizeof *out);
    bool bracket = text.n && text.p[0] == '[';
    ptrdiff_t end = hob_str_chr(text, bracket ? ']' : ':');
    if (bracket && end < 0) return refuse(err, text, "a ] is missing");
    size_t name = end < 0 ? text.n : (size_t)end;
    hob_str after = hob_str_skip(text, name + bracket);
    int r = bracket ? read_ipv6(hob_str_n(text.p + 1, name - 1), out, err)
                    : read_name(hob_str_first(text, name), out, err);
    if (r < 0 || !after.n) return r;
    if (after.p[0] != ':') return refuse(err, text, "only a port may follow the address");
    return read_port(hob_str_skip(after, 1), out, err);
}

int hob_host_parse(hob_str text, hob_host *out, hob_error *err) {
    hob_host h;
    int r = read_host(text, &h, err);
    if (r >= 0) *out = h;
    return r;
}

int hob_host_parse_rule(hob_str text, hob_host *out, hob_error *err) {
    hob_host h;
    bool below = hob_str_starts(text, HOB_STR("*."));
    int r = read_host(below ? hob_str_skip(text, 2) : text, &h, err);
    if (r < 0) return r;
    if (below && h.kind != HOB_HOST_NAME) return refuse(err, text, "nothing is below an address");
    h.below = below;
    *out = h;
    return HOB_OK;
}

/* ---- comparing ------------------------------------------------------------------------------------------ */

/* At a label's boundary, and something stands before it. */
static bool is_below(hob_str name, hob_str above) {
    return name.n > above.n + 1 && hob_str_ends(name, above) && name.p[name.n - above.n - 1] == '.';
}

bool hob_host_matches(const hob_host *rule, const hob_host *host) {
    hob_str name = hob_str_z(host->name), wanted = hob_str_z(rule->name);
    if (rule->kind != host->kind || (rule->port && rule->port != host->port)) return false;
    return rule->below ? is_below(name, wanted) : hob_str_eq(name, wanted);
}

bool hob_host_is_loopback(const hob_host *h) {
    hob_str name = hob_str_z(h->name), local = HOB_STR("localhost");
    switch (h->kind) {
    case HOB_HOST_NAME: return hob_str_eq(name, local) || is_below(name, local);
    case HOB_HOST_IPV4: return hob_str_starts(name, HOB_STR("127."));
    case HOB_HOST_IPV6: return hob_str_eq(name, HOB_STR("::1"));
    }
    return false;
}

int hob_origin_parse(hob_str text, hob_origin_of *out, hob_error *err) {
    bool tls = hob_str_starts(text, HOB_STR("https://"));
    if (!tls && !hob_str_starts(text, HOB_STR("http://")))
        return refuse(err, text, "an origin is http://HOST[:PORT] or https://HOST[:PORT]");
    hob_host h;
    int r = read_host(hob_str_skip(text, tls ? 8 : 7), &h, err);
    if (r < 0) return r;
    if (!h.port) h.port = tls ? 443 : 80;
    out->tls = tls;
    out->host = h;
    return HOB_OK;
}

bool hob_origin_same(const hob_origin_of *a, const hob_origin_of *b) {
    return a->tls == b->tls && a->host.port == b->host.port && hob_host_matches(&a->host, &b->host);
}

/* ---- escapes ---------------------------------------------------------------------------------- */

static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hob_percent_decode(hob_str s, size_t *i) {
    if (s.p[*i] != '%') return (unsigned char)s.p[*i];
    if (*i + 2 >= s.n || hex(s.p[*i + 1]) < 0 || hex(s.p[*i + 2]) < 0) return -1;
    *i += 2;
    return hex(s.p[*i - 1]) << 4 | hex(s.p[*i]);
}
