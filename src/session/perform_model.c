/*
 * perform_model.c - the effect "call the model": hands the conversation to the provider, streams the answer to readers,
 * and gives the whole outcome back to the run.
 *
 * Functions of the host may stand around it (callback.h): before_model answers in the model's place, after_model in place
 * of its answer. An answer that after_model will see is not streamed: readers, and the log, get what it makes of it. Until
 * the outcome is written nothing of all this is: after a crash the step is done again, with its functions.
 */
#include "session/callback.h"
#include "session/crew.h"
#include "session/session.h"

typedef struct model_flight {
    hob_flight *f;
    hob_model_call *call;   /* the provider is at work */
    hob_callback *callback; /* a function of the host is */
    hob_actions asked;      /* by such functions */
} model_flight;

/* ---- outcomes ------------------------------------------------------------------------------------------- */

static unsigned draw_jitter(void) {
    uint16_t r = 0;
    if (hob_random(&r, sizeof r) < 0) return 500;
    return r % 1001u;
}

enum { CONTENT_MAX = HOB_EVENT_MAX - (1u << 16) }; /* leaves room for the rest of the event */

/* The first event said is the answer's end. Readers take what is not as it was streamed from there. */
static void end_answer(hob_strand *st, hob_input *in) {
    st->answer_end = st->s->view->last_seq + 1;
    if (st->answer) in->usage = st->answer->usage;
    in->cost_usd = hob_model_cost(&st->answer_model, &in->usage);
    if (st->answer_held || in->by.n) hob_strand_drop_answer(st);
    hob_strand_outcome(st, in);
}

