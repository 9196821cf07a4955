/*
 * pause.c - several messages at once, a run that stands still, and one that goes on.
 */
#include "session/session.h"

typedef struct steering {
    hob_op op;
    hob_input in;
} steering;

/* An input to a run that is there. */
static int tell(hob_session *s, hob_input *in, hob_error *err) {
    int rc = hob_session_admit(s, err);
    if (rc >= 0) rc = hob_session_usable(s, err);
    if (rc >= 0 && s->left_alone)
        rc = hob_fail(err, HOB_EIDLE, 0,
                      "the run was left unfinished: resume it first, or send a prompt");
    return rc < 0 ? rc : hob_session_input(s, in, err);
}

/* ---- several at once ------------------------------------------------------------------------------------ */

static void start_batch(hob_op *op) {
    hob_input *in = &HOB_CONTAINER(op, steering, op)->in;
    hob_error err;
    in->after = op->s->run.last_seq;
    hob_op_conclude(op, tell(op->s, in, &err), &err);
}

static int steer_with(hob_session *s, hob_buf *contents, size_t n, hob_error *err) {
    hob_str batch[HOB_QUEUE_MAX];
    steering c = {.op = {.start = start_batch},
                  .in = {.kind = HOB_INPUT_STEER, .batch = batch, .nbatch = n}};
    for (size_t i = 0; i < n; i++) batch[i] = hob_buf_str(&contents[i]);
    return hob_session_run(s, &c.op, err);
}

int hob_session_steer_all(hob_session *s, const hob_str *texts, size_t n, hob_error *err) {
    hob_buf contents[HOB_QUEUE_MAX];
    size_t made = 0;
    if (n == 0) return HOB_OK;
    if (n > HOB_QUEUE_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "at most %d messages can wait", HOB_QUEUE_MAX);
    int rc = hob_session_enter(s, err);
    if (rc < 0) return rc;
    for (; made < n && rc >= 0; made++) {
        hob_buf_init(&contents[made], HOB_EVENT_MAX / 2);
        rc = hob_session_users_text(s, texts[made], &contents[made], err);
    }
    if (rc >= 0) rc = steer_with(s, contents, n, err);
    while (made) hob_buf_finish(&contents[--made]);
    hob_session_leave(s);
    return rc;
}

/* ---- standing still, and going on --------------------------------------------------------------------------- */

static int take_up(hob_session *s, hob_error *err) {
    int rc = hob_session_say_settings(s, err);
    if (rc >= 0) rc = hob_session_repair_strangers(s, err);
    if (rc >= 0) rc = hob_session_input(s, &(hob_input){.kind = HOB_INPUT_RESUME}, err);
    if (rc >= 0) s->left_alone = false;
    return rc;
}

/* A run may have been paused, left by a dead process, or both. */
static void start_resume(hob_op *op) {
    hob_session *s = op->s;
    bool paused = s->run.paused;
    hob_error err;
    int rc = hob_session_admit(s, &err);
    if (rc >= 0) rc = hob_session_usable(s, &err);
    if (rc >= 0 && !s->left_alone && !paused)
        rc = hob_fail(&err, HOB_EIDLE, 0, "there is no paused or unfinished run to resume");
    if (rc >= 0 && s->left_alone) rc = take_up(s, &err);
    if (rc >= 0 && paused) rc = hob_session_input(s, &(hob_input){.kind = HOB_INPUT_UNPAUSE}, &err);
    hob_op_conclude(op, rc, &err);
}

int hob_session_resume(hob_session *s, hob_error *err) {
    hob_op op = {.start = start_resume};
    return hob_session_run(s, &op, err);
}

/* What waits here waits in the log: a session that has none cannot promise to go on. */
static int pause_now(hob_session *s, hob_error *err) {
    if (s->store != s->rt->memory) return tell(s, &(hob_input){.kind = HOB_INPUT_PAUSE}, err);
    return hob_fail(err, HOB_ENOSYS, 0,
                    "the session is kept in memory only, so a paused run would be lost with the "
                    "program: let it run, cancel it, or keep the session in a store");
}

static void start_pause(hob_op *op) {
    hob_error err;
    hob_op_conclude(op, pause_now(op->s, &err), &err);
}

int hob_session_pause(hob_session *s, hob_error *err) {
    hob_op op = {.start = start_pause};
    return hob_session_run(s, &op, err);
}
