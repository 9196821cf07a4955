#include "model/wire.h"

#define MAX_FOREIGN_ID 40u /* the shortest limit among providers */

hob_wire *hob_wire_create(void) {
    hob_wire *w = HOB_NEW(hob_wire);
    hob_buf_init(&w->key, 4096);
    hob_buf_init(&w->text, HOB_WIRE_MAX);
    hob_buf_init(&w->tools, HOB_WIRE_MAX);
    w->role = -1;
    return w;
}

static void wire_free(hob_wire *w) {
    hob_buf_finish(&w->key);
    hob_buf_finish(&w->text);
    hob_buf_finish(&w->tools);
    hob_wire_ids_finish(&w->ids);
    hob_free(w);
}

/* Also forgets the tools: their text depends on the dialect. */
static void wire_reset(hob_wire *w, const char *api, hob_str key, uint64_t generation) {
    hob_buf_reset(&w->text);
    hob_buf_reset(&w->tools);
    hob_buf_reset(&w->key);
    hob_buf_add(&w->key, key);
    hob_wire_ids_finish(&w->ids);
    hob_wire_forget_parts(w);
    w->api = api;
    w->generation = generation;
    w->covered = 0;
    w->role = -1;
    w->thinks_first = false;
    w->tools_n = 0;
}

bool hob_wire_fits(const hob_wire *w, const char *api, hob_str key, const hob_history *h) {
    return w->api && strcmp(w->api, api) == 0 && hob_str_eq(hob_buf_str(&w->key), key) &&
           w->generation == hob_history_generation(h) && w->covered <= hob_history_count(h) &&
           !w->text.err;
}

hob_wire *hob_wire_acquire(hob_wire **slot, const char *api, hob_str key, const hob_history *h) {
    hob_wire *w = slot ? *slot : NULL;
    if (!w || w->users) {
        bool busy = w != NULL;
        w = hob_wire_create();
        w->unowned = busy || !slot;
        if (!w->unowned) *slot = w;
    }
    if (!hob_wire_fits(w, api, key, h)) wire_reset(w, api, key, hob_history_generation(h));
    w->users++;
    return w;
}

void hob_wire_release(hob_wire *w) {
    if (!w) return;
    w->users--;
    if (w->unowned && w->users == 0) wire_free(w);
}

void hob_wire_destroy(hob_wire *w) {
    if (!w) return;
    w->unowned = true;
    if (w->users == 0) wire_free(w);
}

/* ---- call ids --------------------------------------------------------------------------------------- */

static bool is_plain(hob_str id) {
    for (size_t i = 0; i < id.n; i++) {
        char c = id.p[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
        if (!ok) return false;
    }
    return id.n > 0;
}

/* "m14.2" -> "hob_m14_2" */
static hob_str minted(hob_arena *a, hob_str call) {
    static const char prefix[] = "hob_";
    size_t n = sizeof prefix - 1 + call.n;
    char *p = hob_arena_bytes(a, n);
    if (!p) return HOB_STR_NULL;
    memcpy(p, prefix, sizeof prefix - 1);
    for (size_t i = 0; i < call.n; i++)
        p[sizeof prefix - 1 + i] = is_plain(hob_str_n(call.p + i, 1)) ? call.p[i] : '_';
    return hob_str_n(p, n);
}

/* Results are encoded apart from their calls, and more than once: the same call must find the same id again. So it is
 * remembered whose an id is. */
hob_str hob_wire_call_id(hob_wire *w, hob_arena *a, const hob_json *block, bool own) {
    hob_str id = hob_json_get_str(block, "id"), call = hob_json_get_str(block, "call");
    hob_wire_id mine = {hob_str_hash(id), hob_str_hash(call)};
    bool usable = id.n && (own || (is_plain(id) && id.n <= MAX_FOREIGN_ID));
    const hob_wire_id *known = usable ? hob_wire_ids_get(&w->ids, mine.id) : NULL;
    if (!usable || (known && known->call != mine.call)) return minted(a, call);
    if (!known) hob_wire_ids_add(&w->ids, mine);
    return id;
}
