#include "support/sim.h"

#include "support/check.h"

#include <stdio.h>

#define START_MS 1700000000000

hob_str sim_session(void) {
    return HOB_STR("s1");
}

/* ---- tools ---------------------------------------------------------------------------------- */

/* A function of its arguments alone, so that a replay hears the same. */
static void tool_facts(void *user, hob_str name, hob_str args, hob_tool_facts *out) {
    (void)user;
    *out = (hob_tool_facts){.known = !hob_str_eqz(name, "none"), .class_ = HOB_TOOL_UNSAFE};
    if (hob_str_eqz(name, "look")) out->class_ = HOB_TOOL_READ_ONLY;
    if (hob_str_eqz(name, "put")) out->class_ = HOB_TOOL_IDEMPOTENT;
    if (hob_str_eqz(name, "ask")) {
        out->class_ = HOB_TOOL_READ_ONLY;
        out->question = true;
    }
    if (!out->known) out->error = "there is no tool none";
    if (out->known && !args.n) out->error = "the arguments are not a JSON object";
    if (out->known && hob_str_eqz(args, "{\"x\":\"bad\"}")) out->error = "x must not be bad";
}

/* ---- life ----------------------------------------------------------------------------------- */

void sim_policy(sim *s, hob_mode mode, const char *ask, const char *deny) {
    hob_str rules[2] = {hob_str_z(ask), hob_str_z(deny)};
    hob_policy_opts o = {.mode = mode, .ask = &rules[0], .deny = &rules[1]};
    o.nask = ask != NULL;
    o.ndeny = deny != NULL;
    hob_error err;
    assert_in_range(s->npolicies, 0, HOB_ARRAY_LEN(s->policies) - 1);
    assert_ok(hob_policy_create(&o, &s->policies[s->npolicies], &err), err);
    s->env.policy = s->policies[s->npolicies++];
}

void sim_init(sim *s) {
    *s = (sim){.cost = -1, .who = -1, .usage = {.input_tokens = 10, .output_tokens = 5}};
    s->env = (hob_run_env){.now = START_MS,
                           .tool = tool_facts,
                           .can_ask = true,
                           .temp_kept = true,
                           .retry_attempts = 3,
                           .retry_cap_ms = 60000,
                           .model = HOB_STR("lab/one"),
                           .max_output = 1000,
                           .fixed_bytes = 400};
    hob_run_init(&s->run, sim_session());
    s->view = hob_view_create();
    hob_buf_init(&s->text, 64u << 20);
    sim_policy(s, HOB_MODE_YOLO, NULL, NULL);
}

static void forget(sim *s) {
    hob_run_finish(&s->run);
    hob_view_destroy(s->view);
}

static void drop_events(sim *s, size_t from) {
    for (size_t i = from; i < s->n; i++) hob_event_unref(s->log[i].event);
    s->n = HOB_MIN(s->n, from);
    s->shown = HOB_MIN(s->shown, from);
}

void sim_drop(sim *s) {
    forget(s);
    drop_events(s, 0);
    hob_free(s->log);
    hob_flow_destroy(s->flow);
    hob_buf_finish(&s->text);
    for (size_t i = 0; i < s->npolicies; i++) hob_policy_destroy(s->policies[i]);
}

void sim_finish(sim *s) {
    sim_check(s);
    sim_replay(s);
    sim_drop(s);
}

/* ---- the driver ----------------------------------------------------------------------------- */

void sim_fold(sim *s, const hob_event *e, const hob_json *data) {
    hob_error err;
    assert_ok(hob_view_apply(s->view, e, data, &err), err);
    assert_ok(hob_run_apply(&s->run, e, data, &err), err);
    if (s->flow) assert_ok(hob_flow_apply(s->flow, &s->run, e, data, &err), err);
}

static void fold(sim *s, hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    sim_fold(s, e, hob_event_parse(e, a));
    hob_arena_destroy(a);
}

