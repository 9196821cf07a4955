/*
 * hub_answers.c - the same key again gives the same answer (Idempotency-Key): a client that did not see the answer may
 * send its request again. Another request under a key that was used is refused: answered with what was said before, it
 * would be lost without a word.
 *
 * The truth is in the log: the event that admits a message has its key, in the same commit, so a message is there with its
 * key or not at all, and a client that comes again after kill -9 learns which. A room reads the keys of the last events
 * when the first request with a key comes, and remembers what is added while it is open. So the answers of a session go
 * with it, and no caller can push out another's.
 */
#include "base/digest.h"
#include "serve/hub_parts.h"

#include <stdio.h>

enum {
    EVENTS = 4096, /* of the log, the last: older ones are not looked at */
    KEYS = EVENTS, /* of a room, the newest: each event may have one */
    PAGE = 256,    /* read at once */
    HALF = 32      /* digits of the key; the rest is the request */
};

typedef struct kept {
    hob_list link; /* room->keys, the oldest first */
    char key[HOB_KEY_SIZE];
    bool done; /* otherwise it is being answered */
    hob_answer answer;
} kept;

/* ---- names ------------------------------------------------------------------------------------------------- */

void hob_key_make(hob_str key, hob_str route, hob_str body, char out[HOB_KEY_SIZE]) {
    hob_digest(HOB_STR_NULL, key, out, HALF);
    hob_digest(route, body, out + HALF, HALF);
}

/* A client's own id for a run of a thread; no Idempotency-Key is the same. */
void hob_key_of_run(hob_str run, char out[HOB_KEY_SIZE]) {
    hob_digest(HOB_STR("agui"), run, out, HALF);
    hob_digest(HOB_STR("agui"), run, out + HALF, HALF);
}

/* ---- what a room remembers, under the lock -------------------------------------------------------------------- */

static kept *find(const hob_room *room, const char *key) {
    HOB_LIST_EACH (it, &room->keys) {
        kept *k = HOB_CONTAINER(it, kept, link);
        if (!memcmp(k->key, key, HALF)) return k;
    }
    return NULL;
}

static void drop(hob_room *room, kept *k) {
    hob_list_remove(&k->link);
    room->nkeys--;
    hob_free(k);
}

/* The oldest that is not being answered. */
static void make_way(hob_room *room) {
    if (room->nkeys < KEYS) return;
    HOB_LIST_EACH (it, &room->keys) {
        kept *k = HOB_CONTAINER(it, kept, link);
        if (!k->done) continue;
        drop(room, k);
        return;
    }
}

static void add(hob_room *room, const char *key, const hob_answer *answer) {
    make_way(room);
    kept *k = HOB_NEW(kept);
    snprintf(k->key, sizeof k->key, "%s", key);
    k->done = answer != NULL;
    if (answer) k->answer = *answer;
    hob_list_push(&room->keys, &k->link);
    room->nkeys++;
}

void hob_room_drop_keys(hob_room *room) {
    HOB_LIST_EACH_SAFE (it, &room->keys) drop(room, HOB_CONTAINER(it, kept, link));
}

/* ---- what the log says ------------------------------------------------------------------------------------------ */

static bool admits(const hob_event *e, hob_send *became) {
    switch ((int)hob_event_type_of(e)) {
    case HOB_EVENT_RUN_STARTED: *became = HOB_SEND_PROMPT; return true;
    case HOB_EVENT_STEER_QUEUED: *became = HOB_SEND_STEER; return true;
    case HOB_EVENT_FOLLOW_UP_QUEUED: *became = HOB_SEND_FOLLOW_UP; return true;
    }
    return false;
}

