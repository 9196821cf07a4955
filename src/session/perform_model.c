/*
 * perform_model.c - the effect "call the model": hands the conversation to the provider, streams the answer to readers,
 * and gives the whole outcome back to the run.
 */
#include "session/crew.h"
#include "session/session.h"

static hob_model_call **call_of(hob_flight *f) {
    return (hob_model_call **)&f->impl;
}

/* ---- outcomes ------------------------------------------------------------------------------------------- */

static unsigned draw_jitter(void) {
    uint16_t r = 0;
    if (hob_random(&r, sizeof r) < 0) return 500;
    return r % 1001u;
}

enum { CONTENT_MAX = HOB_EVENT_MAX - (1u << 16) }; /* leaves room for the rest of the event */

/* The first event said is the answer's end. */
static void end_answer(hob_strand *st, hob_input *in) {
    st->answer_end = st->s->view->last_seq + 1;
    if (st->answer) in->usage = st->answer->usage;
    in->cost_usd = hob_model_cost(&st->answer_model, &in->usage);
    hob_strand_outcome(st, in);
}

static void give_failure(hob_strand *st, const hob_model_outcome *o) {
    hob_answer *a = st->answer;
    hob_buf content;
    hob_buf_init(&content, CONTENT_MAX);
    if (a && hob_answer_content(a, hob_str_z(st->answer_message), st->answer_model.api, false,
                                &content) < 0)
        hob_buf_reset(&content);
    hob_input in = {.kind = HOB_INPUT_MODEL_FAILED,
                    .code = o->code,
                    .sub = o->status,
                    .retryable = o->retryable,
                    .retry_after = o->retry_after_ms,
                    .text = hob_str_z(o->error.message),
                    .shown = a && a->shown,
                    .content = hob_buf_str(&content),
                    .jitter = draw_jitter()};
    end_answer(st, &in);
    hob_buf_finish(&content);
}

/* Escapes can make an answer larger than an event may be; asking again would not help. */
static void give_too_big(hob_strand *st) {
    hob_model_outcome o = {.code = HOB_ETOOBIG, .retry_after_ms = -1};
    hob_fail(&o.error, HOB_ETOOBIG, 0, "the answer is over %u MiB when it is written down",
             HOB_EVENT_MAX >> 20);
    give_failure(st, &o);
}

static void give_answer(hob_strand *st) {
    hob_answer *a = st->answer;
    hob_buf content;
    hob_buf_init(&content, CONTENT_MAX);
    int rc =
        hob_answer_content(a, hob_str_z(st->answer_message), st->answer_model.api, true, &content);
    hob_input in = {.kind = HOB_INPUT_MODEL_FINISHED,
                    .content = hob_buf_str(&content),
                    .stop = a->stop,
                    .response_id = a->response_id};
    if (rc < 0)
        give_too_big(st);
    else
        end_answer(st, &in);
    hob_buf_finish(&content);
}

/* The provider said nothing wrong and still did not end the answer: that is not a success. */
static hob_model_outcome ended_early(void) {
    hob_model_outcome o = {.code = HOB_EPROTO, .retryable = 1, .retry_after_ms = -1};
    hob_fail(&o.error, HOB_EPROTO, 0, "the answer ended without its end mark");
    return o;
}

static void on_done(const hob_model_outcome *o, void *user) {
    hob_flight *f = user;
    hob_strand *st = f->strand;
    hob_model_outcome early;
    f->impl = NULL;
    hob_flight_end(f);
    hob_crash_point("effect.model.outcome");
    if (o->code >= 0 && st->answer->stop == HOB_STOP_NONE) {
        early = ended_early();
        o = &early;
    }
    if (o->code < 0)
        give_failure(st, o);
    else
        give_answer(st);
}

static void on_progress(void *user) {
    hob_session_deliver(((hob_flight *)user)->s);
}

/* ---- the effect ------------------------------------------------------------------------------------------ */