static void keep(sim *s, hob_event *e) {
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 64;
        s->log = hob_realloc(s->log, s->cap * sizeof(*s->log));
    }
    s->log[s->n++] = (sim_entry){.event = e, .env = s->env};
}

static void append(sim *s, hob_draft *d) {
    hob_error err;
    hob_event *e;
    char parent[24];
    uint64_t leaf = hob_history_leaf(s->view->history);
    if (d->is_entry && leaf) {
        snprintf(parent, sizeof(parent), "e%llu", (unsigned long long)leaf);
        d->parent_entry = hob_str_z(parent);
    }
    assert_ok(hob_event_encode(d, sim_session(), s->n + 1, s->env.now, &e, &err), err);
    hob_draft_finish(d);
    keep(s, e);
    fold(s, e);
}

enum { SAYINGS_MAX = 20000 }; /* more events than one input leads to: a loop that does not end */

/* ---- agents --------------------------------------------------------------------------------- */

void sim_agents(sim *s, hob_agent *root) {
    s->flow = hob_flow_create(root);
    s->env.agents = true;
    hob_agent_unref(root);
}

void sim_as(sim *s, const char *agent) {
    s->who = hob_flow_index(s->flow, hob_str_z(agent));
    assert_true(s->who >= 0);
}

hob_run *sim_run_of(sim *s) {
    hob_run *r = s->who < 0 ? &s->run : s->flow->frames[s->who].run;
    if (!r) fail_msg("%s is not at work", s->flow->frames[s->who].agent->o.name);
    return r;
}

static void strand_env(void *user, size_t frame, hob_run_env *out) {
    sim *s = user;
    (void)frame;
    *out = s->env;
    out->root = &s->run;
}

static hob_str last_agent(sim *s) {
    const hob_history *h = s->view->history;
    for (size_t i = h->npath; i-- > 0;)
        if (h->nodes[h->path[i]].event->agent.n) return h->nodes[h->path[i]].event->agent;
    return HOB_STR_NULL;
}

static int next_of_flow(sim *s, hob_draft *d) {
    hob_flow_env env = {.now = s->env.now,
                        .state = &s->view->state,
                        .last_agent = last_agent(s),
                        .strand = strand_env,
                        .user = s};
    return s->flow ? hob_flow_next(s->flow, &s->run, &env, d) : HOB_SAID_NOTHING;
}

int sim_decide(sim *s, const hob_input *in, hob_draft *d) {
    bool outcome = in->kind == HOB_INPUT_MODEL_FINISHED || in->kind == HOB_INPUT_MODEL_FAILED ||
                   in->kind == HOB_INPUT_TOOL_FINISHED || in->kind == HOB_INPUT_VERDICT;
    hob_run_env env = s->env;
    if (outcome && s->who >= 0) {
        env.root = &s->run;
        return hob_run_decide(sim_run_of(s), &env, in, d, &s->err);
    }
    int said = hob_run_decide(&s->run, &env, in, d, &s->err);
    return said || in->kind != HOB_INPUT_NEXT ? said : next_of_flow(s, d);
}

static int say(sim *s, const hob_input *in) {
    hob_draft d;
    int said = HOB_SAID_MORE, first = -1;
    for (int i = 0; said == HOB_SAID_MORE; i++) {
        assert_in_range(i, 0, SAYINGS_MAX);
        s->env.path_bytes = s->view->history->bytes;
        said = sim_decide(s, in, &d);
        if (said < 0 && first >= 0) fail_msg("half said, then: %s", s->err.message);
        if (said < 0) return said;
        if (said) append(s, &d);
        if (first < 0) first = said;
    }
    return first;
}

