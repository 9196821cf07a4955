/*
 * append.c - the way of an event: appended -> durable.
 *
 * Appended: the sequence number is given and the views have changed. Durable: the commit returned; only then readers see
 * it, operations return and effects that wait for it start. If a commit fails, nothing after it was stored either:
 * everything under way is dropped and the views are folded anew from what the store has.
 */
#include "session/artifact.h"
#include "session/crew.h"
#include "session/session.h"
#include "session/task.h"

enum { PROMPT_SHOWN = 200 }; /* bytes of a prompt in the list of runs */

int64_t hob_session_now(hob_session *s) {
    return s->clock_base + hob_loop_now(s->rt->loop);
}

/* ---- appending ------------------------------------------------------------------------------------- */

static void tail_push(hob_session *s, hob_event *e) {
    if (s->ntail == s->tail_cap) {
        s->tail_cap = s->tail_cap ? s->tail_cap * 2 : 16;
        s->tail = hob_realloc(s->tail, s->tail_cap * sizeof *s->tail);
    }
    if (!s->ntail) s->tail_base = e->seq;
    s->tail[s->ntail++] = hob_event_ref(e);
}

/* The first event that a reader may ask for soon: those far behind read from the store. */
static uint64_t first_needed(hob_session *s) {
    uint64_t keep = s->durable + 1;
    HOB_LIST_EACH (it, &s->readers) {
        const hob_reader *r = HOB_CONTAINER(it, hob_reader, link);
        bool behind = r->reading && r->cursor < s->durable;
        if (behind && s->durable - r->cursor <= HOB_TAIL_EVENTS)
            keep = HOB_MIN(keep, r->cursor + 1);
    }
    return keep;
}

/* Keeps what is not durable yet and what readers have not seen, up to a ceiling; an idle session keeps nothing. */
void hob_session_trim_tail(hob_session *s) {
    uint64_t keep = first_needed(s);
    size_t drop = keep > s->tail_base ? (size_t)HOB_MIN(keep - s->tail_base, s->ntail) : 0;
    if (!drop) return;
    for (size_t i = 0; i < drop; i++) hob_event_unref(s->tail[i]);
    s->ntail -= drop;
    s->tail_base += drop;
    memmove(s->tail, s->tail + drop, s->ntail * sizeof *s->tail);
    if (s->ntail) return;
    hob_free(s->tail);
    s->tail = NULL;
    s->tail_cap = 0;
}

int hob_session_fold(hob_session *s, hob_event *e, const hob_json *data, hob_error *err) {
    int rc = hob_view_apply(s->view, e, data, err);
    if (rc >= 0) rc = hob_run_apply(&s->run, e, data, err);
    if (rc >= 0 && s->crew) rc = hob_flow_apply(s->crew->flow, &s->run, e, data, err);
    if (rc >= 0) hob_session_note_result(s, e, data);
    if (rc >= 0 && s->task) hob_task_note(s->task, e, data);
    return rc;
}

int hob_session_usable(hob_session *s, hob_error *err) {
    if (s->let_go) return hob_fail(err, HOB_ECANCELLED, 0, "the session is being closed");
    if (s->refolding)
        return hob_fail(err, HOB_EAGAIN, 0, "the session is being read again: try again");
    if (s->failed) return hob_fail(err, s->failed, s->fail_error.sub, "%s", s->fail_error.message);
    return HOB_OK;
}

/* What could not be read back is not written. */
static int encode(hob_session *s, hob_draft *d, hob_event **out, const hob_json **data,
                  hob_error *err) {
    uint64_t leaf = hob_history_leaf(s->view->history);
    hob_arena *scratch = s->rt->scratch;
    char parent[24];
    int rc = hob_session_usable(s, err);
    if (rc < 0) return rc;
    if (d->is_entry && leaf && !d->parent_entry.n) {
        int n = snprintf(parent, sizeof parent, "e%llu", (unsigned long long)leaf);
        d->parent_entry = hob_str_n(parent, (size_t)n);
    }
    rc = hob_event_encode(d, hob_str_z(s->id), s->view->last_seq + 1, hob_session_now(s), out, err);
    if (rc < 0) return rc;
    hob_arena_reset(scratch);
    if ((*data = hob_event_parse(*out, scratch))) return HOB_OK;
    hob_event_unref(*out);
    return hob_fail(err, HOB_ETOOBIG, 0, "an event is nested too deeply");
}