static void give_failure(hob_strand *st, const hob_model_outcome *o) {
    const hob_answer *a = st->answer_held ? NULL : st->answer;
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

/* What functions of the host asked for, but for the state, which has an event of its own. */
static void write_actions(const hob_actions *a, hob_buf *out) {
    hob_actions wishes = {.transfer = a->transfer, .escalate = a->escalate};
    hob_jsonw w;
    if (!hob_actions_any(&wishes)) return;
    hob_jsonw_init(&w, out);
    hob_actions_write(&wishes, &w);
}

/* Ends the flight. */
static void give_answer(model_flight *m, hob_input *in) {
    hob_strand *st = m->f->strand;
    hob_buf actions;
    hob_buf_init(&actions, 1u << 16);
    write_actions(&m->asked, &actions);
    in->kind = HOB_INPUT_MODEL_FINISHED;
    in->actions = hob_buf_str(&actions);
    hob_flight_end(m->f);
    end_answer(st, in);
    hob_buf_finish(&actions);
}

/* ---- functions of the host ------------------------------------------------------------------------------- */

/* The step fails with what it says. */
static void give_fault(model_flight *m, hob_str words) {
    hob_strand *st = m->f->strand;
    hob_model_outcome o = {.code = HOB_EAGENT, .retry_after_ms = -1};
    hob_fail(&o.error, HOB_EAGENT, 0, "%.*s", HOB_FMT(words));
    hob_flight_end(m->f);
    give_failure(st, &o);
}

/* What it says instead; copied, since it goes with the flight. */
static void give_instead(model_flight *m, const hob_callback_answer *a, const char *by) {
    hob_buf content;
    hob_buf_init(&content, CONTENT_MAX);
    hob_buf_add(&content, a->content);
    if (a->outcome != HOB_OUTCOME_OK) {
        hob_buf_reset(&content);
        hob_content_words(a->content, &content);
        give_fault(m, hob_buf_str(&content));
    } else if (content.err) {
        give_fault(m, HOB_STR("an answer of a callback is too large to be written down"));
    } else {
        give_answer(m, &(hob_input){.content = hob_buf_str(&content),
                                    .stop = HOB_STOP_DONE,
                                    .by = hob_str_z(by)});
    }
    hob_buf_finish(&content);
}

/* False: it came to nothing. What it changed in the state is written before anything else. */
static bool take(model_flight *m, const hob_callback_answer *a) {
    hob_session *s = m->f->s;
    hob_callback *c = m->callback;
    hob_error err;
    m->callback = NULL;
    hob_actions_add(&m->asked, a->actions);
    int rc = hob_strand_say_changes(m->f->strand, &a->actions->changes, &err);
    hob_callback_drop(c);
    if (rc < 0 && hob_session_usable(s, NULL) >= 0) give_fault(m, hob_str_z(err.message));
    return rc >= 0;
}

/* The provider said nothing wrong and still did not end the answer: that is not a success. */
static hob_model_outcome ended_early(void) {
    hob_model_outcome o = {.code = HOB_EPROTO, .retryable = 1, .retry_after_ms = -1};
    hob_fail(&o.error, HOB_EPROTO, 0, "the answer ended without its end mark");
    return o;
}

/* ---- the model's answer ----------------------------------------------------------------------------------- */

static void give_models(model_flight *m, hob_str content) {
    const hob_answer *a = m->f->strand->answer;
    give_answer(m,
                &(hob_input){.content = content, .stop = a->stop, .response_id = a->response_id});
}

static void on_after_model(void *user, const hob_callback_answer *a) {
    model_flight *m = user;
    hob_strand *st = m->f->strand;
    hob_buf content;
    if (!take(m, a)) return;
    if (a->speaks) {
        give_instead(m, a, "after_model");
        return;
    }
    hob_buf_init(&content, CONTENT_MAX);
    (void)hob_answer_content(st->answer, hob_str_z(st->answer_message), st->answer_model.api, true,
                             &content); /* it could be written before */
    give_models(m, hob_buf_str(&content));
    hob_buf_finish(&content);
}

static void take_answer(model_flight *m) {
    hob_strand *st = m->f->strand;
    hob_callback_plan p;
    hob_buf content;
    hob_buf_init(&content, CONTENT_MAX);
    int rc = hob_answer_content(st->answer, hob_str_z(st->answer_message), st->answer_model.api,
                                true, &content);
    if (rc < 0) {
        hob_flight_end(m->f);
        give_too_big(st);
    } else if (hob_callback_find(st, HOB_HOOK_AFTER_MODEL, &p)) {
        p.content = hob_buf_str(&content);
        m->callback = hob_callback_start(st, &p, on_after_model, m);
    } else {
        give_models(m, hob_buf_str(&content));
    }
    hob_buf_finish(&content);
}

static void on_done(const hob_model_outcome *o, void *user) {
    model_flight *m = user;
    hob_strand *st = m->f->strand;
    hob_model_outcome early;
    m->call = NULL;
    hob_crash_point("effect.model.outcome");
    if (o->code >= 0 && st->answer->stop == HOB_STOP_NONE) {
        early = ended_early();
        o = &early;
    }
    if (o->code >= 0) {
        take_answer(m);
        return;
    }
    hob_flight_end(m->f);
    give_failure(st, o);
}

static void on_progress(void *user) {
    hob_session_deliver(((model_flight *)user)->f->s);
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

/* Whose span it is, for a provider that traces too; told only if someone here does. */
static hob_str trace_call(hob_strand *st, char room[56]) {
    hob_str context = hob_str_z(st->s->run.trace), run = hob_str_z(st->s->run.id);
    if (!context.n && !st->s->rt->telemetry) return HOB_STR_NULL;
    hob_traceparent_write(context, hob_str_z(st->s->id), run, st->answer_seq, room);
    return hob_str_z(room);
}

/* A conversation that is cold is enough for a provider that goes on from the wire. */
bool hob_strand_can_ask(hob_strand *st) {
    hob_model_request rq = {.model = hob_strand_model(st)->id, .history = hob_strand_history(st)};
    if (!st->s->view->history->cold.count) return true;
    return hob_strand_adopt_wire(st, hob_strand_provider(st), &rq) || hob_session_thaw(st->s, NULL);
}

static void open_answer(hob_strand *st, const hob_effect *e) {
    hob_callback_plan after;
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
    st->answer_held = hob_callback_find(st, HOB_HOOK_AFTER_MODEL, &after);
}

static int ask(model_flight *m) {
    static const hob_model_handler handler = {on_progress, on_done};
    hob_strand *st = m->f->strand;
    hob_model_request rq;
    hob_error err;
    char trace[56];
    int rc = hob_crew_prepare(st, &err);
    if (rc < 0) {
        hob_flight_fail(m->f, rc, &err);
        return rc;
    }
    hob_provider *p = st->answer_provider;
    fill_request(st, &rq);
    rq.traceparent = trace_call(st, trace);
    if (!hob_strand_adopt_wire(st, p, &rq) && st->wire_owner != p->ops) hob_strand_drop_wire(st);
    st->wire_owner = p->ops;
    hob_crash_point("effect.model.before");
    rc = p->ops->start(p, &rq, st->answer, &handler, m, &m->call, &err);
    hob_crash_point("effect.model.after");
    if (rc < 0) hob_flight_fail(m->f, rc, &err);
    return rc;
}

static void on_before_model(void *user, const hob_callback_answer *a) {
    model_flight *m = user;
    hob_session *s = m->f->s;
    if (!take(m, a)) return;
    if (a->speaks) {
        give_instead(m, a, "before_model");
        return;
    }
    hob_session_commit(s);
    ask(m);
}

static int start(hob_flight *f, const hob_effect *e) {
    hob_callback_plan p;
    model_flight *m = f->impl = HOB_NEW(model_flight);
    m->f = f;
    hob_actions_init(&m->asked);
    open_answer(f->strand, e);
    if (!hob_callback_find(f->strand, HOB_HOOK_BEFORE_MODEL, &p)) return ask(m);
    m->callback = hob_callback_start(f->strand, &p, on_before_model, m);
    return HOB_OK;
}

/* Nobody is at work for it any more. */
static void cancel_work(hob_flight *f) {
    model_flight *m = f->impl;
    if (!m) return;
    if (m->call) f->strand->answer_provider->ops->cancel(m->call);
    hob_callback_drop(m->callback);
    m->call = NULL;
    m->callback = NULL;
}

static void stop(hob_flight *f, bool hard) {
    hob_error err;
    (void)hard;
    cancel_work(f);
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
    model_flight *m = f->impl;
    if (!m) return;
    cancel_work(f);
    hob_actions_finish(&m->asked);
    hob_free(m);
}

void hob_strand_drop_wire(hob_strand *st) {
    if (st->wire && st->wire_owner && st->wire_owner->wire_destroy)
        st->wire_owner->wire_destroy(st->wire);
    st->wire = NULL;
}

const hob_performer hob_perform_call_model = {start, stop, destroy};
