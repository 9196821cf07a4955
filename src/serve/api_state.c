/*
 * api_state.c - the state of a session, and its changes.
 *
 * A revision names what is in the state, not how often it changed: it is the same whether the session is open here,
 * elsewhere or nowhere, and after a restart, so that who looked at a session that nobody has open can guard a change with
 * it. The library's own number holds only as long as a session is open; it guards the time between comparing and changing.
 */
#include "serve/api.h"

#include <stdio.h>

enum { TRIES = 8 }; /* against others who change the same state */

/* {"state":{…},"revision":…}; the revision is a whole number that JavaScript can hold. */
static int64_t write_state(const hob_state *s, hob_buf *out) {
    hob_str key = HOB_STR(""), value;
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, "state");
    hob_jsonw_object(&w);
    while (hob_state_next(s, key, &key, &value)) {
        hob_jsonw_key_n(&w, key);
        hob_jsonw_raw(&w, value);
    }
    hob_jsonw_object_end(&w);
    int64_t revision = (int64_t)(hob_sum(0, hob_buf_str(out)) >> 11);
    hob_jsonw_kint(&w, "revision", revision);
    hob_jsonw_object_end(&w);
    return out->err ? -1 : revision;
}

static void answer_state(hob_web_request *r, const hob_state *s) {
    hob_buf b;
    char tag[32];
    hob_buf_init(&b, HOB_API_ANSWER_MAX);
    int64_t revision = write_state(s, &b);
    snprintf(tag, sizeof tag, "\"%lld\"", (long long)revision);
    hob_web_answer_header(r, "ETag", hob_str_z(tag));
    hob_api_answer_large(r, &b);
}

static int look(hob_web_request *r, hob_state **out, hob_error *err) {
    hob_room *room = hob_api_peek(r);
    if (!room)
        return hob_runtime_session_state(hob_api_runtime(r), hob_api_z(r, hob_api_id(r)), out, err);
    int rc = hob_session_state(hob_room_session(room), out, NULL, err);
    hob_hub_leave(room);
    return rc;
}

void hob_api_state(hob_web_request *r) {
    hob_state *s;
    hob_error err;
    if (!hob_api_is_there(r)) return;
    int rc = look(r, &s, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    answer_state(r, s);
    hob_state_destroy(s);
}

/* ---- changing -------------------------------------------------------------------------------------------------------- */

typedef struct change {
    hob_str delta, removed;
    int64_t revision; /* that must hold; -1 = any */
    bool by_header;
} change;

/* If-Match: one tag of ours, or "*", which every session that is there matches. */
static bool take_tag(hob_web_request *r, change *c) {
    hob_str tag = hob_str_trim(hob_web_header(r, "if-match"));
    if (!tag.n || hob_str_eqz(tag, "*")) return true;
    bool quoted = tag.n > 2 && tag.p[0] == '"' && tag.p[tag.n - 1] == '"';
    c->by_header = true;
    if (quoted && c->revision < 0 &&
        hob_str_int(hob_str_n(tag.p + 1, tag.n - 2), &c->revision) >= 0 && c->revision >= 0)
        return true;
    hob_web_fail(r, 400, "bad_request",
                 "If-Match is the ETag of a state (\"123\"), and \"revision\" the same in the "
                 "body: give one of the two");
    return false;
}

static bool take_change(hob_web_request *r, const hob_json *body, change *c) {
    static const char *const known[] = {"delta", "removed", "revision", NULL};
    const hob_json *d = hob_json_get(body, "delta"), *x = hob_json_get(body, "removed");
    const hob_json *revision = hob_json_get(body, "revision");
    *c = (change){.delta = hob_json_raw(d), .removed = hob_json_raw(x), .revision = -1};
    if (!hob_api_known(r, body, known)) return false;
    if ((d && !hob_json_is(d, HOB_JSON_OBJECT)) || (x && !hob_json_is(x, HOB_JSON_ARRAY)) ||
        (revision && (hob_json_int(revision, &c->revision) < 0 || c->revision < 0)) || (!d && !x)) {
        hob_web_fail(
            r, 400, "bad_request",
            "give \"delta\": an object of keys to set, or \"removed\": an array of keys, or "
            "both; \"revision\" is a number");
        return false;
    }
    return take_tag(r, c);
}

/* The library's number of the state that the client means; HOB_EBUSY: it is another one by now. */
static int compare(hob_session *s, const change *c, uint64_t *at, hob_error *err) {
    hob_state *now;
    hob_buf b;
    int rc = hob_session_state(s, &now, at, err);
    if (rc < 0) return rc;
    hob_buf_init(&b, HOB_API_ANSWER_MAX);
    int64_t revision = write_state(now, &b);
    hob_buf_finish(&b);
    hob_state_destroy(now);
    if (revision == c->revision) return HOB_OK;
    return hob_fail(err, HOB_EBUSY, 0, "the state is at revision %lld, not at %lld: look again",
                    (long long)revision, (long long)c->revision);
}

/* Who changes it in between makes the next comparison fail, or left it as it was. */
static int apply_guarded(hob_session *s, const change *c, hob_error *err) {
    uint64_t at;
    int rc = HOB_EBUSY;
    for (int i = 0; i < TRIES && rc == HOB_EBUSY; i++) {
        if ((rc = compare(s, c, &at, err)) < 0) return rc;
        rc = hob_session_apply_state_delta_at(s, at, c->delta, c->removed, err);
    }
    return rc;
}

static void apply(hob_web_request *r, hob_session *s, const change *c) {
    hob_state *now;
    hob_error err;
    int rc = c->revision < 0 ? hob_session_apply_state_delta(s, c->delta, c->removed, &err)
                             : apply_guarded(s, c, &err);
    if (rc >= 0) rc = hob_session_state(s, &now, NULL, &err);
    if (rc == HOB_EBUSY && c->revision >= 0) {
        hob_web_fail(r, c->by_header ? 412 : 409, "stale", "%s", err.message);
    } else if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
    } else {
        answer_state(r, now);
        hob_state_destroy(now);
    }
}

void hob_api_state_change(hob_web_request *r) {
    const hob_json *body = hob_web_json(r);
    change c;
    if (!body || !take_change(r, body, &c)) return;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    apply(r, hob_room_session(room), &c);
    hob_hub_leave(room);
}