int hob_session_append(hob_session *s, hob_draft *d, hob_error *err) {
    hob_error local = {.code = HOB_OK};
    const hob_json *data;
    hob_event *e;
    if (!err) err = &local;
    hob_crash_point("append.before");
    int rc = encode(s, d, &e, &data, err);
    hob_draft_finish(d);
    if (rc < 0) return rc;
    tail_push(s, e);
    rc = hob_session_fold(s, e, data, err);
    if (rc >= 0) hob_session_note_temp(s, e, data);
    if (rc >= 0 && s->crew) hob_crew_note(s->crew, e, data);
    if (rc >= 0 && s->crew) hob_crew_sync(s->crew);
    hob_event_unref(e);
    hob_crash_point("append.after");
    if (rc < 0) hob_session_fail(s, rc, err); /* the views are no fold of the log any more */
    return rc;
}

/* ---- saying ---------------------------------------------------------------------------------------------- */

static int say_input(hob_strand *st, const hob_input *in, hob_error *err) {
    hob_run_env env;
    hob_draft d;
    int said = HOB_SAID_MORE, rc = HOB_OK;
    while (said == HOB_SAID_MORE && rc >= 0) {
        hob_strand_env(st, &env);
        said = hob_run_decide(st->run, &env, in, &d, err);
        if (said < 0) return said;
        if (said) rc = hob_session_append(st->s, &d, err);
    }
    return rc;
}

/* What is written next though nothing new came in; one event may lead to another in any strand. */
static int next_event(hob_session *s, hob_draft *out) {
    const hob_input next = {.kind = HOB_INPUT_NEXT};
    hob_run_env env;
    hob_strand_env(&s->own, &env);
    if (hob_run_decide(&s->run, &env, &next, out, NULL) > 0) return HOB_SAID_MORE;
    return s->crew ? hob_crew_next(s->crew, out) : HOB_SAID_NOTHING;
}

int hob_session_append_changes(hob_session *s, hob_draft *d, const hob_state *changes,
                               hob_error *err) {
    int rc = hob_session_append(s, d, err);
    if (rc < 0) return rc;
    hob_overlay_apply(changes, HOB_SCOPE_TEMP, &s->view->state);
    s->temp_kept = true;
    return rc;
}

static int say_answer(hob_session *s, const hob_flow_answer *a, hob_error *err) {
    hob_draft d;
    int said = HOB_SAID_MORE, rc = HOB_OK;
    while (said == HOB_SAID_MORE && rc >= 0) {
        said = hob_flow_answered(s->crew->flow, &s->run, a, &d, err);
        if (said < 0) return said;
        rc = d.type == HOB_EVENT_STATE_CHANGED ? hob_session_append_changes(s, &d, a->changes, err)
                                               : hob_session_append(s, &d, err);
    }
    return rc;
}

/* Either of the two, and everything that follows from it. */
typedef struct news {
    hob_strand *strand;
    const hob_input *in;
    const hob_flow_answer *answer;
} news;

static int say(hob_session *s, const news *n, hob_error *err) {
    hob_draft d;
    int rc = n->in ? say_input(n->strand, n->in, err) : say_answer(s, n->answer, err);
    while (rc >= 0 && next_event(s, &d)) rc = hob_session_append(s, &d, err);
    return rc;
}

static int take(hob_session *s, const news *n, hob_error *err) {
    hob_error local;
    uint64_t before = s->view->last_seq;
    if (!err) err = &local;
    int rc = hob_session_usable(s, err);
    if (rc >= 0) rc = say(s, n, err);
    if (rc < 0 && s->view->last_seq != before) /* half said: the log is the truth, fold it again */
        hob_session_fail(s, rc, err);
    if (rc < 0) return rc;
    hob_session_commit(s);
    hob_session_kick(s);
    return rc;
}

int hob_strand_input(hob_strand *st, hob_input *in, hob_error *err) {
    return take(st->s, &(news){.strand = st, .in = in}, err);
}

int hob_session_agent_answered(hob_session *s, const hob_flow_answer *a, hob_error *err) {
    return take(s, &(news){.answer = a}, err);
}

int hob_session_input(hob_session *s, hob_input *in, hob_error *err) {
    hob_strand *st = in->kind == HOB_INPUT_VERDICT ? hob_session_strand_of(s, in->call) : NULL;
    return hob_strand_input(st ? st : &s->own, in, err);
}