static void take_row(hob_room *room, hob_str row) {
    char key[HOB_KEY_SIZE + 1];
    hob_answer a = {.seq = 0};
    hob_event *e;
    if (hob_str_find(row, HOB_STR("\"key\":\"")) < 0) return; /* most have none */
    if (hob_event_from_json(row, &e, NULL) < 0) return;
    if (admits(e, &a.became) && hob_event_field(e, "key", key, sizeof key) == HOB_KEY_SIZE - 1) {
        a.seq = hob_event_seq(e);
        snprintf(a.run, sizeof a.run, "%.*s", HOB_FMT(hob_event_run(e)));
        pthread_mutex_lock(&room->hub->lock);
        if (!find(room, key)) add(room, key, &a);
        pthread_mutex_unlock(&room->hub->lock);
    }
    hob_event_unref(e);
}

int hob_hub_key_of(hob_hub *h, const char *id, char out[HOB_KEY_SIZE], hob_error *err) {
    hob_page *page;
    hob_event *e;
    int rc = hob_runtime_events(h->rt, id, 0, 1, &page, err);
    if (rc < 0) return rc;
    out[0] = 0;
    if (hob_page_count(page) && hob_event_from_json(hob_page_row(page, 0), &e, NULL) >= 0) {
        if (hob_event_field(e, "key", out, HOB_KEY_SIZE) != HOB_KEY_SIZE - 1) out[0] = 0;
        hob_event_unref(e);
    }
    hob_page_destroy(page);
    return HOB_OK;
}

int hob_key_compare(const char *had, const char *key) {
    if (memcmp(had, key, HALF) != 0) return 0;
    return strcmp(had, key) ? HOB_EEXIST : 1;
}

static int last_event(hob_room *room, uint64_t *out, hob_error *err) {
    hob_page *info;
    char text[24] = "0";
    int64_t n = 0;
    int rc = hob_session_info(room->s, &info, err);
    if (rc < 0) return rc;
    hob_json_field(hob_page_row(info, 0), "last_seq", text, sizeof text);
    hob_page_destroy(info);
    hob_str_int(hob_str_z(text), &n);
    *out = (uint64_t)n;
    return HOB_OK;
}

/* Two that come at once both read: what one of them added the other finds. */
static int read_keys(hob_room *room, hob_error *err) {
    uint64_t last, after;
    bool more = true;
    int rc = last_event(room, &last, err);
    after = rc >= 0 && last > EVENTS ? last - EVENTS : 0;
    while (rc >= 0 && more) {
        hob_page *page;
        int64_t next = 0;
        rc = hob_runtime_events(room->hub->rt, room->id, after, PAGE, &page, err);
        if (rc < 0) break;
        for (size_t i = 0; i < hob_page_count(page); i++) take_row(room, hob_page_row(page, i));
        more = hob_str_int(hob_page_next(page), &next) >= 0 && next > 0;
        after = (uint64_t)next;
        hob_page_destroy(page);
    }
    return rc;
}

/* ---- asking ------------------------------------------------------------------------------------------------------- */

int hob_room_asked(hob_room *room, const char *key, hob_answer *out, hob_error *err) {
    hob_hub *h = room->hub;
    pthread_mutex_lock(&h->lock);
    bool known = room->keys_read;
    pthread_mutex_unlock(&h->lock);
    int rc = known ? HOB_OK : read_keys(room, err);
    if (rc < 0) return rc;
    pthread_mutex_lock(&h->lock);
    room->keys_read = true;
    kept *k = find(room, key);
    if (!k) {
        add(room, key, NULL);
        rc = 0;
    } else if (strcmp(k->key, key) != 0) {
        rc = HOB_EEXIST;
    } else if (!k->done) {
        rc = HOB_EBUSY;
    } else {
        *out = k->answer;
        rc = 1;
    }
    pthread_mutex_unlock(&h->lock);
    return rc;
}

void hob_room_answered(hob_room *room, const char *key, const hob_answer *answer) {
    pthread_mutex_lock(&room->hub->lock);
    kept *k = find(room, key);
    if (k && !k->done && answer) {
        k->answer = *answer;
        k->done = true;
    } else if (k && !k->done) {
        drop(room, k);
    }
    pthread_mutex_unlock(&room->hub->lock);
}