int sim_input(sim *s, const hob_input *in) {
    const hob_input next = {.kind = HOB_INPUT_NEXT};
    size_t before = s->n;
    s->err = (hob_error){0};
    int rc = say(s, in);
    if (rc < 0) {
        assert_int_equal(s->n, before);
        assert_int_equal(s->err.code, rc);
        assert_true(s->err.message[0]);
        return rc;
    }
    for (int i = 0; say(s, &next) > 0; i++) assert_in_range(i, 0, SAYINGS_MAX);
    return rc;
}

/* ---- inputs --------------------------------------------------------------------------------- */

static hob_str quoted(hob_buf *b, const char *z) {
    hob_buf_reset(b);
    hob_buf_addz(b, z);
    for (size_t i = 0; i < b->n; i++) {
        if (b->p[i] == '\'') b->p[i] = '"';
    }
    return hob_buf_str(b);
}

static void add_text(hob_buf *b, const char *text) {
    hob_buf_addz(b, "{\"type\":\"text\",\"text\":");
    hob_json_quote(b, hob_str_z(text));
    hob_buf_addc(b, '}');
}

static hob_str text_blocks(hob_buf *b, const char *text) {
    hob_buf_init(b, HOB_EVENT_MAX);
    hob_buf_addc(b, '[');
    if (text && *text) add_text(b, text);
    hob_buf_addc(b, ']');
    return hob_buf_str(b);
}

static int say_text(sim *s, hob_input_kind kind, const char *text) {
    hob_buf b;
    int rc = sim_input(s, &(hob_input){.kind = kind, .content = text_blocks(&b, text)});
    hob_buf_finish(&b);
    return rc;
}

int sim_prompt(sim *s, const char *text) {
    return say_text(s, HOB_INPUT_PROMPT, text);
}

int sim_steer(sim *s, const char *text) {
    return say_text(s, HOB_INPUT_STEER, text);
}

int sim_follow_up(sim *s, const char *text) {
    return say_text(s, HOB_INPUT_FOLLOW_UP, text);
}

int sim_cancel(sim *s, hob_ending how, hob_queue_fate fate) {
    return sim_input(s, &(hob_input){.kind = HOB_INPUT_CANCEL, .ending = how, .fate = fate});
}

int sim_resume(sim *s) {
    return sim_input(s, &(hob_input){.kind = HOB_INPUT_RESUME});
}

int sim_pause(sim *s, bool paused) {
    return sim_input(s, &(hob_input){.kind = paused ? HOB_INPUT_PAUSE : HOB_INPUT_UNPAUSE});
}

int sim_settle(sim *s) {
    return sim_cancel(s, HOB_ENDING_SETTLE, HOB_QUEUE_RETURN);
}

int sim_verdict(sim *s, const char *call, bool approved, const char *reason) {
    return sim_input(s, &(hob_input){.kind = HOB_INPUT_VERDICT,
                                     .call = hob_str_z(call),
                                     .approved = approved,
                                     .text = hob_str_z(reason)});
}

int sim_reply_to(sim *s, const char *call, const char *answer) {
    return sim_input(s, &(hob_input){.kind = HOB_INPUT_VERDICT,
                                     .call = hob_str_z(call),
                                     .approved = true,
                                     .answer = hob_str_z(answer)});
}

int sim_tick(sim *s, int64_t ms) {
    s->env.now += ms;
    return sim_input(s, &(hob_input){.kind = HOB_INPUT_NEXT});
}

/* "look:a" as a block; the argument ~ stands for arguments that are no JSON object. */
static void add_call(hob_buf *b, const char *message, int k, hob_str word) {
    hob_str name;
    hob_str_split(&word, ':', &name);
    hob_buf_addf(b, "{\"type\":\"tool_call\",\"call\":\"%s.%d\",\"id\":\"t%d\",", message, k, k);
    hob_buf_addf(b, "\"name\":\"%.*s\",", HOB_FMT(name));
    if (hob_str_eqz(word, "~"))
        hob_buf_addz(b, "\"args_text\":\"{\\\"x\"}");
    else
        hob_buf_addf(b, "\"args\":{\"x\":\"%.*s\"}}", HOB_FMT(word));
}

