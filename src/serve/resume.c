/*
 * resume.c - the start: runs that a server was busy with when it ended go on.
 *
 * Which they are is known as soon as the marks are read; then the server is ready. They are opened a few at a time, on
 * the hub's threads: whoever asks for one of them in the meantime opens it, and this finds it at work already.
 */
#include "serve/hub_parts.h"
#include "serve/web.h"

#include <stdio.h>

typedef struct taking {
    hob_work work;
    hob_hub *hub;
    char id[129];
    bool goes_on;
} taking;

static void open_marked(hob_work *w) {
    taking *t = HOB_CONTAINER(w, taking, work);
    hob_hub *h = t->hub;
    hob_str id = hob_str_z(t->id);
    hob_room *room;
    hob_page *row;
    hob_error err;
    char state[32] = "";
    int rc = hob_hub_find(h, NULL, id, &row, &err);
    if (rc >= 0) {
        hob_json_field(hob_page_row(row, 0), "state", state, sizeof state);
        if (strcmp(state, "idle") != 0) rc = hob_hub_enter(h, NULL, id, row, &room, &err);
        hob_page_destroy(row);
    }
    if (rc == HOB_ENOENT || (rc >= 0 && !strcmp(state, "idle"))) {
        hob_marks_clear(h->marks, t->id);
        return;
    }
    if (rc >= 0) { /* opening it has taken its run up: hub_open.c */
        hob_log(HOB_LOG_INFO, "serve", "session %s goes on", t->id);
        t->goes_on = true;
        hob_hub_leave(room);
    } else if (rc != HOB_EBUSY) { /* busy: another server has it */
        hob_web_log(h->server->web, "warn", "session %s is not taken up: %s", t->id, err.message);
    }
}

/* When the last one is done whoever started the server learns how many there were. */
static void on_taken(hob_work *w) {
    taking *t = HOB_CONTAINER(w, taking, work);
    hob_hub *h = t->hub;
    if (t->goes_on) h->going_on++;
    if (--h->marked == 0 && h->going_on)
        hob_web_log(h->server->web, "info", "%d session%s that %s under way before go%s on",
                    h->going_on, h->going_on == 1 ? "" : "s", h->going_on == 1 ? "was" : "were",
                    h->going_on == 1 ? "es" : "");
    hob_free(t);
}

typedef struct start {
    hob_msg msg;
    hob_hub *hub;
} start;

static void on_mark(const char *id, void *user) {
    hob_hub *h = user;
    taking *t = HOB_NEW(taking);
    t->hub = h;
    t->work = (hob_work){.work = open_marked, .done = on_taken};
    snprintf(t->id, sizeof t->id, "%s", id);
    if (hob_pool_submit(h->pool, h->loop, &t->work) < 0) {
        hob_web_log(h->server->web, "warn", "session %s is left: too many were at work", id);
        hob_free(t);
        return;
    }
    h->marked++;
}

/* A server that is stopped at once comes here when its hub ends: the marks stay for the next one. */
static void on_start(hob_msg *m) {
    start *s = HOB_CONTAINER(m, start, msg);
    hob_hub *h = s->hub;
    hob_error err;
    hob_free(s);
    if (!h->quit && h->marks && hob_marks_each(h->marks, on_mark, h, &err) < 0)
        hob_log(HOB_LOG_ERROR, "serve", "%s", err.message);
    h->server->not_ready = false;
}

void hob_hub_start(hob_hub *h) {
    start *s = HOB_NEW(start);
    s->hub = h;
    s->msg.fn = on_start;
    hob_loop_post(h->loop, &s->msg);
}
