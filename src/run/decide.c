/*
 * decide.c - what an input leads to. Refusals are typed errors and write nothing.
 */
#include "run/run.h"

#include <stdio.h>

/* ---- commands -------------------------------------------------------------------------------------- */

#define LESS(a, b) ((b) > 0 && (!((a) > 0) || (b) < (a)) ? (b) : (a))
hob_limits hob_limits_narrow(hob_limits a, hob_limits b) {
    return (hob_limits){.turns = LESS(a.turns, b.turns),
                        .tokens = LESS(a.tokens, b.tokens),
                        .tool_calls = LESS(a.tool_calls, b.tool_calls),
                        .ms = LESS(a.ms, b.ms),
                        .cost_usd = LESS(a.cost_usd, b.cost_usd)};
}

void hob_say_limits(hob_jsonw *w, const char *key, const hob_limits *l) {
    hob_jsonw_key(w, key);
    hob_jsonw_object(w);
    if (l->turns) hob_jsonw_kint(w, "turns", l->turns);
    if (l->tokens) hob_jsonw_kint(w, "tokens", l->tokens);
    if (l->tool_calls) hob_jsonw_kint(w, "tool_calls", l->tool_calls);
    if (l->ms) hob_jsonw_kint(w, "ms", l->ms);
    if (l->cost_usd > 0) {
        hob_jsonw_key(w, "cost_usd");
        hob_jsonw_double(w, l->cost_usd);
    }
    hob_jsonw_object_end(w);
}

/* A follow-up is its sender's; what goes on, whoever sees to that, stays with who began it. */
static hob_str payer_of(const hob_run *r, const hob_run_env *env, const char *origin) {
    if (!strcmp(origin, "prompt")) return env->payer;
    if (r->next_prompt.payer) return hob_str_z(r->next_prompt.payer);
    return r->payer[0] ? hob_str_z(r->payer) : env->payer;
}

/* origin: prompt, update, resume or follow_up; the last two carry the totals on. */
int hob_say_started(const hob_run *r, const hob_run_env *env, const char *origin, hob_draft *out) {
    bool fresh = !strcmp(origin, "prompt") || !strcmp(origin, "update");
    hob_jsonw w = hob_say(r, HOB_EVENT_RUN_STARTED, out);
    hob_run_id(r->session_id, r->last_seq + 1, out->id);
    out->run_id = hob_str_z(out->id);
    out->turn = 0;
    hob_jsonw_kstr(&w, "model", env->model);
    hob_jsonw_kstr(&w, "origin", hob_str_z(origin));
    if (!fresh) hob_jsonw_kstr(&w, "continues", hob_str_z(r->id));
    hob_jsonw_kstr_opt(&w, "traceparent", fresh ? env->trace : hob_str_z(r->trace));
    hob_jsonw_kstr_opt(&w, "payer", payer_of(r, env, origin));
    if (fresh) hob_jsonw_kstr_opt(&w, "key", env->key);
    hob_say_limits(&w, "limits", &env->limits);
    if (!fresh) {
        hob_jsonw_key(&w, "carried");
        hob_jsonw_object(&w);
        hob_jsonw_kint(&w, "turns", r->spent.turns);
        hob_jsonw_kint(&w, "tool_calls", r->spent.tool_calls);
        hob_jsonw_kint(&w, "tokens", hob_usage_total(&r->spent.usage));
        hob_jsonw_object_end(&w);
    }
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

void hob_say_message(const hob_run *r, hob_str content, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_USER_MESSAGE, out);
    out->is_entry = true;
    out->author = HOB_STR("user");
    hob_jsonw_kraw(&w, "content", hob_str_trim(content));
    hob_say_end(&w);
}

