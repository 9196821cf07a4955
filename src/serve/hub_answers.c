/*
 * hub_answers.c - the same key again gives the same answer (Idempotency-Key): a client that did not see the answer may
 * send its request again. Another request under a key that was used is refused: answered with what was said before, it
 * would be lost without a word. Kept in memory, the newest ones.
 */
#include "serve/hub_parts.h"

#include <sodium.h>

typedef struct kept {
    hob_list link; /* hub->by_age */
    char *key;
    unsigned char sum[crypto_hash_sha256_BYTES]; /* of the request */
    char *answer;                                /* NULL: it is being answered */
} kept;

static char *name_of(const hob_asking *a) {
    hob_buf b;
    hob_buf_init(&b, 8192);
    hob_buf_add(&b, a->session);
    hob_buf_addc(&b, '\n');
    hob_buf_add(&b, a->key);
    char *name = hob_dupz(hob_buf_str(&b));
    hob_buf_finish(&b);
    return name;
}

static void sum_of(const hob_asking *a, unsigned char out[crypto_hash_sha256_BYTES]) {
    crypto_hash_sha256_state st;
    crypto_hash_sha256_init(&st);
    crypto_hash_sha256_update(&st, (const unsigned char *)a->route.p, a->route.n);
    crypto_hash_sha256_update(&st, (const unsigned char *)"\n", 1);
    crypto_hash_sha256_update(&st, (const unsigned char *)a->body.p, a->body.n);
    crypto_hash_sha256_final(&st, out);
}

static void drop(hob_hub *h, kept *k) {
    hob_map_take(h->answers, hob_str_z(k->key));
    hob_list_remove(&k->link);
    hob_free(k->key);
    hob_free(k->answer);
    hob_free(k);
}

/* The oldest that is not being answered. */
static void make_room(hob_hub *h) {
    if (hob_map_count(h->answers) < HOB_HUB_ANSWERS) return;
    HOB_LIST_EACH (it, &h->by_age) {
        kept *k = HOB_CONTAINER(it, kept, link);
        if (!k->answer) continue;
        drop(h, k);
        return;
    }
}

static int look_up(const kept *k, const unsigned char *sum, char **out) {
    if (memcmp(k->sum, sum, sizeof k->sum) != 0) return HOB_EEXIST;
    if (!k->answer) return HOB_EBUSY;
    *out = hob_dupz(hob_str_z(k->answer));
    return 1;
}

int hob_hub_asked(hob_hub *h, const hob_asking *a, char **out) {
    unsigned char sum[crypto_hash_sha256_BYTES];
    char *name = name_of(a);
    int rc = 0;
    sum_of(a, sum);
    pthread_mutex_lock(&h->lock);
    kept *k = hob_map_get(h->answers, hob_str_z(name));
    if (k) {
        rc = look_up(k, sum, out);
        hob_free(name);
    } else {
        make_room(h);
        k = HOB_NEW(kept);
        k->key = name;
        memcpy(k->sum, sum, sizeof sum);
        hob_map_put(h->answers, hob_str_z(name), k);
        hob_list_push(&h->by_age, &k->link);
    }
    pthread_mutex_unlock(&h->lock);
    return rc;
}

void hob_hub_answered(hob_hub *h, const hob_asking *a, hob_str answer) {
    char *name = name_of(a);
    pthread_mutex_lock(&h->lock);
    kept *k = hob_map_get(h->answers, hob_str_z(name));
    if (k && answer.n && !k->answer)
        k->answer = hob_dupz(answer);
    else if (k && !k->answer)
        drop(h, k);
    pthread_mutex_unlock(&h->lock);
    hob_free(name);
}

void hob_hub_drop_answers(hob_hub *h) {
    HOB_LIST_EACH_SAFE (it, &h->by_age) drop(h, HOB_CONTAINER(it, kept, link));
}
