#include "base/digest.h"

#include <sodium.h>

void hob_digest(hob_str key, hob_str text, char *out, size_t digits) {
    unsigned char sum[HOB_DIGEST_MAX / 2];
    char hex[HOB_DIGEST_MAX + 1];
    key = hob_str_first(key, crypto_generichash_KEYBYTES_MAX);
    crypto_generichash(sum, sizeof sum, (const unsigned char *)text.p, text.n,
                       key.n ? (const unsigned char *)key.p : NULL, key.n);
    sodium_bin2hex(hex, sizeof hex, sum, sizeof sum);
    memcpy(out, hex, digits);
    out[digits] = 0;
}
