/*
 * hub_answers.c - the same key again gives the same answer (Idempotency-Key): a client that did not see the answer may
 * send its request again. Kept in memory, the newest ones.
 */
#include "serve/hub_parts.h"

typedef struct kept {
    hob_list link; /* hub->by_age */
    char *key;
    char *answer; /* NULL: it is being answered */
} kept;

static char *name_of(hob_str session, hob_str key) {
    hob_buf b;
    hob_buf_init(&b, 8192);
    hob_buf_add(&b, session);
    hob_buf_addc(&b, '\n');
    hob_buf_add(&b, key);
    char *name = hob_dupz(hob_buf_str(&b));
    hob_buf_finish(&b);
    return name;
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

int hob_hub_asked(hob_hub *h, hob_str session, hob_str key, char **out) {
    char *name = name_of(session, key);
    int rc = 0;
    pthread_mutex_lock(&h->lock);
    kept *k = hob_map_get(h->answers, hob_str_z(name));
    if (k) {
        rc = k->answer ? 1 : HOB_EBUSY;
        if (k->answer) *out = hob_dupz(hob_str_z(k->answer));
        hob_free(name);
    } else {
        make_room(h);
        k = HOB_NEW(kept);
        k->key = name;
        hob_map_put(h->answers, hob_str_z(name), k);
        hob_list_push(&h->by_age, &k->link);
    }
    pthread_mutex_unlock(&h->lock);
    return rc;
}

void hob_hub_answered(hob_hub *h, hob_str session, hob_str key, hob_str answer) {
    char *name = name_of(session, key);
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
