/*
 * hub_list.c - rows of the index for whoever wants to see them change: the list of sessions of the console.
 *
 * Rows come from the poll (hub_poll.c), which sees what every process writes. A row is told when its text differs from
 * what was told last; what was told is remembered as a hash, for the newest few thousand.
 */
#include "serve/hub_parts.h"

enum { ROWS_SEEN = 8192 };

struct hob_listener {
    hob_list link;
    hob_hub *hub;
    char *tenant, *principal;
    hob_row_fn fn;
    void *user;
};

static bool is_new(hob_hub *h, hob_str id, hob_str row) {
    uint64_t hash = hob_str_hash(row) | 1; /* never NULL */
    if (hob_map_count(h->rows) >= ROWS_SEEN) {
        hob_map_destroy(h->rows);
        h->rows = hob_map_create();
    }
    return hob_map_put(h->rows, id, (void *)(uintptr_t)hash) != (void *)(uintptr_t)hash;
}

static void tell(hob_hub *h, hob_str id, const hob_str *row, const char *app, const char *user) {
    HOB_LIST_EACH (it, &h->listeners) {
        hob_listener *l = HOB_CONTAINER(it, hob_listener, link);
        if (!strcmp(l->tenant, app) && !strcmp(l->principal, user)) l->fn(id, row, l->user);
    }
}

void hob_hub_tell_row(hob_hub *h, hob_str row) {
    char id[160], app[520], user[520], parent[8];
    if (hob_list_empty(&h->listeners)) return;
    hob_json_field(row, "id", id, sizeof id);
    if (hob_json_field(row, "parent", parent, sizeof parent) > 0) return; /* of another's work */
    if (!is_new(h, hob_str_z(id), row)) return;
    hob_json_field(row, "app", app, sizeof app);
    hob_json_field(row, "user", user, sizeof user);
    tell(h, hob_str_z(id), &row, app, user);
}

void hob_hub_tell_removed(hob_hub *h, const hob_caller *c, hob_str id) {
    char *app = hob_dupz(c->tenant), *user = hob_dupz(c->principal);
    pthread_mutex_lock(&h->lock);
    hob_map_take(h->rows, id);
    tell(h, id, NULL, app, user);
    pthread_mutex_unlock(&h->lock);
    hob_free(app);
    hob_free(user);
}

void hob_hub_forget_rows(hob_hub *h) {
    hob_map_destroy(h->rows);
    h->rows = hob_map_create();
}

hob_listener *hob_hub_listen(hob_hub *h, const hob_caller *c, hob_row_fn fn, void *user) {
    hob_listener *l = HOB_NEW(hob_listener);
    *l = (hob_listener){.hub = h, .fn = fn, .user = user};
    l->tenant = hob_dupz(c->tenant);
    l->principal = hob_dupz(c->principal);
    pthread_mutex_lock(&h->lock);
    hob_list_push(&h->listeners, &l->link);
    pthread_mutex_unlock(&h->lock);
    return l;
}

void hob_hub_unlisten(hob_listener *l) {
    if (!l) return;
    hob_hub *h = l->hub;
    pthread_mutex_lock(&h->lock);
    hob_list_remove(&l->link);
    if (hob_list_empty(&h->listeners)) hob_hub_forget_rows(h);
    pthread_mutex_unlock(&h->lock);
    hob_free(l->tenant);
    hob_free(l->principal);
    hob_free(l);
}