static void fill_request(hob_strand *st, hob_model_request *rq) {
    hob_tools *tools = hob_strand_tools(st);
    *rq = (hob_model_request){.size = sizeof *rq,
                              .model = st->answer_model.id,
                              .system = hob_strand_system(st),
                              .tools = hob_tools_json(tools),
                              .tools_version = hob_tools_version(tools),
                              .thinking = hob_strand_thinking(st),
                              .max_output = st->run->output_limit,
                              .context = st->answer_model.context,
                              .attempt = st->run->attempt,
                              .history = hob_strand_history(st),
                              .wire = &st->wire,
                              .session = hob_str_z(st->s->id)};
}

/* A conversation that is cold is enough for a provider that goes on from the wire. */
bool hob_strand_can_ask(hob_strand *st) {
    hob_model_request rq = {.model = hob_strand_model(st)->id, .history = hob_strand_history(st)};
    if (!st->s->view->history->cold.count) return true;
    return hob_strand_adopt_wire(st, hob_strand_provider(st), &rq) || hob_session_thaw(st->s, NULL);
}

static void open_answer(hob_strand *st, const hob_effect *e) {
    int64_t seq = 0;
    hob_strand_close_answer(st);
    st->answer = hob_answer_create();
    st->answer_end = 0;
    memset(st->answer_message, 0, sizeof st->answer_message);
    memcpy(st->answer_message, e->key.p, HOB_MIN(e->key.n, sizeof st->answer_message - 1));
    memcpy(st->answer_run, st->run->id, sizeof st->answer_run);
    hob_str_int(hob_str_skip(e->key, 1), &seq);
    st->answer_seq = (uint64_t)seq;
    st->answer_provider = hob_strand_provider(st);
    st->answer_model = *hob_strand_model(st);
}

static int start(hob_flight *f, const hob_effect *e) {
    static const hob_model_handler handler = {on_progress, on_done};
    hob_strand *st = f->strand;
    hob_model_request rq;
    hob_error err;
    int rc = hob_crew_prepare(st, &err);
    open_answer(st, e);
    if (rc < 0) {
        hob_flight_fail(f, rc, &err);
        return rc;
    }
    hob_provider *p = st->answer_provider;
    fill_request(st, &rq);
    if (!hob_strand_adopt_wire(st, p, &rq) && st->wire_owner != p->ops) hob_strand_drop_wire(st);
    st->wire_owner = p->ops;
    hob_crash_point("effect.model.before");
    rc = p->ops->start(p, &rq, st->answer, &handler, f, call_of(f), &err);
    hob_crash_point("effect.model.after");
    if (rc < 0) hob_flight_fail(f, rc, &err);
    return rc;
}

static void cancel_call(hob_flight *f) {
    if (f->impl) f->strand->answer_provider->ops->cancel(*call_of(f));
    f->impl = NULL;
}

static void stop(hob_flight *f, bool hard) {
    hob_error err;
    (void)hard;
    cancel_call(f);
    hob_fail(&err, HOB_ECANCELLED, 0, "the request was stopped");
    hob_flight_fail(f, HOB_ECANCELLED, &err);
}

void hob_model_failed(hob_flight *f) {
    hob_strand *st = f->strand;
    hob_model_outcome o = {.code = f->code,
                           .error = f->err,
                           .status = f->err.sub,
                           .retryable = hob_error_retryable(f->code),
                           .retry_after_ms = -1};
    hob_flight_end(f);
    give_failure(st, &o);
}

static void destroy(hob_flight *f) {
    cancel_call(f);
}

void hob_strand_drop_wire(hob_strand *st) {
    if (st->wire && st->wire_owner && st->wire_owner->wire_destroy)
        st->wire_owner->wire_destroy(st->wire);
    st->wire = NULL;
}

const hob_performer hob_perform_call_model = {start, stop, destroy};