/* What could not be written down is refused before anything is. */
static int check_content(hob_str content, size_t max, hob_error *err) {
    const hob_json_opts opts = {.max_depth = 64};
    const hob_json *v = NULL;
    if (content.n > max)
        return hob_fail(err, HOB_ETOOBIG, 0, "a message here may have %zu MiB at most", max >> 20);
    hob_arena *a = hob_arena_create(0);
    bool fits = hob_json_parse(a, content, &opts, &v, NULL) >= 0 && hob_json_count(v) &&
                hob_json_is(v, HOB_JSON_ARRAY);
    hob_arena_destroy(a);
    if (fits) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, 0,
                    "a message must be a JSON array of blocks, at least one, at most 64 deep");
}

static int check_price(const hob_run_env *env, hob_error *err) {
    if (env->limits.cost_usd <= 0 || env->priced) return HOB_OK;
    return hob_fail(
        err, HOB_EINVAL, 0,
        "a cost limit needs a model of known price, and the price of %.*s is not known: "
        "set providers.*.models.*.cost, or limit tokens instead",
        HOB_FMT(env->model));
}

static int may_begin(const hob_run *r, hob_error *err) {
    if (r->phase != HOB_PHASE_IDLE && hob_run_held(r))
        return hob_fail(err, HOB_EBUSY, 0, "the run is paused: resume it, or cancel it first");
    if (r->phase != HOB_PHASE_IDLE)
        return hob_fail(err, HOB_EBUSY, 0,
                        "a run is under way: steer it, queue a follow-up, cancel it, or wait");
    if (r->unfinished || r->next_prompt.content)
        return hob_fail(err, HOB_EBUSY, 0,
                        "an interrupted run waits: resume it, or settle it first");
    return HOB_OK;
}

static int on_prompt(const hob_run *r, const hob_run_env *env, const hob_input *in, hob_draft *out,
                     hob_error *err) {
    if (r->phase == HOB_PHASE_PROMPT && !r->next_prompt.content) {
        hob_say_message(r, in->content, out);
        return HOB_SAID_LAST;
    }
    int rc = may_begin(r, err);
    if (rc >= 0) rc = check_content(in->content, HOB_MESSAGE_MAX, err);
    if (rc >= 0) rc = check_price(env, err);
    if (rc < 0) return rc;
    hob_say_started(r, env, "prompt", out);
    return HOB_SAID_MORE;
}

static size_t queue_room(const hob_queue *q) {
    size_t used = 0;
    for (size_t i = 0; i < q->n; i++) used += strlen(q->at[i].content);
    return used < HOB_QUEUE_BYTES_MAX ? HOB_QUEUE_BYTES_MAX - used : 0;
}

static int may_tell(const hob_run *r, hob_error *err) {
    if (r->phase == HOB_PHASE_IDLE)
        return hob_fail(err, HOB_EIDLE, 0, "nothing is running: send it as a prompt");
    if (r->ending)
        return hob_fail(err, HOB_EIDLE, 0, "the run is ending: send it as a prompt when it has");
    return HOB_OK;
}

/* All of them, or none. */
static int check_queue(const hob_queue *q, const hob_str *contents, size_t n, hob_error *err) {
    size_t room = queue_room(q);
    int rc = HOB_OK;
    if (q->n + n > HOB_QUEUE_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "%zu messages wait already, %d may: wait until some are delivered", q->n,
                        HOB_QUEUE_MAX);
    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = check_content(contents[i], room, err);
        if (rc >= 0) room -= contents[i].n;
    }
    return rc;
}

static int on_queue(const hob_run *r, const hob_run_env *env, const hob_input *in, hob_draft *out,
                    hob_error *err) {
    bool steer = in->kind == HOB_INPUT_STEER;
    const hob_queue *q = steer ? &r->steer : &r->follow;
    const hob_str *all = in->nbatch ? in->batch : &in->content;
    size_t n = in->nbatch ? in->nbatch : 1, k = in->nbatch ? (size_t)(r->last_seq - in->after) : 0;
    char item[24];
    int rc = k ? HOB_OK : may_tell(r, err);
    if (rc >= 0 && k == 0) rc = check_queue(q, all, n, err);
    if (rc < 0) return rc;
    snprintf(item, sizeof item, "q%llu", (unsigned long long)r->last_seq + 1);
    hob_jsonw w = hob_say(r, steer ? HOB_EVENT_STEER_QUEUED : HOB_EVENT_FOLLOW_UP_QUEUED, out);
    out->author = HOB_STR("user");
    hob_jsonw_kstr(&w, "item", hob_str_z(item));
    hob_jsonw_kraw(&w, "content", hob_str_trim(all[k]));
    if (!steer) hob_jsonw_kstr_opt(&w, "payer", env->payer); /* a word to a run is part of it */
    hob_jsonw_kstr_opt(&w, "key", env->key);
    hob_say_end(&w);
    return k + 1 < n ? HOB_SAID_MORE : HOB_SAID_LAST;
}