static hob_str answer_blocks(hob_buf *b, const char *message, const char *text, const char *calls) {
    hob_str rest = hob_str_z(calls), word;
    bool any = text && *text;
    hob_buf_init(b, HOB_EVENT_MAX);
    hob_buf_addc(b, '[');
    if (any) add_text(b, text);
    for (int k = 0; hob_str_split(&rest, ' ', &word);) {
        if (!word.n) continue;
        if (any) hob_buf_addc(b, ',');
        add_call(b, message, k++, word);
        any = true;
    }
    hob_buf_addc(b, ']');
    return hob_buf_str(b);
}

static int finish_model(sim *s, hob_str content, hob_stop stop) {
    return sim_input(s, &(hob_input){.kind = HOB_INPUT_MODEL_FINISHED,
                                     .content = content,
                                     .stop = stop,
                                     .usage = s->usage,
                                     .cost_usd = s->cost,
                                     .response_id = HOB_STR("r1")});
}

int sim_answer(sim *s, const char *text, const char *calls, hob_stop stop) {
    hob_buf b;
    int rc = finish_model(s, answer_blocks(&b, sim_run_of(s)->message, text, calls), stop);
    hob_buf_finish(&b);
    return rc;
}

int sim_done(sim *s, const char *text) {
    return sim_answer(s, text, NULL, HOB_STOP_DONE);
}

int sim_calls(sim *s, const char *calls) {
    return sim_answer(s, NULL, calls, HOB_STOP_TOOLS);
}

int sim_content(sim *s, const char *content, hob_stop stop) {
    hob_buf b;
    hob_buf_init(&b, HOB_EVENT_MAX);
    int rc = finish_model(s, quoted(&b, content), stop);
    hob_buf_finish(&b);
    return rc;
}

int sim_fail(sim *s, int code, int64_t retry_after, bool shown) {
    return sim_input(s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                                     .code = code,
                                     .retryable = hob_error_retryable(code),
                                     .retry_after = retry_after,
                                     .shown = shown,
                                     .text = hob_str_z(hob_error_text(code)),
                                     .content = HOB_STR("[]"),
                                     .cost_usd = s->cost});
}

int sim_stopped(sim *s, const char *text, const char *calls) {
    hob_buf b;
    int rc =
        sim_input(s, &(hob_input){.kind = HOB_INPUT_MODEL_FAILED,
                                  .code = HOB_ECANCELLED,
                                  .retry_after = -1,
                                  .shown = *text || calls,
                                  .text = HOB_STR("the request was stopped"),
                                  .content = answer_blocks(&b, sim_run_of(s)->message, text, calls),
                                  .usage = s->usage,
                                  .cost_usd = s->cost});
    hob_buf_finish(&b);
    return rc;
}

int sim_result(sim *s, const char *call, hob_outcome outcome, const char *text) {
    hob_buf b;
    int rc = sim_input(s, &(hob_input){.kind = HOB_INPUT_TOOL_FINISHED,
                                       .call = hob_str_z(call),
                                       .outcome = outcome,
                                       .exit_code = -1,
                                       .content = text_blocks(&b, text)});
    hob_buf_finish(&b);
    return rc;
}

int sim_actions(sim *s, const char *call, const char *actions) {
    hob_buf b, json;
    hob_buf_init(&json, 1u << 20);
    quoted(&json, actions);
    int rc = sim_input(s, &(hob_input){.kind = HOB_INPUT_TOOL_FINISHED,
                                       .call = hob_str_z(call),
                                       .outcome = HOB_OUTCOME_OK,
                                       .exit_code = -1,
                                       .actions = hob_buf_str(&json),
                                       .content = text_blocks(&b, "ok")});
    hob_buf_finish(&b);
    hob_buf_finish(&json);
    return rc;
}

