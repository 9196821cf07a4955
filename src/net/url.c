/*
 * url.c - URLs and the NO_PROXY list.
 */
#include "net/url.h"

#include <arpa/inet.h>

static hob_str after_last(hob_str s, char c) {
    for (ptrdiff_t at; (at = hob_str_chr(s, c)) >= 0;) {
        s = hob_str_skip(s, (size_t)at + 1);
    }
    return s;
}

/* A password before '@' is not shown. */
static int bad(hob_error *err, hob_str text, const char *why) {
    hob_str shown = after_last(text, '@');
    shown = hob_str_first(shown, hob_utf8_prefix(shown, 200));
    return hob_fail(err, HOB_EINVAL, 0, "'%.*s' is not a usable URL: %s", HOB_FMT(shown), why);
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

static bool is_name(hob_str host) {
    for (size_t i = 0; i < host.n; i++) {
        if (!is_name_char(host.p[i])) return false;
    }
    return host.n > 0 && host.n <= 253 && host.p[0] != '.';
}

static bool pton(int family, hob_str host, unsigned char out[16]) {
    char z[INET6_ADDRSTRLEN];
    if (host.n == 0 || host.n >= sizeof(z)) return false;
    memcpy(z, host.p, host.n);
    z[host.n] = '\0';
    return inet_pton(family, z, out) == 1;
}

bool hob_host_is_numeric(hob_str host) {
    unsigned char bytes[16];
    return pton(AF_INET, host, bytes) || pton(AF_INET6, host, bytes);
}

bool hob_host_is_local(hob_str host) {
    hob_str name = HOB_STR("localhost");
    if (hob_str_ieq(host, name)) return true;
    if (host.n <= name.n || host.p[host.n - name.n - 1] != '.') return false;
    return hob_str_ieq(hob_str_skip(host, host.n - name.n), name);
}

static int default_port(hob_str scheme) {
    static const struct {
        const char *scheme;
        int port;
    } known[] = {{"http", 80},      {"https", 443},   {"socks4", 1080},
                 {"socks4a", 1080}, {"socks5", 1080}, {"socks5h", 1080}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(known); i++) {
        if (hob_str_ieq(scheme, hob_str_z(known[i].scheme))) return known[i].port;
    }
    return 0;
}

/* host[:port] or [v6][:port] */
static const char *parse_host(hob_str s, hob_url *u) {
    unsigned char bytes[16];
    int64_t port;
    u->ipv6 = s.n > 0 && s.p[0] == '[';
    if (u->ipv6) s = hob_str_skip(s, 1);
    ptrdiff_t end = hob_str_chr(s, u->ipv6 ? ']' : ':');
    if (u->ipv6 && end < 0) return "a '[' without ']'";
    u->host = hob_str_first(s, end < 0 ? s.n : (size_t)end);
    if (u->ipv6 ? !pton(AF_INET6, u->host, bytes) : !is_name(u->host))
        return "its host is missing or has characters that cannot be in a host name";
    s = hob_str_skip(s, u->host.n + u->ipv6);
    if (s.n == 0) return NULL;
    if (s.p[0] != ':' || s.n < 2 || s.p[1] < '0' || s.p[1] > '9' ||
        hob_str_int(hob_str_skip(s, 1), &port) < 0 || port < 1 || port > 65535)
        return "its port is not a number from 1 to 65535";
    u->port = (int)port;
    return NULL;
}

static size_t authority_length(hob_str s) {
    size_t n = 0;
    while (n < s.n && !strchr("/?#", s.p[n])) {
        n++;
    }
    return n;
}

int hob_url_parse(hob_str text, hob_url *out, hob_error *err) {
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] <= ' ' || text.p[i] > '~' || text.p[i] == '\\')
            return bad(err, text, "percent-encode spaces, backslashes and non-ASCII characters");
    }
    ptrdiff_t colon = hob_str_find(text, HOB_STR("://"));
    if (colon <= 0) return bad(err, text, "it must begin with http:// or https://");
    hob_url u = {.scheme = hob_str_first(text, (size_t)colon)};
    u.port = default_port(u.scheme);
    hob_str rest = hob_str_skip(text, (size_t)colon + 3);
    rest = hob_str_first(rest, authority_length(rest));
    const char *why = parse_host(after_last(rest, '@'), &u);
    if (why) return bad(err, text, why);
    *out = u;
    return HOB_OK;
}

bool hob_url_is_tls(const hob_url *u) {
    return hob_str_ieq(u->scheme, HOB_STR("https"));
}

/* ---- NO_PROXY ------------------------------------------------------------------------------ */

static bool same_prefix(const unsigned char *a, const unsigned char *b, int64_t bits) {
    size_t whole = (size_t)bits / 8;
    unsigned rest = (unsigned)bits % 8;
    if (memcmp(a, b, whole) != 0) return false;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

/* Both are addresses of the same family, and the pattern's prefix (or all of it) agrees. */
static bool match_address(hob_str pattern, hob_str host) {
    unsigned char a[16], b[16];
    ptrdiff_t slash = hob_str_chr(pattern, '/');
    hob_str address = slash < 0 ? pattern : hob_str_first(pattern, (size_t)slash);
    int family = pton(AF_INET, host, a) ? AF_INET : AF_INET6;
    int64_t all = family == AF_INET ? 32 : 128, bits = all;
    if (family == AF_INET6 && !pton(AF_INET6, host, a)) return false;
    if (!pton(family, address, b)) return false;
    if (slash >= 0 && hob_str_int(hob_str_skip(pattern, (size_t)slash + 1), &bits) < 0)
        return false;
    return bits >= 0 && bits <= all && same_prefix(a, b, bits);
}

static hob_str without_end_dot(hob_str s) {
    return s.n > 0 && s.p[s.n - 1] == '.' ? hob_str_first(s, s.n - 1) : s;
}

static bool match_name(hob_str pattern, hob_str host) {
    if (pattern.n > 0 && pattern.p[0] == '.') pattern = hob_str_skip(pattern, 1);
    pattern = without_end_dot(pattern);
    host = without_end_dot(host);
    if (pattern.n == 0 || host.n < pattern.n) return false;
    if (!hob_str_ieq(hob_str_skip(host, host.n - pattern.n), pattern)) return false;
    return host.n == pattern.n || host.p[host.n - pattern.n - 1] == '.';
}

bool hob_no_proxy_match(hob_str list, hob_str host) {
    bool numeric = hob_host_is_numeric(host);
    hob_str part;
    while (hob_str_split(&list, ',', &part)) {
        hob_str word;
        while (hob_str_split(&part, ' ', &word)) {
            if (word.n == 0) continue;
            if (hob_str_eqz(word, "*")) return true;
            if (numeric ? match_address(word, host) : match_name(word, host)) return true;
        }
    }
    return false;
}
