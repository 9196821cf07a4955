/*
 * update.c - what became of a call whose tool works on elsewhere (HOB_TOOL_LONG_RUNNING).
 *
 * The receipt was its result, and the run has ended with it. Whether the call is still pending is in the history, a fold
 * of the log: so an update may come in another process, years later. It takes the place of the receipt in the
 * conversation; the log keeps both.
 */
#include "session/session.h"

typedef struct update {
    hob_op op;
    hob_input in;
    char note[300];
} update;

/* The last thing in a conversation must be for the model to answer: if something was said since the call, it is told
 * where to look. The model would take an answer at the end for one that it is to go on with. */
static void write_note(update *u, const hob_session *s, const hob_node *n) {
    if (hob_history_leaf(s->view->history) == n->seq) return;
    snprintf(u->note, sizeof u->note,
             "The %s of the call to `%.*s` has arrived and stands in the place of its receipt.",
             u->in.outcome == HOB_OUTCOME_OK ? "result" : "failure", HOB_FMT(u->in.tool));
    u->in.text = hob_str_z(u->note);
}

static hob_str tool_of(const hob_node *n, hob_str call, hob_arena *a) {
    const hob_json *content = hob_json_get(hob_event_parse(n->event, a), "content");
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        if (hob_str_eq(hob_json_get_str(b, "call"), call)) return hob_json_get_str(b, "name");
    return HOB_STR_NULL;
}

static int say(hob_session *s, update *u, hob_error *err) {
    const hob_node *n;
    int rc = hob_history_pending(s->view->history, u->in.call, &n, err);
    if (rc >= 0) rc = hob_session_say_settings(s, err);
    if (rc < 0) return rc;
    hob_arena *a = hob_arena_create(0);
    u->in.tool = tool_of(n, u->in.call, a);
    u->in.by = n->event->agent;
    if (u->in.final && !u->in.held) write_note(u, s, n);
    rc = hob_session_input(s, &u->in, err);
    hob_arena_destroy(a);
    return rc;
}

static void start(hob_op *op) {
    update *u = HOB_CONTAINER(op, update, op);
    hob_session *s = op->s;
    hob_error err;
    if (!hob_session_thaw(s, op)) return;
    int rc = hob_session_usable(s, &err);
    if (rc >= 0 && s->closing)
        rc = hob_fail(&err, HOB_ECANCELLED, 0, "the session is being closed");
    if (rc >= 0 && (s->left_alone || hob_session_active(s)))
        rc = hob_fail(&err, HOB_EBUSY, 0,
                      s->left_alone ? "the run was left unfinished: resume it first, or cancel it"
                                    : "a run is under way: wait until it has ended");
    if (rc >= 0) rc = say(s, u, &err);
    hob_session_commit(s);
    hob_session_kick(s);
    if (rc < 0)
        hob_op_done(op, rc, &err);
    else
        hob_session_op_after(s, op);
}

int hob_session_tool_update(hob_session *s, hob_str call, hob_update what, hob_str content,
                            hob_error *err) {
    bool failed = what == HOB_UPDATE_FAILURE || what == HOB_UPDATE_FAILURE_HELD;
    update u = {.op = {.start = start},
                .in = {.kind = HOB_INPUT_TOOL_UPDATED,
                       .call = call,
                       .content = content,
                       .outcome = failed ? HOB_OUTCOME_ERROR : HOB_OUTCOME_OK,
                       .final = what != HOB_UPDATE_PROGRESS,
                       .held = what >= HOB_UPDATE_RESULT_HELD}};
    if (what > HOB_UPDATE_FAILURE_HELD)
        return hob_fail(err, HOB_EINVAL, 0, "there is no such update");
    int rc = hob_content_check(content, err);
    return rc < 0 ? rc : hob_session_run(s, &u.op, err);
}
