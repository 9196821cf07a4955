/*
 * id.c - randomness from the kernel, UUID version 7 (RFC 9562), names safe in paths and URLs.
 */
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

int hob_random(void *out, size_t n) {
    char *p = out;
    while (n > 0) {
        ssize_t got = getrandom(p, n, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return HOB_EIO;
        p += got;
        n -= (size_t)got;
    }
    return HOB_OK;
}

void hob_uuid7(int64_t wall_ms, const uint8_t rnd[10], char out[37]) {
    static const char hex[] = "0123456789abcdef";
    uint64_t ms = (uint64_t)wall_ms;
    uint8_t b[16];
    for (int i = 0; i < 6; i++) b[i] = (uint8_t)(ms >> (40 - 8 * i));
    memcpy(b + 6, rnd, 10);
    b[6] = (uint8_t)(0x70 | (b[6] & 0x0f));
    b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
    char *to = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        *to++ = hex[b[i] >> 4];
        *to++ = hex[b[i] & 15];
    }
    *to = '\0';
}

void hob_uuid7_new(hob_clock *c, char out[37]) {
    uint8_t rnd[10];
    /* getrandom cannot fail on the kernels we run on; an id that may collide would be worse. */
    if (hob_random(rnd, sizeof(rnd)) < 0) abort();
    hob_uuid7(c->wall_ms(c), rnd, out);
}

static bool is_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool hob_id_valid(hob_str s) {
    if (s.n == 0 || s.n > 128 || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1])) return false;
    for (size_t i = 1; i + 1 < s.n; i++) {
        char c = s.p[i];
        if (!is_alnum(c) && c != '.' && c != '_' && c != '-') return false;
    }
    return true;
}
