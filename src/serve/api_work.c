/*
 * api_work.c - saying something to a session: prompt, steer, follow up; and taking it back: cancel, move, rewind.
 */
#include "serve/api.h"

#include <stdio.h>

enum {
    TRIES = 8,             /* against others who talk to the same session */
    SETTLE_MS = 15 * 1000, /* of a run that is interrupted */
    SLICE_MS = 200,        /* and how often we look whether the server stops */
    KEY_MAX = 255
};

typedef hob_api_message message;

/* ---- what to do when it is busy ------------------------------------------------------------------------------- */

static int send_as(message *m, hob_send how, hob_error *err) {
    hob_send_opts o = HOB_SEND_OPTS_INIT;
    m->became = o.how = how;
    o.content = m->content;
    o.payer = m->payer;
    o.key = hob_str_z(m->key);
    return hob_session_send_with(m->s, &o, &m->receipt, err);
}

/* Stops what runs; what is queued stays for the run that follows. */
static int interrupt(hob_web_request *r, message *m, hob_error *err) {
    int rc = HOB_ETIMEDOUT;
    for (int ms = 0; rc == HOB_ETIMEDOUT && ms < SETTLE_MS; ms += SLICE_MS) {
        if (hob_hub_stopping(hob_api_hub(r)))
            return hob_fail(err, HOB_EAGAIN, 0, "the server is stopping: try again");
        rc = hob_session_cancel_and_settle(m->s, HOB_QUEUED_KEEP, SLICE_MS, err);
    }
    return rc;
}

/* Between two calls the session may begin or end its work: then the other call is the right one. */
static int deliver(hob_web_request *r, message *m, hob_error *err) {
    int rc = m->policy == HOB_BUSY_STEER ? send_as(m, HOB_SEND_STEER, err)
                                         : send_as(m, HOB_SEND_PROMPT, err);
    for (int i = 0; i < TRIES && (rc == HOB_EBUSY || rc == HOB_EIDLE); i++) {
        if (rc == HOB_EIDLE) {
            rc = send_as(m, HOB_SEND_PROMPT, err);
        } else if (m->policy == HOB_BUSY_REJECT) {
            return hob_fail(err, rc, 0,
                            "a run is under way: wait, cancel it, or say with when_busy what shall "
                            "happen then: enqueue, steer or interrupt");
        } else if (m->policy == HOB_BUSY_INTERRUPT) {
            rc = interrupt(r, m, err);
            if (rc >= 0) rc = send_as(m, HOB_SEND_PROMPT, err);
        } else {
            rc = send_as(m, m->policy == HOB_BUSY_STEER ? HOB_SEND_STEER : HOB_SEND_FOLLOW_UP, err);
        }
    }
    return rc;
}

bool hob_api_when_busy(hob_web_request *r, hob_str word, hob_when_busy *out) {
    static const char *const names[] = {"reject", "enqueue", "interrupt", "steer"};
    if (!word.p) return true;
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++)
        if (hob_str_eqz(word, names[i])) {
            *out = (hob_when_busy)i;
            return true;
        }
    hob_web_fail(r, 400, "bad_request", "when_busy can be: reject, enqueue, interrupt, steer");
    return false;
}

/* ---- answers ------------------------------------------------------------------------------------------------------ */