/* ---- standing still ------------------------------------------------------------------------------------ */

static int say_plain(const hob_run *r, hob_event_type type, hob_draft *out) {
    hob_jsonw w = hob_say(r, type, out);
    out->author = HOB_STR("user");
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static int on_pause(const hob_run *r, hob_draft *out, hob_error *err) {
    if (r->phase == HOB_PHASE_IDLE) return hob_fail(err, HOB_EIDLE, 0, "nothing is running");
    if (r->ending) return hob_fail(err, HOB_EIDLE, 0, "the run is ending");
    return r->paused ? HOB_SAID_NOTHING : say_plain(r, HOB_EVENT_RUN_PAUSED, out);
}

static int on_unpause(const hob_run *r, hob_draft *out, hob_error *err) {
    if (r->phase != HOB_PHASE_IDLE && hob_run_held(r))
        return say_plain(r, HOB_EVENT_RUN_RESUMED, out);
    return hob_fail(err, HOB_EIDLE, 0, "no run is paused");
}

/* Said again only if it says something new: harder than before, or that the process which was ending it is gone. */
static bool is_news(const hob_run *r, hob_ending how) {
    if (how == HOB_ENDING_ABORT) return !r->hard;
    return how == HOB_ENDING_SETTLE ? r->ending != HOB_ENDING_SETTLE : !r->ending;
}

static int on_cancel(const hob_run *r, const hob_run_env *env, const hob_input *in,
                     hob_draft *out) {
    static const char *const fates[] = {"return", "keep", "drop"};
    bool abort = in->ending == HOB_ENDING_ABORT, settle = in->ending == HOB_ENDING_SETTLE;
    if (settle && r->unfinished) { /* its calls are closed by a run of their own */
        hob_say_started(r, env, "resume", out);
        return HOB_SAID_MORE;
    }
    if (r->phase == HOB_PHASE_IDLE || !is_news(r, in->ending)) return HOB_SAID_NOTHING;
    hob_jsonw w = hob_say(r, HOB_EVENT_CANCEL_REQUESTED, out);
    hob_jsonw_kstr(&w, "mode", hob_str_z(abort ? "abort" : settle ? "settle" : "cancel"));
    hob_jsonw_kstr(&w, "queue", hob_str_z(fates[settle && r->ending ? r->fate : in->fate]));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static int on_quota(const hob_run *r, const hob_input *in, hob_draft *out, hob_error *err) {
    char limit[sizeof r->end_reason];
    if (r->phase == HOB_PHASE_IDLE || !hob_str_eqz(in->call, r->id))
        return hob_fail(err, HOB_EIDLE, 0, "run %.*s is not under way", HOB_FMT(in->call));
    if (r->ending) return HOB_SAID_NOTHING;
    hob_str_out(in->text, limit, sizeof limit);
    return hob_say_limit(r, (hob_stopper){.limit = limit, .value = in->value, .max = in->max}, out);
}

/* Nothing to go on with: the run was ending already, or its message never arrived. */
static bool is_over(const hob_run *r) {
    return r->ending || (r->phase == HOB_PHASE_PROMPT && !r->next_prompt.content);
}

static int on_resume(const hob_run *r, const hob_run_env *env, hob_draft *out, hob_error *err) {
    if (hob_run_parked(r)) return HOB_SAID_NOTHING; /* it waits, as before */
    if (hob_run_active(r) && is_over(r))
        return on_cancel(r, env, &(hob_input){.ending = HOB_ENDING_SETTLE}, out);
    if (!hob_run_unfinished(r))
        return hob_fail(err, HOB_EIDLE, 0, "there is no unfinished run to resume");
    int rc = check_price(env, err);
    if (rc < 0) return rc;
    if (r->unfinished) return hob_say_started(r, env, "resume", out);
    hob_say_finished(r, "interrupted", r->last_ts, out);
    return HOB_SAID_MORE;
}

/* Whether it fits what was asked for is for whoever knows schemas. */
static int check_answer(const hob_call *c, const hob_input *in, hob_error *err) {
    bool wanted = c->question && in->approved;
    if (wanted == (in->answer.n > 0)) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, 0,
                    wanted        ? "the call %.*s is a question: a yes needs an answer with it"
                    : c->question ? "a no to the question %.*s has a reason, but no answer"
                                  : "the call %.*s wants a yes or a no, not an answer",
                    HOB_FMT(in->call));
}

static int on_verdict(const hob_run *r, const hob_input *in, hob_draft *out, hob_error *err) {
    const hob_call *c = hob_run_call(r, in->call);
    if (!c)
        return hob_fail(err, HOB_ENOENT, 0, "no call %.*s is waiting for an approval",
                        HOB_FMT(in->call));
    if (c->state != HOB_CALL_WAITING)
        return hob_fail(err, HOB_EEXIST, 0, "the call %.*s was decided already", HOB_FMT(in->call));
    int rc = check_answer(c, in, err);
    if (rc < 0) return rc;
    hob_jsonw w = hob_say(r, HOB_EVENT_APPROVAL_RESOLVED, out);
    hob_jsonw_kstr(&w, "call", c->call);
    hob_jsonw_kbool(&w, "approved", in->approved);
    hob_jsonw_kstr_opt(&w, "reason", in->text);
    if (in->answer.n) hob_jsonw_kraw(&w, "answer", in->answer);
    hob_jsonw_kstr(&w, "by", in->by.n ? in->by : HOB_STR("user"));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* ---- outcomes of effects ----------------------------------------------------------------------------- */

static void write_cost(hob_jsonw *w, double usd) {
    hob_jsonw_key(w, "cost_usd");
    if (usd < 0)
        hob_jsonw_null(w);
    else
        hob_jsonw_double(w, usd);
}

static int on_model_finished(const hob_run *r, const hob_input *in, hob_str payer, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_ASSISTANT_MESSAGE, out);
    out->is_entry = true;
    out->author = HOB_STR("model");
    hob_jsonw_kstr(&w, "message", hob_str_z(r->message));
    hob_jsonw_kstr(&w, "model", hob_str_z(r->model));
    hob_jsonw_kstr(&w, "stop", hob_str_z(hob_stop_name(in->stop)));
    hob_jsonw_kraw(&w, "content", in->content.n ? in->content : HOB_STR("[]"));
    hob_usage_write(&w, "usage", &in->usage);
    write_cost(&w, in->cost_usd);
    hob_jsonw_kstr_opt(&w, "payer", payer);
    hob_jsonw_kstr_opt(&w, "response_id", in->response_id);
    hob_jsonw_kstr_opt(&w, "callback", in->by);
    if (in->actions.n) hob_jsonw_kraw(&w, "actions", in->actions);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static int on_model_failed(const hob_run *r, const hob_input *in, hob_str payer, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_MODEL_CALL_FAILED, out);
    hob_jsonw_kstr(&w, "message", hob_str_z(r->message));
    hob_jsonw_kint(&w, "attempt", r->attempt);
    hob_jsonw_kstr(&w, "code", hob_str_z(hob_error_name(in->code)));
    if (in->sub) hob_jsonw_kint(&w, "status", in->sub);
    hob_jsonw_kstr(&w, "error", in->text);
    hob_jsonw_kbool(&w, "retryable", in->retryable);
    hob_jsonw_kbool(&w, "shown", in->shown);
    if (in->retry_after >= 0) hob_jsonw_kint(&w, "retry_after_ms", in->retry_after);
    hob_jsonw_kint(&w, "jitter", in->jitter);
    if (hob_usage_total(&in->usage)) {
        hob_usage_write(&w, "usage", &in->usage);
        write_cost(&w, in->cost_usd);
        hob_jsonw_kstr_opt(&w, "payer", payer);
    }
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* An answer without an end mark is a failure. What was shown of it is kept, marked as cut off, if the run is ending;
 * otherwise it is asked for again. */
static int on_model(const hob_run *r, const hob_run_env *env, const hob_input *in, hob_draft *out,
                    hob_error *err) {
    hob_str payer = hob_str_z(hob_run_purse(r, env)->payer);
    hob_input failed = *in;
    if (r->phase != HOB_PHASE_MODEL)
        return hob_fail(err, HOB_EEXIST, 0, "no model call is under way");
    if (in->kind == HOB_INPUT_MODEL_FINISHED && in->stop != HOB_STOP_NONE)
        return on_model_finished(r, in, payer, out);
    if (in->kind == HOB_INPUT_MODEL_FINISHED) {
        failed.code = HOB_EPROTO;
        failed.retryable = true;
        failed.retry_after = -1;
        failed.shown = in->content.n > 2;
        failed.text = HOB_STR("the answer ended without its end mark");
    }
    failed.stop = HOB_STOP_NONE;
    return r->ending && in->content.n > 2 ? on_model_finished(r, &failed, payer, out)
                                          : on_model_failed(r, &failed, payer, out);
}

/* The tool's blocks, and a word of warning if the model is going round in circles. */
static void write_content(hob_jsonw *w, const hob_call *c, hob_str content) {
    static const char warning[] =
        "{\"type\":\"text\",\"text\":\"warning: this is the third identical call in a row; "
        "the next one will be refused and end the run\"}";
    content = hob_str_trim(content);
    if (!content.n) content = HOB_STR("[]");
    hob_jsonw_key(w, "content");
    if (!c->warn) {
        hob_jsonw_raw(w, content);
        return;
    }
    hob_str inner = hob_str_trim(hob_str_first(hob_str_skip(content, 1), content.n - 2));
    hob_buf all;
    hob_buf_init(&all, HOB_EVENT_MAX);
    hob_buf_addc(&all, '[');
    hob_buf_add(&all, inner);
    if (inner.n) hob_buf_addc(&all, ',');
    hob_buf_addz(&all, warning);
    hob_buf_addc(&all, ']');
    if (all.err) w->out->err = all.err;
    hob_jsonw_raw(w, hob_buf_str(&all));
    hob_buf_finish(&all);
}

static int on_tool_finished(const hob_run *r, const hob_input *in, hob_draft *out, hob_error *err) {
    const hob_call *c = hob_run_call(r, in->call);
    if (!c || c->state != HOB_CALL_STARTED)
        return hob_fail(err, HOB_EEXIST, 0, "the call %.*s is not at work", HOB_FMT(in->call));
    hob_jsonw w = hob_say(r, HOB_EVENT_TOOL_FINISHED, out);
    hob_jsonw_kstr(&w, "call", c->call);
    hob_jsonw_kstr(&w, "tool", c->name);
    hob_jsonw_kstr(&w, "outcome", hob_str_z(hob_outcome_name(in->outcome)));
    write_content(&w, c, in->content);
    if (in->exit_code >= 0) hob_jsonw_kint(&w, "exit_code", in->exit_code);
    hob_jsonw_kint(&w, "duration_ms", in->duration_ms);
    if (in->truncated) hob_jsonw_kbool(&w, "truncated", true);
    if (c->warn) hob_jsonw_kbool(&w, "warning", true);
    if (in->pending && in->outcome == HOB_OUTCOME_OK) hob_jsonw_kbool(&w, "pending", true);
    if (in->actions.n) hob_jsonw_kraw(&w, "actions", in->actions);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* ---- what became of a pending call -------------------------------------------------------------------- */

static void say_updated(const hob_run *r, const hob_input *in, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_TOOL_UPDATED, out);
    out->author = HOB_STR("host");
    out->agent = in->by;
    if (!in->final || in->held) out->run_id = HOB_STR_NULL;
    hob_jsonw_kstr(&w, "call", in->call);
    hob_jsonw_kstr(&w, "tool", in->tool);
    hob_jsonw_kstr(&w, "outcome", hob_str_z(hob_outcome_name(in->outcome)));
    hob_jsonw_kraw(&w, "content", hob_str_trim(in->content));
    hob_jsonw_kbool(&w, "final", in->final);
    hob_say_end(&w);
}

static void say_note(const hob_run *r, hob_str text, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_USER_MESSAGE, out);
    out->is_entry = true;
    out->author = HOB_STR("host");
    hob_jsonw_key(&w, "content");
    hob_jsonw_array(&w);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("text"));
    hob_jsonw_kstr(&w, "text", text);
    hob_jsonw_object_end(&w);
    hob_jsonw_array_end(&w);
    hob_say_end(&w);
}

