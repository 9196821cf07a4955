#include "session/callback.h"

#include "session/crew.h"
#include "session/session.h"

enum { GRACE_MS = 5000, HARD_GRACE_MS = 250, CALLBACK_MS = 60000, WORDS_MAX = 1 << 20 };

struct hob_callback {
    hob_strand *st;
    hob_agent *agent; /* a reference: a function of the host may outlive our interest in it */
    hob_callback_plan plan;
    hob_arena *arena;     /* of the plan */
    size_t at;            /* the function at work */
    hob_agent_call *call; /* lives with the reply */
    hob_reply *reply;
    hob_timer timeout, grace;
    hob_actions asked; /* by all of them */
    bool stopping;
    hob_callback_done_fn done;
    void *user;
};

static int ask(hob_callback *c);

/* ---- the answer ------------------------------------------------------------------------------------------- */

static void finish(hob_callback *c, hob_callback_answer *a) {
    a->actions = &c->asked;
    hob_timer_stop(&c->timeout);
    hob_timer_stop(&c->grace);
    c->done(c->user, a); /* drops us */
}

static void give_up(hob_callback *c, hob_outcome outcome, const char *why) {
    hob_buf content;
    hob_jsonw w;
    hob_buf_init(&content, WORDS_MAX);
    hob_jsonw_init(&w, &content);
    hob_jsonw_array(&w);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("text"));
    hob_jsonw_kstr(&w, "text", hob_str_z(why));
    hob_jsonw_object_end(&w);
    hob_jsonw_array_end(&w);
    finish(c, &(hob_callback_answer){true, outcome, hob_buf_str(&content), NULL});
    hob_buf_finish(&content);
}

static bool has_blocks(hob_str content) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *blocks = NULL;
    bool any = hob_json_parse(a, content, NULL, &blocks, NULL) >= 0 && hob_json_count(blocks) > 0;
    hob_arena_destroy(a);
    return any;
}

void hob_content_words(hob_str content, hob_buf *out) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *blocks = NULL;
    (void)hob_json_parse(a, content, NULL, &blocks, NULL);
    for (const hob_json *b = hob_json_first(blocks); b; b = hob_json_next(b))
        hob_buf_add(out, hob_json_get_str(b, "text"));
    hob_arena_destroy(a);
}

/* Its changes are laid over those before; the state must have room for all. */
static int take_actions(hob_callback *c, const hob_actions *a, hob_error *err) {
    const hob_state_limits limits = HOB_STATE_LIMITS;
    if (!a) return HOB_OK;
    hob_actions_add(&c->asked, a);
    return hob_overlay_check(&c->asked.changes, &c->st->s->view->state, &limits, err);
}

static void on_done(void *user, const hob_tool_result *r) {
    hob_callback *c = user;
    bool ok = r->outcome == HOB_OUTCOME_OK, speaks = !ok || has_blocks(r->content);
    hob_error err;
    c->reply = NULL;
    hob_timer_stop(&c->timeout);
    if (ok && take_actions(c, r->actions, &err) < 0)
        give_up(c, HOB_OUTCOME_ERROR, err.message);
    else if (speaks || c->stopping || ++c->at == c->plan.n)
        finish(c, &(hob_callback_answer){speaks, r->outcome, r->content, NULL});
    else
        ask(c);
}

static void on_timeout(hob_timer *timer) {
    hob_callback *c = HOB_CONTAINER(timer, hob_callback, timeout);
    char text[120];
    snprintf(text, sizeof text, "error: %s gave no answer within %lld s", c->plan.what,
             (long long)c->plan.patience_ms / 1000);
    give_up(c, HOB_OUTCOME_ERROR, text);
}

static void on_grace_over(hob_timer *timer) {
    hob_callback *c = HOB_CONTAINER(timer, hob_callback, grace);
    char text[120];
    snprintf(text, sizeof text, "%s was told to stop and did not answer", c->plan.what);
    give_up(c, HOB_OUTCOME_UNKNOWN, text);
}

/* ---- calling ------------------------------------------------------------------------------------------------ */

static hob_str last_prompt(const hob_history *h) {
    for (size_t i = h->npath; i-- > 0;)
        if (h->nodes[h->path[i]].role == HOB_ROLE_USER) return h->nodes[h->path[i]].content;
    return HOB_STR("[]");
}

static hob_agent_call *make_call(const hob_callback *c, hob_arena *a) {
    const hob_session *s = c->st->s;
    const hob_callback_plan *p = &c->plan;
    hob_agent_call *call = HOB_ARENA_NEW(a, hob_agent_call);
    *call = (hob_agent_call){.size = sizeof *call,
                             .session = hob_arena_dup(a, hob_str_z(s->id)),
                             .run = hob_arena_dup(a, hob_str_z(s->run.id)),
                             .agent = hob_arena_dup(a, hob_str_z(c->st->agent)),
                             .branch = hob_arena_dup(a, hob_str_z(c->st->branch)),
                             .prompt = hob_arena_dup(a, last_prompt(s->view->history)),
                             .content = hob_arena_dup(a, p->content),
                             .tool = hob_arena_dup(a, p->tool),
                             .call = hob_arena_dup(a, p->call),
                             .args = hob_arena_dup(a, p->args)};
    return call;
}

