#include "session/crew.h"

#include "session/session.h"

enum { SYSTEM_MAX = 2u << 20 };

/* ---- life ------------------------------------------------------------------------------------------- */

hob_crew *hob_crew_create(hob_session *s, hob_agent *root) {
    hob_crew *c = HOB_NEW(hob_crew);
    c->s = s;
    c->flow = hob_flow_create(root);
    c->flow->callbacks = &s->callbacks;
    c->members = hob_alloc(c->flow->n * sizeof *c->members);
    for (size_t i = 0; i < c->flow->n; i++) {
        hob_buf_init(&c->members[i].system, SYSTEM_MAX);
        hob_history_view_init(&c->members[i].view);
    }
    return c;
}

static void dismiss(hob_member *m) {
    if (!m->strand) return;
    hob_strand_destroy(m->strand);
    m->strand = NULL;
    hob_history_view_finish(&m->view);
    hob_history_view_init(&m->view);
}

void hob_crew_destroy(hob_crew *c) {
    if (!c) return;
    for (size_t i = 0; i < c->flow->n; i++) {
        hob_member *m = &c->members[i];
        dismiss(m);
        hob_history_view_finish(&m->view);
        hob_tools_destroy(m->tools);
        hob_policy_destroy(m->policy);
        hob_buf_finish(&m->system);
        hob_free(m->model_name);
    }
    hob_flow_destroy(c->flow);
    hob_free(c->members);
    hob_free(c);
}

void hob_crew_reset(hob_crew *c) {
    for (size_t i = 0; i < c->flow->n; i++) dismiss(&c->members[i]);
    hob_flow *fresh = hob_flow_create(c->flow->root);
    fresh->callbacks = c->flow->callbacks;
    hob_flow_destroy(c->flow);
    c->flow = fresh;
}

hob_agent *hob_crew_agent(const hob_strand *st) {
    return st->frame < 0 ? NULL : (hob_agent *)st->s->crew->flow->frames[st->frame].agent;
}

/* ---- parts -------------------------------------------------------------------------------------------- */

static int fit_model(hob_crew *c, hob_member *m, const hob_agent *a, hob_error *err) {
    hob_str level = hob_str_z(a->o.thinking);
    if (level.n && hob_thinking_from(level, &m->thinking) < 0)
        return hob_fail(err, HOB_EINVAL, 0,
                        "agent %s: unknown thinking level %s: off minimal low medium high xhigh",
                        a->o.name, a->o.thinking);
    if (!a->o.model) return HOB_OK;
    hob_model_found found;
    int rc = hob_session_find_model(c->s, hob_str_z(a->o.model), &found, err);
    if (rc < 0) return rc;
    m->has_model = true;
    m->model = found.info;
    m->provider = found.provider;
    hob_free(m->model_name);
    m->model_name = found.name;
    if (!level.n) m->thinking = found.info.thinking;
    return HOB_OK;
}

/* What is the agent's own; the rest is the session's. */
static void equip(hob_member *m) {
    hob_strand *st = m->strand;
    st->tools = m->tools;
    st->policy = m->policy;
    st->thinking = m->thinking;
    if (!m->has_model) return;
    st->provider = m->provider;
    st->model = m->model;
    st->model_name = m->model_name;
}

/* Nothing gives back what the session's policy takes away. */
static int fit_policy(hob_crew *c, hob_member *m, const hob_agent *a, hob_error *err) {
    hob_policy_destroy(m->policy);
    m->policy = NULL;
    for (size_t i = 0; i < a->nnarrows; i++) {
        hob_policy *next = NULL;
        int rc =
            hob_policy_narrow(m->policy ? m->policy : c->s->policy, &a->narrows[i], &next, err);
        if (rc < 0) return rc;
        hob_policy_destroy(m->policy);
        m->policy = next;
    }
    return HOB_OK;
}

int hob_crew_fit_policies(hob_crew *c, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && i < c->flow->n; i++)
        if (c->flow->frames[i].agent->o.kind == HOB_AGENT_LLM)
            rc = fit_policy(c, &c->members[i], c->flow->frames[i].agent, err);
    return rc;
}

/* Those who were at work in a process that is gone are there already. */
int hob_crew_fit(hob_crew *c, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && i < c->flow->n; i++) {
        const hob_agent *a = c->flow->frames[i].agent;
        if (a->o.kind != HOB_AGENT_LLM) continue;
        rc = fit_model(c, &c->members[i], a, err);
        if (rc >= 0) rc = fit_policy(c, &c->members[i], a, err);
        if (rc >= 0) rc = hob_crew_fit_tools(c, i, err);
        if (rc >= 0 && c->members[i].strand) equip(&c->members[i]);
    }
    return rc;
}

/* ---- strands --------------------------------------------------------------------------------------------- */

static void employ(hob_crew *c, size_t i) {
    hob_member *m = &c->members[i];
    hob_frame *fr = &c->flow->frames[i];
    hob_strand *st = m->strand =
        hob_strand_create(c->s, fr->run, hob_agent_name(fr->agent), hob_str_z(fr->branch));
    st->frame = (ptrdiff_t)i;
    if (fr->agent->o.kind != HOB_AGENT_LLM) return;
    st->history = m->view.seen;
    equip(m);
    if (!fr->agent->o.instruction) return;
    hob_buf_reset(&m->system); /* until it is expanded: estimates go by its size */
    hob_buf_addz(&m->system, fr->agent->o.instruction);
    hob_session_add_surroundings(c->s, hob_strand_tools(st), &m->system);
    st->system = hob_buf_str(&m->system);
}

