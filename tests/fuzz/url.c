/*
 * URLs and the NO_PROXY list: whatever is accepted has a host that no other reader can see otherwise,
 * lies within the input, and a host always matches itself.
 */
#include "net/url.h"

#include <stdlib.h>

static void check(hob_str text, const hob_url *u) {
    if (u->host.n == 0 || u->host.p < text.p || u->host.p + u->host.n > text.p + text.n) abort();
    if (u->port < 0 || u->port > 65535 || u->scheme.p != text.p) abort();
    for (size_t i = 0; i < u->host.n; i++) {
        if (strchr("/?#@\\% []\t\r\n", u->host.p[i])) abort();
    }
    if (u->ipv6 && !hob_host_is_numeric(u->host)) abort();
    if (u->host.n > 1 && !hob_no_proxy_match(u->host, u->host)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    hob_str text = hob_str_n((const char *)bytes, n);
    hob_url u;
    hob_error err;
    if (hob_url_parse(text, &u, &err) == HOB_OK)
        check(text, &u);
    else if (err.message[0] == '\0')
        abort();
    size_t half = n / 2;
    hob_no_proxy_match(hob_str_first(text, half), hob_str_skip(text, half));
    return 0;
}
