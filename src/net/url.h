/*
 * url.h - what the HTTP client must know of a URL before libcurl is loaded. Pure.
 *
 * Stricter than libcurl on purpose: a host has only letters, digits, dots, hyphens and underscores (or is
 * an IPv6 address in brackets), so that libcurl and we can never disagree on which host is meant.
 */
#ifndef HOB_SRC_URL_H
#define HOB_SRC_URL_H

#include "base/base.h"

typedef struct hob_url {
    hob_str scheme; /* as written */
    hob_str host;   /* without brackets */
    int port;       /* that of the scheme if not given; 0 for a scheme we do not know */
    bool ipv6;      /* the host was in brackets */
} hob_url;

/* scheme://[user[:password]@]host[:port][/…]; slices borrow from `text`. HOB_EINVAL. */
int hob_url_parse(hob_str text, hob_url *out, hob_error *err);
bool hob_url_is_tls(const hob_url *u);
bool hob_host_is_numeric(hob_str host); /* an IPv4 or IPv6 address */
bool hob_host_is_local(hob_str host);   /* localhost, or a name below it */

/* Does the host match the list, as curl reads NO_PROXY: names match themselves and what is below them,
 * addresses match exactly or by prefix (10.0.0.0/8), "*" matches everything. */
bool hob_no_proxy_match(hob_str list, hob_str host);

#endif
