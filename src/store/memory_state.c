/*
 * memory_state.c - values that sessions of one application or user share, in the memory store.
 */
#include "store/memory.h"

static hob_str place_of(hob_buf *b, hob_str app, hob_str user) {
    hob_buf_init(b, 4 * HOB_STORE_TEXT_MAX);
    hob_buf_add(b, app);
    hob_buf_addc(b, '\0');
    hob_buf_add(b, user);
    return hob_buf_str(b);
}

static hob_state *find(hob_ram *m, hob_str app, hob_str user) {
    hob_buf b;
    hob_state *s = hob_map_get(m->states, place_of(&b, app, user));
    hob_buf_finish(&b);
    return s;
}

void hob_ram_put_state(hob_ram *m, const hob_store_state *state) {
    hob_state *s = find(m, state->app, state->user);
    hob_buf b;
    if (!s && state->removed) return;
    if (!s) {
        s = HOB_NEW(hob_state);
        hob_map_put(m->states, place_of(&b, state->app, state->user), s);
        hob_buf_finish(&b);
    }
    hob_state_assign(s, state->key, state->removed ? HOB_STR_NULL : state->value);
}

static void list(hob_store_req *r, const hob_state *s, hob_str user) {
    hob_str key = HOB_STR_NULL, value;
    while (s && hob_state_next(s, key, &key, &value))
        r->states[r->n++] =
            (hob_store_state){.app = r->app, .user = user, .key = key, .value = value};
}

int hob_ram_states(hob_ram *m, hob_store_req *r) {
    const hob_state *of_app = find(m, r->app, HOB_STR_NULL);
    const hob_state *of_user = r->tenant.n ? find(m, r->app, r->tenant) : NULL;
    size_t n = (of_app ? of_app->count : 0) + (of_user ? of_user->count : 0);
    r->states = hob_arena_alloc(hob_store_req_mem(r), (n + 1) * sizeof(*r->states));
    list(r, of_app, HOB_STR_NULL);
    list(r, of_user, r->tenant);
    return 0;
}
