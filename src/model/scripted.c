/*
 * scripted.c - the built-in model that follows a script.
 *
 * A call is a player driven by one timer. Each time the timer fires, a bounded number of moves is made. A
 * turn makes at most one callback, as its very last act: the call may be cancelled, and so freed, from
 * inside progress(). For the same reason the end is told in a turn of its own.
 */
#include "model/scripted.h"

#define MOVES_PER_TURN 32        /* so that a cancel gets in between */
#define CALL_MEMORY (256u << 20) /* texts of the request that the script looks at */

typedef struct scripted {
    hob_provider base;
    hob_loop *loop;
    hob_script *script;
} scripted;

struct hob_model_call {
    hob_timer timer;
    hob_model_handler handler;
    void *user;
    hob_arena *arena; /* of the player's view */
    hob_script_player player;
};

static void call_destroy(hob_model_call *c) {
    hob_timer_stop(&c->timer);
    hob_script_player_finish(&c->player);
    hob_arena_destroy(c->arena);
    hob_free(c);
}

static void tell_end(hob_model_call *c) {
    hob_model_outcome outcome = c->player.outcome;
    hob_model_handler handler = c->handler;
    void *user = c->user;
    call_destroy(c);
    handler.done(&outcome, user);
}

/* When to go on after this move. Silence never does: only a cancel ends it. */
static void schedule(hob_model_call *c, hob_script_move move) {
    int64_t now = hob_loop_now(c->timer.loop);
    switch (move) {
    case HOB_SCRIPT_MOVE_ON:
    case HOB_SCRIPT_MOVE_END: hob_timer_start(&c->timer, now); break;
    case HOB_SCRIPT_MOVE_PAUSE: hob_timer_start(&c->timer, now + c->player.pause_ms); break;
    case HOB_SCRIPT_MOVE_SILENCE: break;
    }
}

static void on_timer(hob_timer *t) {
    hob_model_call *c = HOB_CONTAINER(t, hob_model_call, timer);
    hob_script_move move = HOB_SCRIPT_MOVE_ON;
    c->player.grew = false;
    for (int i = 0; i < MOVES_PER_TURN && move == HOB_SCRIPT_MOVE_ON; i++)
        move = hob_script_player_move(&c->player);
    if (move == HOB_SCRIPT_MOVE_END && !c->player.grew) {
        tell_end(c);
        return;
    }
    schedule(c, move);
    if (!c->player.grew) return;
    hob_script_player_usage(&c->player);
    c->handler.progress(c->user);
}

/* ---- the provider --------------------------------------------------------------------------- */

static void end_unmatched(hob_script_player *p) {
    hob_buf b;
    hob_buf_init(&b, 4096);
    hob_buf_addz(&b, "no rule of the script matches this request (");
    hob_script_view_describe(&p->view, &b);
    hob_buf_addz(&b, "): add a rule or \"otherwise\"");
    hob_script_player_end(p, HOB_EREFUSED, hob_buf_z(&b));
    hob_buf_finish(&b);
}

static int scripted_start(hob_provider *provider, const hob_model_request *rq, hob_answer *answer,
                          const hob_model_handler *h, void *user, hob_model_call **out,
                          hob_error *err) {
    scripted *s = HOB_CONTAINER(provider, scripted, base);
    hob_arena *arena = hob_arena_create(CALL_MEMORY);
    hob_script_view view;
    int code = hob_script_view_init(&view, rq, arena, err);
    if (code < 0) {
        hob_arena_destroy(arena);
        return code;
    }
    hob_model_call *c = HOB_NEW(hob_model_call);
    c->arena = arena;
    c->handler = *h;
    c->user = user;
    const hob_script_reply *reply = hob_script_find(s->script, &view);
    hob_script_player_init(&c->player, reply, answer);
    c->player.view = view;
    c->player.usage = s->script->usage;
    if (!reply) end_unmatched(&c->player);
    hob_timer_init(&c->timer, s->loop, on_timer);
    hob_timer_start(&c->timer, hob_loop_now(s->loop));
    *out = c;
    return HOB_OK;
}

static void scripted_cancel(hob_model_call *c) {
    if (c) call_destroy(c);
}

static void scripted_destroy(hob_provider *provider) {
    if (!provider) return;
    scripted *s = HOB_CONTAINER(provider, scripted, base);
    hob_script_destroy(s->script);
    hob_free(s);
}

static const hob_provider_ops scripted_ops = {
    .size = sizeof(hob_provider_ops),
    .name = "scripted",
    .start = scripted_start,
    .cancel = scripted_cancel,
    .destroy = scripted_destroy,
};

int hob_provider_scripted_create(const hob_provider_env *env, hob_str script, hob_provider **out,
                                 hob_error *err) {
    hob_script *parsed;
    int code = hob_script_create(script, &parsed, err);
    if (code < 0) return code;
    scripted *s = HOB_NEW(scripted);
    s->base.ops = &scripted_ops;
    s->loop = env->loop;
    s->script = parsed;
    *out = &s->base;
    return HOB_OK;
}
