/*
 * agui_state.c - the client's state, made the session's where it differs.
 */
#include "serve/agui_thread.h"

/* What others share is shown to the client and comes back with its next input, perhaps long after it has changed. */
static bool is_shared(hob_str key) {
    return hob_str_starts(key, HOB_STR("app:")) || hob_str_starts(key, HOB_STR("user:")) ||
           hob_str_starts(key, HOB_STR("temp:"));
}

static bool differs(const hob_state *state, const hob_json *m) {
    hob_str value;
    return hob_state_get(state, hob_json_key(m), &value) < 0 || !hob_str_eq(value, hob_json_raw(m));
}

/* How many of the keys are new or say something else; written as an object. */
static size_t write_changes(const hob_state *state, const hob_json *wanted, hob_buf *out) {
    size_t n = 0;
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    for (const hob_json *m = hob_json_first(wanted); m; m = hob_json_next(m)) {
        if (is_shared(hob_json_key(m)) || !differs(state, m)) continue;
        hob_jsonw_key_n(&w, hob_json_key(m));
        hob_jsonw_raw(&w, hob_json_raw(m));
        n++;
    }
    hob_jsonw_object_end(&w);
    return n;
}

static int apply(hob_session *s, const hob_json *wanted, size_t room, hob_error *err) {
    hob_state *state;
    hob_buf changes;
    int rc = hob_session_state(s, &state, NULL, err);
    if (rc < 0) return rc;
    hob_buf_init(&changes, room);
    if (write_changes(state, wanted, &changes))
        rc = hob_session_apply_state_delta(s, hob_buf_str(&changes), HOB_STR_NULL, err);
    hob_buf_finish(&changes);
    hob_state_destroy(state);
    return rc;
}

int hob_agui_take_state(hob_session *s, const hob_agui_input *in, hob_error *err) {
    hob_str text = hob_agui_input_state(in);
    hob_arena *a = hob_arena_create(0);
    const hob_json *wanted = NULL;
    int rc = hob_json_parse(a, text, NULL, &wanted, err);
    if (rc >= 0 && hob_json_is(wanted, HOB_JSON_OBJECT) && hob_json_first(wanted))
        rc = apply(s, wanted, 2 * text.n + 16, err);
    hob_arena_destroy(a);
    return rc;
}
