/*
 * api_approvals.c - calls that wait for a person, and calls whose result comes from outside.
 *
 * An approval is answered once. Whoever comes second is told what was decided, whoever decided it: another client, or
 * a cancel.
 */
#include "serve/api.h"

#include <stdio.h>

void hob_api_approvals(hob_web_request *r) {
    hob_page *page = NULL;
    hob_error err;
    if (!hob_api_is_there(r)) return;
    hob_room *room = hob_api_peek(r);
    int rc = room ? hob_session_pending_confirmations(hob_room_session(room), &page, &err)
                  : hob_runtime_pending_confirmations(hob_api_runtime(r),
                                                      hob_api_z(r, hob_api_id(r)), &page, &err);
    if (room) hob_hub_leave(room);
    hob_api_conclude(r, rc, "approvals", page, &err);
}

/* ---- what was decided ------------------------------------------------------------------------------------------------ */

typedef enum decided { UNKNOWN, ASKED, DENIED, APPROVED, OVER } decided;

/* What this event says about the call, or what was known before. */
static decided look_at(const hob_event *e, hob_str call, decided before) {
    char id[160] = "", word[8] = "";
    hob_event_type type = hob_event_type_of(e);
    if (type == HOB_EVENT_RUN_FINISHED) return before == ASKED ? OVER : before;
    if (type != HOB_EVENT_APPROVAL_REQUESTED && type != HOB_EVENT_APPROVAL_RESOLVED) return before;
    hob_event_field(e, "call", id, sizeof id);
    if (!hob_str_eqz(call, id)) return before;
    if (type == HOB_EVENT_APPROVAL_REQUESTED) return ASKED;
    hob_event_field(e, "approved", word, sizeof word);
    return !strcmp(word, "true") ? APPROVED : DENIED;
}

/* Only a conflict reads the log for it. */
static decided find_verdict(hob_web_request *r, hob_str call) {
    const char *id = hob_api_z(r, hob_api_id(r));
    decided known = UNKNOWN;
    uint64_t after = 0;
    bool more = true;
    while (more) {
        hob_page *page;
        hob_event *e;
        if (hob_runtime_events(hob_api_runtime(r), id, after, 512, &page, NULL) < 0) break;
        more = hob_page_next(page).n > 0;
        for (size_t i = 0; i < hob_page_count(page); i++) {
            if (hob_event_from_json(hob_page_row(page, i), &e, NULL) < 0) continue;
            after = hob_event_seq(e);
            known = look_at(e, call, known);
            hob_event_unref(e);
        }
        hob_page_destroy(page);
    }
    return known;
}

static void answer_decided(hob_web_request *r, decided what) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1024);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, "error");
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "code", HOB_STR("already_decided"));
    hob_jsonw_kstr(&w, "message",
                   what == OVER ? HOB_STR("the run ended before anybody answered")
                                : HOB_STR("this was answered already"));
    hob_jsonw_kbool(&w, "approved", what == APPROVED);
    hob_jsonw_object_end(&w);
    hob_jsonw_object_end(&w);
    hob_web_answer_json(r, 409, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void answer_conflict(hob_web_request *r, int rc, const hob_error *err) {
    hob_str call = hob_web_param(r, "call");
    decided what = rc == HOB_EEXIST || rc == HOB_ENOENT ? find_verdict(r, call) : UNKNOWN;
    switch (what) {
    case DENIED:
    case APPROVED:
    case OVER: answer_decided(r, what); break;
    case ASKED:
    case UNKNOWN: hob_web_fail_hob(r, rc, err); break;
    }
}

/* ---- answering ----------------------------------------------------------------------------------------------------------- */

typedef struct said {
    hob_verdict verdict;
    hob_str reason;
    hob_str answer; /* to a question, JSON; "" = none */
} said;

static bool is_once(hob_web_request *r, const hob_json *body) {
    hob_str word;
    if (!hob_api_text(r, body, "remember", &word)) return false;
    if (!word.p || hob_str_eqz(word, "once")) return true;
    hob_web_fail(r, 400, "bad_request",
                 "remember can be: once; an approval for longer is not possible yet");
    return false;
}

static bool take_answer(hob_web_request *r, const hob_json *body, said *out) {
    static const char *const known[] = {"approved", "reason", "answer", "remember", NULL};
    const hob_json *approved = hob_json_get(body, "approved"),
                   *answer = hob_json_get(body, "answer");
    if (!hob_api_known(r, body, known) || !hob_api_text(r, body, "reason", &out->reason) ||
        !is_once(r, body))
        return false;
    bool whole = hob_json_is(approved, HOB_JSON_BOOL), yes = hob_json_bool(approved);
    if (whole && (yes || !answer)) {
        out->verdict = yes ? HOB_VERDICT_ALLOW : HOB_VERDICT_DENY;
        out->answer = hob_json_raw(answer);
        return true;
    }
    hob_web_fail(r, 400, "bad_request",
                 whole ? "an answer goes with \"approved\": true"
                       : "approved must be true or false");
    return false;
}

static int say(hob_session *s, hob_str call, const said *x, hob_error *err) {
    return x->answer.n ? hob_session_answer(s, call, x->answer, err)
                       : hob_session_confirm_tool_use(s, call, x->verdict, x->reason, err);
}

void hob_api_approve(hob_web_request *r) {
    const hob_json *body = hob_web_json(r);
    said x;
    hob_str call = hob_web_param(r, "call");
    hob_error err;
    if (!body || !take_answer(r, body, &x)) return;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    int rc = hob_room_go_on(room, hob_web_caller(r), &err);
    if (rc >= 0) hob_room_begun(room, rc = say(hob_room_session(room), call, &x, &err));
    hob_hub_leave(room);
    if (rc < 0)
        answer_conflict(r, rc, &err);
    else
        hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}

/* ---- calls whose work goes on elsewhere ------------------------------------------------------------------------------------- */

void hob_api_calls(hob_web_request *r) {
    hob_page *page = NULL;
    hob_error err;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    int rc = hob_session_pending_calls(hob_room_session(room), &page, &err);
    hob_hub_leave(room);
    hob_api_conclude(r, rc, "calls", page, &err);
}

static bool take_update(hob_web_request *r, const hob_json *body, hob_update *out) {
    static const char *const names[] = {"progress", "ok", "error"};
    hob_str word;
    if (!hob_api_text(r, body, "outcome", &word)) return false;
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++)
        if (hob_str_eqz(word, names[i])) {
            *out = (hob_update)i;
            return true;
        }
    hob_web_fail(r, 400, "bad_request", "outcome can be: ok, error, progress");
    return false;
}

void hob_api_call_cancel(hob_web_request *r) {
    hob_error err;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    int rc = hob_session_cancel_call(hob_room_session(room), hob_web_param(r, "call"), &err);
    hob_hub_leave(room);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}

void hob_api_call_result(hob_web_request *r) {
    static const char *const known[] = {"outcome", "text", "content", NULL};
    const hob_json *body = hob_web_json(r);
    hob_update what = HOB_UPDATE_RESULT;
    hob_str content, call = hob_web_param(r, "call");
    hob_error err;
    if (!body || !hob_api_known(r, body, known) || !take_update(r, body, &what)) return;
    if (!hob_api_content(r, body, &content)) return;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    int rc = hob_room_go_on(room, hob_web_caller(r), &err);
    if (rc >= 0) {
        rc = hob_session_tool_update(hob_room_session(room), call, what, content, &err);
        hob_room_begun(room, what == HOB_UPDATE_PROGRESS ? HOB_EIDLE : rc);
    }
    hob_hub_leave(room);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}