/* The session's, with what was asked for at this point of the work. */
static const hob_state *keep_state(hob_callback *c) {
    hob_state with;
    hob_state_copy(&with, &c->st->s->view->state);
    hob_overlay_apply(&c->asked.changes, HOB_SCOPE_ALL, &with);
    const hob_state *kept = hob_reply_keep_state(c->reply, &with);
    hob_state_finish(&with);
    return kept;
}

static int ask(hob_callback *c) {
    static const hob_reply_handler handler = {NULL, on_done};
    hob_runtime *rt = c->st->s->rt;
    hob_arena *arena = hob_arena_create(HOB_EVENT_MAX * 3u);
    c->call = make_call(c, arena);
    c->reply = hob_reply_create(rt->loop, &handler, c);
    hob_reply_actions(c->reply)->no_saves = !c->plan.tool.n;
    hob_reply_keep(c->reply, arena);
    c->call->state = keep_state(c);
    hob_timer_start(&c->timeout, hob_loop_now(rt->loop) + c->plan.patience_ms);
    rt->depth++;
    c->plan.functions[c->at].fn(c->call, c->reply, c->plan.functions[c->at].user);
    rt->depth--;
    return HOB_OK;
}

static hob_agent_fn function_of(const hob_agent_callbacks *c, hob_hook point) {
    switch (point) {
#define HOB_X(NAME, name)                                                                          \
    case HOB_HOOK_##NAME: return c->name;
        HOB_HOOKS(HOB_X)
#undef HOB_X
    }
    return NULL;
}

static const char *name_of(hob_hook point) {
    static const char *const names[] = {
#define HOB_X(NAME, name) #name,
        HOB_HOOKS(HOB_X)
#undef HOB_X
    };
    return names[point];
}

bool hob_callback_find(const hob_strand *st, hob_hook point, hob_callback_plan *out) {
    const hob_agent *agent = hob_crew_agent(st);
    const hob_agent_callbacks *sets[] = {st->s->callbacks.size ? &st->s->callbacks : NULL,
                                         agent ? agent->o.callbacks : NULL};
    *out = (hob_callback_plan){.what = name_of(point), .patience_ms = CALLBACK_MS};
    for (size_t i = 0; i < HOB_ARRAY_LEN(sets); i++) {
        hob_agent_fn fn = sets[i] ? function_of(sets[i], point) : NULL;
        if (!fn) continue;
        out->functions[out->n].fn = fn;
        out->functions[out->n++].user = sets[i]->user;
    }
    return out->n > 0;
}

hob_callback *hob_callback_start(hob_strand *st, const hob_callback_plan *p,
                                 hob_callback_done_fn done, void *user) {
    hob_callback *c = HOB_NEW(hob_callback);
    hob_loop *loop = st->s->rt->loop;
    c->st = st;
    c->agent = hob_agent_ref(hob_crew_agent(st));
    c->plan = *p;
    c->arena = hob_arena_create(HOB_EVENT_MAX * 3u);
    c->plan.content = hob_arena_dup(c->arena, p->content);
    c->plan.tool = hob_arena_dup(c->arena, p->tool);
    c->plan.call = hob_arena_dup(c->arena, p->call);
    c->plan.args = hob_arena_dup(c->arena, p->args);
    c->plan.changes = NULL;
    hob_actions_init(&c->asked);
    if (p->changes) hob_state_copy(&c->asked.changes, p->changes);
    hob_timer_init(&c->timeout, loop, on_timeout);
    hob_timer_init(&c->grace, loop, on_grace_over);
    c->done = done;
    c->user = user;
    ask(c);
    return c;
}

/* ---- stopping ------------------------------------------------------------------------------------------------- */

static void tell_to_stop(const hob_callback *c, bool hard) {
    hob_runtime *rt = c->st->s->rt;
    if (!c->plan.cancel) return;
    rt->depth++;
    c->plan.cancel(c->call, hard, c->plan.functions[c->at].user);
    rt->depth--;
}

void hob_callback_stop(hob_callback *c, bool hard) {
    hob_loop *loop = c->st->s->rt->loop;
    c->stopping = true;
    hob_timer_stop(&c->timeout);
    hob_timer_start(&c->grace, hob_loop_now(loop) + (hard ? HARD_GRACE_MS : GRACE_MS));
    tell_to_stop(c, hard);
}

void hob_callback_drop(hob_callback *c) {
    if (!c) return;
    if (c->reply) {
        hob_reply_mute(c->reply);
        tell_to_stop(c, true); /* with what the reply keeps */
        hob_reply_drop(c->reply);
    }
    hob_timer_stop(&c->timeout);
    hob_timer_stop(&c->grace);
    hob_actions_finish(&c->asked);
    hob_arena_destroy(c->arena);
    hob_agent_unref(c->agent);
    hob_free(c);
}

/* ---- changes of state that stand alone -------------------------------------------------------------------------- */

int hob_strand_say_changes(hob_strand *st, const hob_state *changes, hob_error *err) {
    hob_draft d;
    if (!changes->count) return HOB_OK;
    hob_jsonw w = hob_say(st->run, HOB_EVENT_STATE_CHANGED, &d);
    hob_overlay_write(changes, "delta", &w);
    hob_say_end(&w);
    return hob_session_append_changes(st->s, &d, changes, err);
}
