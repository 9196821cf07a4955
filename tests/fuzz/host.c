/*
 * Names of hosts and origins: what is accepted has only letters, digits, hyphens, dots and colons, matches itself, and
 * means the same when it is read again.
 */
#include "base/host.h"

#include <stdio.h>
#include <stdlib.h>

static void check(const hob_host *h) {
    char text[300];
    hob_host again;
    size_t n = strlen(h->name);
    if (!n || strspn(h->name, "abcdefghijklmnopqrstuvwxyz0123456789-.:") != n) abort();
    if (!hob_host_matches(h, h) && !h->below) abort();
    bool v6 = h->kind == HOB_HOST_IPV6;
    snprintf(text, sizeof text, "%s%s%s", v6 ? "[" : "", h->name, v6 ? "]" : "");
    if (hob_host_parse(hob_str_z(text), &again, NULL) < 0 || again.kind != h->kind ||
        strcmp(again.name, h->name))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    hob_str text = hob_str_n((const char *)data, n);
    hob_host h;
    hob_origin_of o;
    hob_error err = {.code = 0};
    if (hob_host_parse(text, &h, &err) == HOB_OK)
        check(&h);
    else if (!err.message[0])
        abort();
    if (hob_host_parse_rule(text, &h, NULL) == HOB_OK) check(&h);
    if (hob_origin_parse(text, &o, NULL) == HOB_OK) {
        check(&o.host);
        if (!o.host.port || !hob_origin_same(&o, &o)) abort();
    }
    return 0;
}
