/*
 * hub_poll.c - what other processes write.
 *
 * A session that another process has open tells us nothing, so the index is looked at: once a second, for all streams
 * that wait together, and only while there are some. The rows that changed last come first, so that a look reads what
 * changed since the one before, and no more. A commit that was held up for long may carry an older time than the look
 * has passed: so each look also takes a few of the waiting sessions by themselves, in turn.
 */
#include "serve/hub_parts.h"

#include "serve/feed.h"

#include <stdio.h>

enum {
    ROWS = 100,       /* a page of the index */
    PAGES = 20,       /* a look reads no more than these */
    SLACK_MS = 10000, /* commits arrive in about this order */
    SINGLES = 32      /* sessions looked at by themselves */
};

static uint64_t row_uint(hob_str row, const char *key) {
    char text[32];
    int64_t n = 0;
    if (hob_json_field(row, key, text, sizeof text) > 0) hob_str_int(hob_str_z(text), &n);
    return n > 0 ? (uint64_t)n : 0;
}

static int64_t row_time(hob_str row, const char *key) {
    char text[32];
    int64_t ms = 0;
    int n = hob_json_field(row, key, text, sizeof text);
    return n > 0 && hob_time_parse(hob_str_z(text), &ms) >= 0 ? ms : 0;
}

static void take_row(hob_hub *h, hob_str row) {
    char id[160];
    hob_json_field(row, "id", id, sizeof id);
    pthread_mutex_lock(&h->lock);
    hob_bell *bell = hob_map_get(h->bells, hob_str_z(id));
    uint64_t last = bell ? row_uint(row, "last_seq") : 0;
    if (bell && last > bell->told) {
        bell->told = last;
        HOB_LIST_EACH (it, &bell->feeds) hob_feed_told(hob_feed_of_link(it), last);
    }
    hob_hub_tell_row(h, row);
    pthread_mutex_unlock(&h->lock);
}

/* False: what follows was seen before. */
static bool take_page(hob_hub *h, const hob_page *page, int64_t since, int64_t *newest) {
    for (size_t i = 0; i < hob_page_count(page); i++) {
        int64_t ms = row_time(hob_page_row(page, i), "updated");
        if (ms < since) return false;
        *newest = HOB_MAX(*newest, ms);
        take_row(h, hob_page_row(page, i));
    }
    return true;
}

static void look_at_newest(hob_hub *h) {
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    int64_t newest = h->seen_ms, since = h->seen_ms - SLACK_MS;
    char cursor[256] = "";
    bool more = true;
    o.limit = ROWS;
    for (int i = 0; more && i < PAGES; i++) {
        hob_page *page;
        o.cursor = cursor[0] ? cursor : NULL;
        if (hob_runtime_sessions(h->rt, &o, &page, NULL) < 0) return;
        more = take_page(h, page, since, &newest) && hob_page_next(page).n;
        snprintf(cursor, sizeof cursor, "%.*s", HOB_FMT(hob_page_next(page)));
        hob_page_destroy(page);
    }
    h->seen_ms = newest;
}

/* The next few ids that somebody waits for; how many. */
static size_t choose_singles(hob_hub *h, char ids[SINGLES][129]) {
    size_t n = 0;
    hob_str id;
    void *bell;
    pthread_mutex_lock(&h->lock);
    while (n < SINGLES && hob_map_next(h->bells, &h->round, &id, &bell))
        snprintf(ids[n++], 129, "%.*s", HOB_FMT(id));
    if (n < SINGLES) h->round = 0;
    pthread_mutex_unlock(&h->lock);
    return n;
}

static void ring(hob_hub *h, const char *id) {
    pthread_mutex_lock(&h->lock);
    hob_hub_ring(h, hob_str_z(id));
    pthread_mutex_unlock(&h->lock);
}

static void look_at_singles(hob_hub *h) {
    char ids[SINGLES][129];
    size_t n = choose_singles(h, ids);
    for (size_t i = 0; i < n; i++) {
        hob_page *row;
        int rc = hob_hub_find(h, NULL, hob_str_z(ids[i]), &row, NULL);
        if (rc == HOB_ENOENT) ring(h, ids[i]); /* another process removed it */
        if (rc < 0) continue;
        take_row(h, hob_page_row(row, 0));
        hob_page_destroy(row);
    }
}

static void look(hob_work *w) {
    hob_hub *h = HOB_CONTAINER(w, hob_hub, poll);
    look_at_newest(h);
    look_at_singles(h);
}

static void on_looked(hob_work *w) {
    HOB_CONTAINER(w, hob_hub, poll)->polling = false;
}

void hob_hub_poll(hob_hub *h) {
    pthread_mutex_lock(&h->lock);
    bool wanted = h->waiting || !hob_list_empty(&h->listeners);
    h->poll_soon = false;
    pthread_mutex_unlock(&h->lock);
    if (!wanted || h->polling || h->quit) return;
    if (!h->seen_ms) h->seen_ms = hob_clock_real()->wall_ms(hob_clock_real());
    h->poll = (hob_work){.work = look, .done = on_looked};
    h->polling = hob_pool_submit(h->pool, h->loop, &h->poll) >= 0;
}

void hob_hub_on_soon(hob_msg *m) {
    hob_hub *h = HOB_CONTAINER(m, hob_hub, soon);
    int64_t at = hob_loop_now(h->loop) + HOB_HUB_SOON_MS;
    h->next_ms = HOB_MIN(h->next_ms, at);
    if (!hob_timer_started(&h->tick) || h->tick.at > at) hob_timer_start(&h->tick, at);
}