static void write_answer(hob_web_request *r, const hob_answer *a) {
    static const char *const words[] = {"started", "steering", "queued"};
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 4096);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "status", hob_str_z(words[a->became]));
    hob_jsonw_kstr(&w, "run_id", hob_str_z(a->run));
    hob_jsonw_kint(&w, "seq", (int64_t)a->seq);
    hob_jsonw_object_end(&w);
    hob_web_note(r, "run_id", hob_str_z(a->run));
    hob_web_answer_json(r, 202, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void answer_before(hob_web_request *r, const hob_answer *a) {
    hob_web_answer_header(r, "Idempotency-Replayed", HOB_STR("true"));
    write_answer(r, a);
}

bool hob_api_key(hob_web_request *r, char out[HOB_KEY_SIZE]) {
    hob_str key = hob_web_header(r, "idempotency-key");
    out[0] = 0;
    if (key.n > KEY_MAX) {
        hob_web_fail(r, 400, "bad_request", "Idempotency-Key has at most %d bytes", KEY_MAX);
        return false;
    }
    if (key.n) hob_key_make(key, hob_str_z(hob_web_route(r)->path), hob_web_body(r), out);
    return true;
}

void hob_api_fail_reused(hob_web_request *r) {
    hob_web_fail(r, 422, "idempotency_key_reused",
                 "this Idempotency-Key was used for another request, and nothing was done now; "
                 "send each request with a key of its own");
}

/* The same request again, by its key: what was answered then. True: that was done, or the key cannot be used. */
static bool answer_again(hob_web_request *r, hob_room *room, message *m) {
    hob_answer before;
    hob_error err;
    if (!hob_api_key(r, m->key)) return true;
    if (!m->key[0]) return false;
    int rc = hob_room_asked(room, m->key, &before, &err);
    if (rc == 1)
        answer_before(r, &before);
    else if (rc == HOB_EBUSY)
        hob_web_fail(r, 409, "in_progress",
                     "the request with this Idempotency-Key is being answered");
    else if (rc == HOB_EEXIST)
        hob_api_fail_reused(r);
    else if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    return rc != 0;
}

static void finish_message(hob_web_request *r, hob_room *room, const message *m, int rc,
                           const hob_error *err) {
    hob_answer a = {.became = m->became, .seq = m->receipt.seq};
    snprintf(a.run, sizeof a.run, "%s", m->receipt.run);
    if (m->key[0]) hob_room_answered(room, m->key, rc < 0 ? NULL : &a);
    if (rc < 0)
        hob_web_fail_hob(r, rc, err);
    else
        write_answer(r, &a);
}

int hob_api_send(hob_web_request *r, hob_room *room, hob_api_message *m, hob_error *err) {
    int rc = hob_room_begin(room, hob_web_caller(r), err);
    if (rc < 0) return rc;
    m->s = hob_room_session(room);
    m->payer = hob_web_caller(r)->name;
    rc = hob_session_set_traceparent(m->s, hob_web_traced(r), err);
    if (rc >= 0) rc = deliver(r, m, err);
    hob_room_begun(room, rc);
    return rc;
}

void hob_api_prompt(hob_web_request *r) {
    static const char *const known[] = {"text", "content", "when_busy", "model", NULL};
    const hob_json *body = hob_web_json(r);
    message m = {.receipt = HOB_RECEIPT_INIT};
    hob_str model, policy;
    hob_error err;
    if (!body || !hob_api_known(r, body, known)) return;
    if (!hob_api_text(r, body, "when_busy", &policy)) return;
    if (!hob_api_when_busy(r, policy, &m.policy)) return;
    if (!hob_api_content(r, body, &m.content) || !hob_api_model(r, body, &model)) return;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    if (!answer_again(r, room, &m)) {
        int rc = HOB_OK;
        if (model.p) rc = hob_session_set_model(hob_room_session(room), hob_api_z(r, model), &err);
        if (rc >= 0) rc = hob_api_send(r, room, &m, &err);
        finish_message(r, room, &m, rc, &err);
    }
    hob_hub_leave(room);
}

static void send_while_busy(hob_web_request *r, hob_send how) {
    static const char *const known[] = {"text", "content", NULL};
    const hob_json *body = hob_web_json(r);
    message m = {.receipt = HOB_RECEIPT_INIT};
    hob_error err;
    if (!body || !hob_api_known(r, body, known) || !hob_api_content(r, body, &m.content)) return;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    if (!answer_again(r, room, &m)) {
        m.s = hob_room_session(room);
        m.payer = hob_web_caller(r)->name;
        int rc = hob_room_begin(room, hob_web_caller(r), &err);
        if (rc >= 0) hob_room_begun(room, rc = send_as(&m, how, &err));
        finish_message(r, room, &m, rc, &err);
    }
    hob_hub_leave(room);
}

void hob_api_steer(hob_web_request *r) {
    send_while_busy(r, HOB_SEND_STEER);
}

void hob_api_follow_up(hob_web_request *r) {
    send_while_busy(r, HOB_SEND_FOLLOW_UP);
}

/* ---- stopping and going back ---------------------------------------------------------------------------------------- */

static bool take_queue(hob_web_request *r, const hob_json *body, hob_queue_choice *out) {
    static const char *const names[] = {"return", "keep", "drop"};
    hob_str word;
    if (!hob_api_text(r, body, "queue", &word)) return false;
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++)
        if (!word.p || hob_str_eqz(word, names[i])) {
            *out = (hob_queue_choice)i;
            return true;
        }
    hob_web_fail(r, 400, "bad_request", "queue can be: return, keep, drop");
    return false;
}

static void answer_done(hob_web_request *r, int rc, const hob_error *err) {
    if (rc < 0)
        hob_web_fail_hob(r, rc, err);
    else
        hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}

void hob_api_cancel(hob_web_request *r) {
    static const char *const known[] = {"queue", NULL};
    const hob_json *body = hob_web_json(r);
    hob_queue_choice queue;
    hob_error err;
    if (!body || !hob_api_known(r, body, known) || !take_queue(r, body, &queue)) return;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    answer_done(r, hob_session_cancel(hob_room_session(room), queue, &err), &err);
    hob_hub_leave(room);
}

void hob_api_move(hob_web_request *r) {
    static const char *const known[] = {"entry", NULL};
    const hob_json *body = hob_web_json(r);
    hob_str entry;
    hob_error err;
    if (!body || !hob_api_known(r, body, known) || !hob_api_text(r, body, "entry", &entry)) return;
    if (!entry.p) {
        hob_web_fail(r, 400, "bad_request", "say which entry goes on; \"\" is before the first");
        return;
    }
    hob_room *room = hob_api_open(r);
    if (!room) return;
    answer_done(r, hob_session_move(hob_room_session(room), hob_api_z(r, entry), &err), &err);
    hob_hub_leave(room);
}

void hob_api_rewind(hob_web_request *r) {
    static const char *const known[] = {"run", NULL};
    const hob_json *body = hob_web_json(r);
    hob_str run;
    hob_error err;
    if (!body || !hob_api_known(r, body, known) || !hob_api_text(r, body, "run", &run)) return;
    if (!run.n) {
        hob_web_fail(r, 400, "bad_request", "say which run to go back before");
        return;
    }
    hob_room *room = hob_api_open(r);
    if (!room) return;
    answer_done(r, hob_session_rewind(hob_room_session(room), run, &err), &err);
    hob_hub_leave(room);
}