void hob_strand_outcome(hob_strand *st, hob_input *in) {
    hob_session *s = st->s;
    hob_error err;
    int rc = hob_strand_input(st, in, &err);
    bool late = rc == HOB_EEXIST; /* the first end won */
    if (rc < 0 && !late && hob_session_usable(s, NULL) >= 0) hob_session_fail(s, rc, &err);
}

void hob_session_outcome(hob_session *s, hob_input *in) {
    hob_strand_outcome(&s->own, in);
}

/* ---- committing ---------------------------------------------------------------------------------------- */

typedef struct commit {
    hob_session *s;
    uint64_t upto;
} commit;

static hob_str session_state(hob_session *s) {
    if (!hob_session_active(s)) return HOB_STR("idle");
    return hob_session_parked(s) ? HOB_STR("parked") : HOB_STR("running");
}

void hob_session_fill_row(const hob_view *v, hob_str id, hob_str state, hob_store_session *row) {
    *row = (hob_store_session){.id = id,
                               .cwd = v->cwd,
                               .title = v->title.n ? v->title : v->first_prompt,
                               .model = v->model,
                               .parent = v->forked_from,
                               .state = state,
                               .created_ms = v->opened_ts,
                               .updated_ms = v->last_ts,
                               .messages = v->messages};
}

/* The row of a run that this event started, parked or ended; the prompt stands in its own event,
 * or is that of the run it continues. */
size_t hob_session_fill_run(const hob_session *s, const hob_event *e, hob_arena *a,
                            hob_store_run *run) {
    char text[PROMPT_SHOWN + 1];
    const hob_json *d;
    *run = (hob_store_run){.id = e->run_id, .started_ms = -1, .finished_ms = -1};
    if (!e->run_id.n) return 0;
    switch ((int)e->type) {
    case HOB_EVENT_RUN_STARTED:
        run->status = HOB_STR("running");
        run->started_ms = e->ts;
        run->finished_ms = 0;
        run->first_seq = e->seq;
        d = hob_event_parse(e, a);
        run->continues = hob_arena_dup(a, hob_json_get_str(d, "continues"));
        return 1;
    case HOB_EVENT_USER_MESSAGE:
        hob_event_text(e, text, sizeof text);
        run->prompt = hob_arena_dup(a, hob_str_z(text));
        return 1;
    case HOB_EVENT_ASSISTANT_MESSAGE: /* with which a paused run comes to a stand */
    case HOB_EVENT_MODEL_CALL_FAILED:
    case HOB_EVENT_TOOL_FINISHED:
    case HOB_EVENT_CHILD_FINISHED:
    case HOB_EVENT_CALLBACK_FINISHED:
        if (!s || !hob_run_held(&s->run)) return 0; /* fall through */
    case HOB_EVENT_RUN_PAUSED:
    case HOB_EVENT_RUN_RESUMED:
    case HOB_EVENT_APPROVAL_REQUESTED:
    case HOB_EVENT_APPROVAL_RESOLVED:
        run->status = s && hob_session_parked(s) ? HOB_STR("parked") : HOB_STR("running");
        return 1;
    case HOB_EVENT_RUN_FINISHED:
        d = hob_event_parse(e, a);
        run->status = hob_arena_dup(a, hob_json_get_str(d, "status"));
        run->reason = hob_arena_dup(a, hob_json_get_str(d, "reason"));
        run->finished_ms = e->ts;
        run->last_seq = e->seq;
        return 1;
    }
    return 0;
}

static void end_ops(hob_list *ops, uint64_t durable) {
    HOB_LIST_EACH_SAFE (it, ops) {
        hob_op *op = HOB_CONTAINER(it, hob_op, link);
        if (op->after > durable) continue;
        hob_list_remove(&op->link);
        hob_op_done(op, op->rc, NULL);
    }
}

void hob_session_rest(hob_session *s) {
    if (!hob_session_idle(s) || s->durable != s->view->last_seq) return;
    hob_tools_rest(s->tools);
    hob_session_keep(s);
}

static void on_committed(int code, const hob_error *err, void *user) {
    commit *c = user;
    hob_session *s = c->s;
    uint64_t upto = c->upto;
    hob_free(c);
    bool dropped = s->failed || s->refolding; /* with what came before it */
    bool open = hob_session_arrived(s);
    if (dropped) return;
    if (code < 0) {
        hob_session_fail(s, code, err);
        return;
    }
    s->fresh = false;
    hob_session_tell_scopes(s, upto);
    hob_session_tell_watchers(s, upto);
    if (upto > s->durable) s->durable = upto;
    if (open) hob_session_deliver(s);
    end_ops(&s->ops, s->durable);
    if (!open) return;
    hob_session_rest(s);
    hob_session_perform(s);
}