int sim_answered(sim *s, const char *agent, hob_outcome outcome, const char *text,
                 const char *delta) {
    hob_buf b;
    hob_flow_answer a = {.outcome = outcome, .content = text_blocks(&b, text)};
    if (!text || outcome != HOB_OUTCOME_OK) a.content = HOB_STR_NULL;
    if (outcome != HOB_OUTCOME_OK) a.text = hob_str_z(text);
    int said = sim_reply(s, agent, a, delta);
    hob_buf_finish(&b);
    return said;
}

static void lay_over(hob_state *to, hob_str delta) {
    hob_arena *arena = hob_arena_create(0);
    hob_change c;
    hob_error err;
    assert_ok(hob_change_init(&c, arena, delta, HOB_STR_NULL, &err), err);
    hob_overlay_add(to, &c);
    hob_change_finish(&c);
    hob_arena_destroy(arena);
}

int sim_reply(sim *s, const char *agent, hob_flow_answer a, const char *delta) {
    hob_state changes = {.count = 0};
    hob_buf q;
    hob_draft d;
    int said = HOB_SAID_MORE;
    hob_buf_init(&q, HOB_EVENT_MAX);
    if (delta) lay_over(&changes, quoted(&q, delta));
    a.changes = &changes;
    sim_as(s, agent);
    a.frame = (size_t)s->who;
    s->who = -1;
    while (said == HOB_SAID_MORE) {
        said = hob_flow_answered(s->flow, &s->run, &a, &d, &s->err);
        if (said > 0) append(s, &d);
    }
    hob_buf_finish(&q);
    hob_state_finish(&changes);
    if (said >= 0) sim_tick(s, 0);
    return said;
}

int sim_ok(sim *s, const char *call) {
    return sim_result(s, call, HOB_OUTCOME_OK, "ok");
}

int sim_apply(sim *s, const char *type, const char *run, const char *data) {
    hob_arena *a = hob_arena_create(0);
    hob_draft d;
    hob_event *e;
    hob_draft_init(&d, hob_event_type_from(hob_str_z(type)));
    d.is_entry = d.type == HOB_EVENT_USER_MESSAGE;
    d.run_id = hob_str_z(run);
    d.turn = 1;
    if (s->who >= 0) d.agent = hob_agent_name(s->flow->frames[s->who].agent);
    quoted(&d.data, data);
    assert_ok(hob_event_encode(&d, sim_session(), s->run.last_seq + 1, s->env.now, &e, &s->err),
              s->err);
    hob_draft_finish(&d);
    const hob_json *v = hob_event_parse(e, a);
    int rc = hob_view_apply(s->view, e, v, &s->err);
    if (rc >= 0) rc = hob_run_apply(&s->run, e, v, &s->err);
    if (rc >= 0 && s->flow) rc = hob_flow_apply(s->flow, &s->run, e, v, &s->err);
    hob_event_unref(e);
    hob_arena_destroy(a);
    return rc;
}

/* ---- crashes -------------------------------------------------------------------------------- */

void sim_crash(sim *s, size_t kept) {
    forget(s);
    drop_events(s, kept);
    hob_run_init(&s->run, sim_session());
    s->view = hob_view_create();
    if (s->flow) {
        hob_flow *old = s->flow;
        s->flow = hob_flow_create(old->root);
        hob_flow_destroy(old);
    }
    for (size_t i = 0; i < s->n; i++) fold(s, s->log[i].event);
    s->env.now += 1000;
}

void sim_refold(sim *s) {
    int64_t now = s->env.now;
    char *before = hob_dupz(hob_str_z(sim_state(s)));
    sim_crash(s, s->n);
    s->env.now = now;
    assert_string_equal(sim_state(s), before);
    hob_free(before);
}

void sim_reopen(sim *s) {
    if (hob_run_unfinished(&s->run))
        sim_resume(s);
    else
        sim_tick(s, 0);
}

size_t sim_count(const sim *s, hob_event_type type) {
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) n += s->log[i].event->type == type;
    return n;
}
