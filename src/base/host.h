/*
 * host.h - the name of a host, read once and compared whole. Pure.
 *
 * Whoever decides by a host name (which Host and Origin a server answers, which hosts a rule allows) compares two of
 * these and never text: "docs.example.org.evil.com" begins like a friend, "127.0.0.1.evil.com" too, 0x7f000001 and
 * 0177.1 are addresses in disguise, a NUL ends a name for one program and not for the next.
 *
 * A name has labels of letters, digits and hyphens and nothing else; names in other scripts come as punycode
 * (xn--…). A name that ends in a number is an IPv4 address in its one usual form, or refused. IPv6 stands in brackets
 * before a port, and has no zone. One dot at the end is dropped: the same host to the resolver.
 */
#ifndef HOB_SRC_BASE_HOST_H
#define HOB_SRC_BASE_HOST_H

#include "base/base.h"

typedef enum hob_host_kind { HOB_HOST_NAME, HOB_HOST_IPV4, HOB_HOST_IPV6 } hob_host_kind;

typedef struct hob_host {
    hob_host_kind kind;
    int port;       /* 0 = not said */
    bool below;     /* of a rule: "*.name" */
    char name[256]; /* lower case; an IPv6 address in its shortest form, without brackets */
} hob_host;

/* NAME, NAME:PORT, ADDRESS, ADDRESS:PORT, [IPV6], [IPV6]:PORT. HOB_EINVAL. */
int hob_host_parse(hob_str text, hob_host *out, hob_error *err);
/* The same, and *.NAME: every host below NAME, not NAME itself. */
int hob_host_parse_rule(hob_str text, hob_host *out, hob_error *err);
/* Same kind, same name (or below it), and the same port unless the rule says none. */
bool hob_host_matches(const hob_host *rule, const hob_host *host);
bool hob_host_is_loopback(const hob_host *host); /* localhost, below it, 127.0.0.0/8, ::1 */

/* The origin of a page: SCHEME://HOST[:PORT], nothing before or after. The port is the scheme's if not said. */
typedef struct hob_origin_of {
    bool tls;
    hob_host host; /* port always set */
} hob_origin_of;
int hob_origin_parse(hob_str text, hob_origin_of *out, hob_error *err);
bool hob_origin_same(const hob_origin_of *a, const hob_origin_of *b);

/* The character at s[*i], %XX as what it stands for; *i is moved to its last byte. -1: an escape that is none. */
int hob_percent_decode(hob_str s, size_t *i);

#endif