void hob_crew_sync(hob_crew *c) {
    for (size_t i = 0; i < c->flow->n; i++) {
        bool at_work = c->flow->frames[i].state == HOB_FRAME_ACTIVE;
        if (at_work && !c->members[i].strand) employ(c, i);
        if (!at_work) dismiss(&c->members[i]);
    }
}

/* ---- what an agent sees ------------------------------------------------------------------------------------ */

/* The event with which its model was asked, while that is at work. */
static uint64_t asked_at(const hob_run *r) {
    int64_t seq = 0;
    if (r->phase != HOB_PHASE_MODEL || !r->message[0]) return 0;
    return hob_str_int(hob_str_z(r->message + 1), &seq) >= 0 && seq > 0 ? (uint64_t)seq : 0;
}

static void update_view(hob_crew *c, size_t i) {
    const hob_frame *fr = &c->flow->frames[i];
    hob_member *m = &c->members[i];
    hob_viewer who = {.agent = hob_agent_name(fr->agent),
                      .branch = hob_str_z(fr->branch),
                      .isolate = hob_agent_has(fr->agent, HOB_AGENT_ISOLATE),
                      .keep_responses = hob_agent_has(fr->agent, HOB_AGENT_KEEP_RESPONSES),
                      .current_only = hob_agent_has(fr->agent, HOB_AGENT_NO_CONTENTS),
                      .asked = asked_at(fr->run)};
    hob_history_view_update(&m->view, c->s->view->history, &who);
    m->strand->history = m->view.seen;
}

static int write_system(hob_crew *c, size_t i, hob_error *err) {
    const hob_agent *a = c->flow->frames[i].agent;
    hob_member *m = &c->members[i];
    hob_buf_reset(&m->system);
    if (!a->o.instruction && !a->o.output_schema) return HOB_OK; /* the session's */
    int rc =
        hob_instruction_expand(hob_str_z(a->o.instruction), &c->s->view->state, &m->system, err);
    if (rc < 0) return rc;
    hob_session_add_surroundings(c->s, hob_strand_tools(m->strand), &m->system);
    if (a->o.output_schema)
        hob_buf_addf(&m->system, "\n\nAnswer with JSON alone, that fits this schema:\n%s\n",
                     a->o.output_schema);
    m->strand->system = hob_buf_str(&m->system);
    return m->system.err
               ? hob_fail(err, HOB_ETOOBIG, 0, "agent %s: its instruction is too large", a->o.name)
               : HOB_OK;
}

int hob_crew_prepare(hob_strand *st, hob_error *err) {
    hob_error why = {.code = HOB_OK};
    if (st->frame < 0) return HOB_OK;
    hob_crew *c = st->s->crew;
    size_t i = (size_t)st->frame;
    int rc = hob_crew_fit_tools(c, i, &why);
    st->tools = c->members[i].tools;
    update_view(c, i);
    if (rc >= 0) rc = write_system(c, i, &why);
    if (rc < 0) return hob_fail(err, rc, 0, "agent %s: %s", st->agent, why.message);
    return HOB_OK;
}

/* ---- deciding ------------------------------------------------------------------------------------------------ */

static void strand_env(void *user, size_t frame, hob_run_env *out) {
    hob_crew *c = user;
    update_view(c, frame);
    hob_strand_env(c->members[frame].strand, out);
    out->root = &c->s->run;
}

/* Of whom the last answer is that is still part of the conversation. */
static hob_str last_agent(const hob_history *h) {
    for (size_t i = h->npath; i-- > 0;) {
        const hob_node *n = &h->nodes[h->path[i]];
        if (n->role == HOB_ROLE_ASSISTANT) return n->event->agent;
    }
    return HOB_STR_NULL;
}

int hob_crew_next(hob_crew *c, hob_draft *out) {
    hob_flow_env env = {.now = hob_session_now(c->s),
                        .state = &c->s->view->state,
                        .last_agent = last_agent(c->s->view->history),
                        .strand = strand_env,
                        .user = c};
    return hob_flow_next(c->flow, &c->s->run, &env, out);
}

void hob_crew_note(hob_crew *c, const hob_event *e, const hob_json *data) {
    ptrdiff_t i = hob_flow_index(c->flow, e->agent);
    if (e->type != HOB_EVENT_STATE_CHANGED || i < 0) return;
    const hob_frame *fr = &c->flow->frames[i];
    if (!hob_json_get_bool(data, "output", false) || !hob_json_count(hob_json_get(data, "temp")))
        return;
    hob_buf value;
    hob_buf_init(&value, HOB_EVENT_MAX);
    hob_flow_output(fr, &value);
    hob_state_assign(&c->s->view->state, hob_str_z(fr->agent->o.output_key), hob_buf_str(&value));
    c->s->temp_kept = true;
    hob_buf_finish(&value);
}