static void submit(hob_session *s, size_t first, size_t n) {
    hob_arena *a = hob_arena_create(0);
    hob_store_event *events = hob_arena_alloc(a, n * sizeof *events);
    hob_store_run *runs = hob_arena_alloc(a, n * sizeof *runs);
    hob_store_memory_change *taught = hob_arena_alloc(a, n * sizeof *taught);
    hob_store_batch batch = {.nappends = 1, .memory = taught};
    hob_store_session row;
    hob_store_append ap = {.session = hob_str_z(s->id),
                           .epoch = s->epoch,
                           .after_seq = s->submitted,
                           .events = events,
                           .nevents = n,
                           .row = &row,
                           .runs = runs};
    hob_scope_rows states = {.n = 0};
    hob_shelf_rows artifacts;
    hob_shelf_rows_init(&artifacts);
    commit *c = HOB_NEW(commit);
    for (size_t i = 0; i < n; i++) {
        const hob_event *e = s->tail[first + i];
        events[i] = (hob_store_event){.seq = e->seq, .json = e->json};
        ap.nruns += hob_session_fill_run(s, e, a, &runs[ap.nruns]);
        hob_session_scope_rows(s, e, a, &states);
        batch.nmemory += hob_session_take_taught(s, e, a, &taught[batch.nmemory]);
        hob_session_take_shelved(s, e, a, &artifacts);
    }
    ap.states = states.at;
    ap.nstates = states.n;
    ap.artifacts = artifacts.at;
    ap.nartifacts = artifacts.n;
    hob_store_copy copy = {.from = hob_str_z(s->forked_from),
                           .app = hob_str_z(s->app_name),
                           .user = hob_str_z(s->user_id),
                           .until_ms = s->forked_ts};
    if (copy.from.n && !s->submitted) ap.copy = &copy;
    hob_session_fill_row(s->view, ap.session, session_state(s), &row);
    *c = (commit){.s = s, .upto = s->submitted + n};
    s->submitted += n;
    s->used = true;
    s->inflight++;
    batch.appends = &ap;
    s->store->ops->commit(s->store, &batch, on_committed, c);
    hob_shelves_drop(&artifacts.taken); /* copied */
    hob_arena_destroy(a);
}

void hob_session_commit(hob_session *s) {
    uint64_t last = s->view->last_seq;
    if (s->submitted >= last || s->failed || s->let_go) return;
    submit(s, (size_t)(s->submitted + 1 - s->tail_base), (size_t)(last - s->submitted));
}

void hob_session_op_after(hob_session *s, hob_op *op) {
    op->after = s->view->last_seq;
    if (op->after <= s->durable)
        hob_op_done(op, op->rc, NULL);
    else if (s->failed)
        hob_op_done(op, s->failed, &s->fail_error);
    else
        hob_list_push(&s->ops, &op->link);
}

/* ---- failing -------------------------------------------------------------------------------------------- */

static void refuse_ops(hob_session *s) {
    HOB_LIST_EACH_SAFE (it, &s->ops) {
        hob_op *op = HOB_CONTAINER(it, hob_op, link);
        hob_list_remove(&op->link);
        hob_op_done(op, s->failed, &s->fail_error);
    }
}

/* The store refused: what was appended since is not part of the log. */
void hob_session_fail(hob_session *s, int code, const hob_error *err) {
    hob_error e = {.code = code};
    if (err) e = *err;
    if (s->failed) return;
    s->failed = code;
    s->fail_error = e;
    hob_log(HOB_LOG_ERROR, "session", "%s: %s", s->id, e.message);
    hob_session_drop_flights(s);
    HOB_LIST_EACH (it, &s->strands) /* messages being made may not be part of the log */
        hob_strand_drop_answer(HOB_CONTAINER(it, hob_strand, link));
    hob_tasks_let_go(s);
    HOB_LIST_EACH (it, &s->readers)
        hob_mailbox_end(&HOB_CONTAINER(it, hob_reader, link)->box, true, code);
    hob_session_publish(s); /* before the callers are told, who may ask at once whether it runs */
    refuse_ops(s);
    hob_session_tell_readers(s);
}
