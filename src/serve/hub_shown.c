/*
 * hub_shown.c - what a client was shown of an open session, kept for the next who asks.
 *
 * Finding it out takes six changes of threads, to the store and to the session; most who ask again see the same. What an
 * event changes is seen at once: the runtime tells the hub of it (hub_news.c) before anybody else, so whoever knows of the
 * event does not get what was kept before it. What changes without one (state that the session shares with others) is seen
 * after KEPT_MS.
 */
#include "serve/hub_parts.h"

enum { KEPT_MS = 200, LONGEST = 16 * 1024 };

char *hob_hub_shown(hob_hub *h, const hob_caller *c, hob_str id) {
    char *copy = NULL;
    pthread_mutex_lock(&h->lock);
    const hob_room *room = hob_map_get(h->rooms, id);
    if (room && room->state == HOB_ROOM_OPEN && hob_room_is_of(room, c) && room->shown &&
        room->shown_news == room->news && hob_hub_now() - room->shown_ms < KEPT_MS)
        copy = hob_dupz(hob_str_z(room->shown));
    pthread_mutex_unlock(&h->lock);
    return copy;
}

uint64_t hob_room_news(hob_room *room) {
    pthread_mutex_lock(&room->hub->lock);
    uint64_t news = room->news;
    pthread_mutex_unlock(&room->hub->lock);
    return news;
}

void hob_room_show(hob_room *room, uint64_t news, hob_str text) {
    char *kept = text.n <= LONGEST ? hob_dupz(text) : NULL, *before;
    pthread_mutex_lock(&room->hub->lock);
    before = room->shown;
    room->shown = kept;
    room->shown_news = news;
    room->shown_ms = hob_hub_now();
    pthread_mutex_unlock(&room->hub->lock);
    hob_free(before);
}
