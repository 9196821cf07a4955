/*
 * strand.c - one agent at work: its parts, and what its run needs to know.
 */
#include "session/session.h"

/* ---- life ---------------------------------------------------------------------------------------------- */

static void set_up(hob_strand *st, hob_session *s, hob_run *run, hob_str agent, hob_str branch) {
    *st = (hob_strand){
        .s = s, .run = run, .agent = hob_dupz(agent), .branch = hob_dupz(branch), .frame = -1};
    hob_list_init(&st->link);
    hob_list_push(&s->strands, &st->link);
}

void hob_strand_init(hob_strand *st, hob_session *s, hob_run *run) {
    set_up(st, s, run, HOB_STR_NULL, HOB_STR_NULL);
}

void hob_strand_finish(hob_strand *st) {
    hob_strand_drop_wire(st);
    hob_strand_drop_answer(st);
    hob_list_remove(&st->link);
    hob_policy_destroy(st->narrowed);
    hob_free(st->agent);
    hob_free(st->branch);
}

hob_strand *hob_strand_create(hob_session *s, hob_run *run, hob_str agent, hob_str branch) {
    hob_strand *st = HOB_NEW(hob_strand);
    set_up(st, s, run, agent, branch);
    return st;
}

void hob_strand_destroy(hob_strand *st) {
    if (!st) return;
    hob_strand_drop_flights(st);
    hob_strand_close_answer(st);
    hob_strand_finish(st);
    hob_free(st);
}

void hob_session_drop_strands(hob_session *s) {
    HOB_LIST_EACH_SAFE (it, &s->strands) {
        hob_strand *st = HOB_CONTAINER(it, hob_strand, link);
        if (st != &s->own) hob_strand_destroy(st);
    }
}

/* ---- parts ----------------------------------------------------------------------------------------------- */

hob_tools *hob_strand_tools(const hob_strand *st) {
    return st->tools ? st->tools : st->s->tools;
}

/* What the session's run was told counts for all of its agents. */
static void make_narrowed(hob_strand *st, const hob_policy *base) {
    hob_policy *all = hob_run_narrow_policy(&st->s->run, base);
    hob_policy_destroy(st->narrowed);
    st->narrowed =
        st->run == &st->s->run ? hob_policy_ref(all) : hob_run_narrow_policy(st->run, all);
    hob_policy_destroy(all);
}

const hob_policy *hob_strand_policy(hob_strand *st) {
    const hob_policy *base = st->policy ? st->policy : st->s->policy;
    uint64_t seq = HOB_MAX(st->run->narrow_seq, st->s->run.narrow_seq);
    if (!seq) return base;
    if (!st->narrowed || st->narrowed_base != base || st->narrowed_seq != seq)
        make_narrowed(st, base);
    st->narrowed_base = base;
    st->narrowed_seq = seq;
    return st->narrowed;
}

const hob_history *hob_strand_history(const hob_strand *st) {
    return st->history ? st->history : st->s->view->history;
}

hob_str hob_strand_system(const hob_strand *st) {
    return st->system.p ? st->system : hob_buf_str(&st->s->system);
}

hob_provider *hob_strand_provider(const hob_strand *st) {
    return st->provider ? st->provider : st->s->provider;
}

const hob_model_info *hob_strand_model(const hob_strand *st) {
    return st->provider ? &st->model : &st->s->model;
}

const char *hob_strand_model_name(const hob_strand *st) {
    return st->provider ? st->model_name : st->s->model_name;
}

hob_thinking hob_strand_thinking(const hob_strand *st) {
    return st->thinking != HOB_THINKING_DEFAULT ? st->thinking : st->s->thinking;
}

bool hob_strand_is_part(const hob_strand *st) {
    return st->run->strand;
}

/* ---- what decide needs to know ---------------------------------------------------------------------- */

static void tool_facts(void *user, hob_str name, hob_str args, hob_tool_facts *out) {
    hob_strand *st = user;
    hob_session *s = st->s;
    hob_tools *tools = hob_strand_tools(st);
    const hob_tool *t = hob_tools_find(tools, name);
    hob_error e;
    *out = (hob_tool_facts){.known = t != NULL};
    if (!t) {
        const char *near = hob_tools_nearest(tools, name);
        snprintf(s->rt->fact_error, sizeof s->rt->fact_error, "there is no tool %.*s%s%s",
                 HOB_FMT(name), near ? "; did you mean " : "", near ? near : "");
        out->error = s->rt->fact_error;
        return;
    }
    out->class_ = t->class_;
    out->beside = t->flags & HOB_TOOL_PARALLEL;
    out->question = t->flags & HOB_TOOL_QUESTION;
    if (!args.n)
        snprintf(s->rt->fact_error, sizeof s->rt->fact_error,
                 "the arguments are not a JSON object");
    else if (hob_tools_check(tools, t, args, &e) < 0 ||
             (out->question && hob_question_check(args, &e) < 0))
        snprintf(s->rt->fact_error, sizeof s->rt->fact_error, "%s", e.message);
    else
        return;
    out->error = s->rt->fact_error;
}

void hob_strand_env(hob_strand *st, hob_run_env *env) {
    hob_session *s = st->s;
    const hob_config *c = s->rt->config;
    const hob_model_info *model = hob_strand_model(st);
    *env = (hob_run_env){.now = hob_session_now(s),
                         .policy = hob_strand_policy(st),
                         .tool = tool_facts,
                         .user = st,
                         .can_ask = s->approver == HOB_APPROVER_HOST,
                         .can_ask_more = s->task && !s->closing,
                         .temp_kept = s->temp_kept,
                         .after_batch = s->flags & HOB_SESSION_STEER_AFTER_BATCH,
                         .steer_all = s->flags & HOB_SESSION_STEER_ALL,
                         .limits = s->limits,
                         .retry_attempts = (int)hob_config_int(c, "retry.attempts", 5),
                         .retry_cap_ms = (int64_t)(hob_config_double(c, "retry.cap_s", 60) * 1000),
                         .model = hob_str_z(hob_strand_model_name(st)),
                         .trace = hob_str_z(s->trace),
                         .payer = hob_str_z(s->payer),
                         .key = s->key,
                         .max_output = model->output,
                         .priced = model->priced,
                         .input_usd = model->input_usd,
                         .output_usd = model->output_usd,
                         .fixed_bytes =
                             hob_strand_system(st).n + hob_tools_json(hob_strand_tools(st)).n,
                         .path_bytes = hob_strand_history(st)->bytes,
                         .agents = s->crew != NULL,
                         .root = hob_strand_is_part(st) ? &s->run : NULL};
}

/* ---- all of a session ------------------------------------------------------------------------------------ */

hob_strand *hob_session_strand_of(hob_session *s, hob_str call) {
    HOB_LIST_EACH (it, &s->strands) {
        hob_strand *st = HOB_CONTAINER(it, hob_strand, link);
        if (hob_run_call(st->run, call)) return st;
    }
    return NULL;
}

/* A run whose agents are at work is active itself, and parked if they are. */
bool hob_session_active(const hob_session *s) {
    return hob_run_active(&s->run);
}

bool hob_session_parked(const hob_session *s) {
    return hob_run_active(&s->run) && hob_run_parked(&s->run);
}

bool hob_session_idle(const hob_session *s) {
    return !hob_session_active(s) && s->run.settled;
}