static int may_update(const hob_run *r, const hob_run_env *env, const hob_input *in,
                      hob_error *err) {
    int rc = may_begin(r, err);
    if (rc >= 0) rc = check_content(in->content, HOB_MESSAGE_MAX, err);
    return rc >= 0 && in->final && !in->held ? check_price(env, err) : rc;
}

/* The last word about it is what a run begins with, as with a prompt: the run, the word, and the note if there is one. */
static int on_updated(const hob_run *r, const hob_run_env *env, const hob_input *in, hob_draft *out,
                      hob_error *err) {
    bool begins = in->final && !in->held;
    bool begun = begins && r->phase == HOB_PHASE_PROMPT && !r->next_prompt.content;
    bool said = begins && in->text.n && r->phase == HOB_PHASE_READY && r->want_model;
    int rc = begun || said ? HOB_OK : may_update(r, env, in, err);
    if (rc < 0) return rc;
    if (said) {
        say_note(r, in->text, out);
    } else if (begins && !begun) {
        hob_say_started(r, env, "update", out);
        return HOB_SAID_MORE;
    } else {
        say_updated(r, in, out);
        return begun && in->text.n ? HOB_SAID_MORE : HOB_SAID_LAST;
    }
    return HOB_SAID_LAST;
}

int hob_run_decide(const hob_run *r, const hob_run_env *env, const hob_input *in, hob_draft *out,
                   hob_error *err) {
    switch (in->kind) {
    case HOB_INPUT_NEXT: return hob_run_next(r, env, out);
    case HOB_INPUT_PROMPT: return on_prompt(r, env, in, out, err);
    case HOB_INPUT_STEER:
    case HOB_INPUT_FOLLOW_UP: return on_queue(r, env, in, out, err);
    case HOB_INPUT_CANCEL: return on_cancel(r, env, in, out);
    case HOB_INPUT_QUOTA: return on_quota(r, in, out, err);
    case HOB_INPUT_RESUME: return on_resume(r, env, out, err);
    case HOB_INPUT_PAUSE: return on_pause(r, out, err);
    case HOB_INPUT_UNPAUSE: return on_unpause(r, out, err);
    case HOB_INPUT_VERDICT: return on_verdict(r, in, out, err);
    case HOB_INPUT_BUDGET:
        if (!r->asked.seq) return hob_fail(err, HOB_ENOENT, 0, "nothing was asked for");
        return hob_run_say_budget(r, in->approved, &in->limits, out);
    case HOB_INPUT_MODEL_FINISHED:
    case HOB_INPUT_MODEL_FAILED: return on_model(r, env, in, out, err);
    case HOB_INPUT_TOOL_FINISHED: return on_tool_finished(r, in, out, err);
    case HOB_INPUT_TOOL_UPDATED: return on_updated(r, env, in, out, err);
    }
    return HOB_SAID_NOTHING;
}
