/*
 * perform.c - effects: what pending() lists is started, what it no longer lists is dropped.
 *
 * There is no other place where work begins, so a session that was just opened after a crash and one that never stopped
 * take the same way. Each strand has its own: two may wait for the same moment.
 */
#include "session/crew.h"
#include "session/session.h"
#include "session/task.h"

static const hob_performer *const performers[HOB_EFFECT_COUNT_] = {
#define HOB_X(NAME, name) [HOB_EFFECT_##NAME] = &hob_perform_##name,
    HOB_EFFECTS(HOB_X)
#undef HOB_X
};

static hob_flight *find(const hob_strand *st, const hob_effect *e) {
    HOB_LIST_EACH (it, &st->s->flights) {
        hob_flight *f = HOB_CONTAINER(it, hob_flight, link);
        if (f->strand == st && f->kind == e->kind && hob_str_eqz(e->key, f->key)) return f;
    }
    return NULL;
}

void hob_flight_end(hob_flight *f) {
    hob_timer_stop(&f->later);
    hob_list_remove(&f->link);
    performers[f->kind]->destroy(f);
    hob_free(f);
}

static void on_later(hob_timer *t) {
    hob_flight *f = HOB_CONTAINER(t, hob_flight, later);
    if (f->kind == HOB_EFFECT_CALL_MODEL)
        hob_model_failed(f);
    else if (f->kind == HOB_EFFECT_CALL_AGENT)
        hob_agent_failed(f);
    else
        hob_tool_failed(f);
}

void hob_flight_fail(hob_flight *f, int code, const hob_error *err) {
    f->code = code;
    if (err) f->err = *err;
    hob_timer_start(&f->later, hob_loop_now(f->s->rt->loop));
}

static hob_flight *take_off(hob_strand *st, const hob_effect *e) {
    hob_flight *f = HOB_NEW(hob_flight);
    f->s = st->s;
    f->strand = st;
    f->kind = e->kind;
    f->seen = true;
    memcpy(f->key, e->key.p, HOB_MIN(e->key.n, sizeof f->key - 1));
    hob_timer_init(&f->later, f->s->rt->loop, on_later);
    hob_list_push(&f->s->flights, &f->link);
    return f;
}

static void start(hob_strand *st, const hob_effect *e) {
    hob_error cancelled = {.code = HOB_ECANCELLED};
    if (!e->stop && e->after_seq > st->s->durable) return; /* its intent is not durable yet */
    if (!e->stop && e->kind == HOB_EFFECT_CALL_MODEL && !hob_strand_can_ask(st)) return;
    hob_flight *f = take_off(st, e);
    f->stopping = e->stop;
    if (e->stop)
        hob_flight_fail(f, HOB_ECANCELLED, &cancelled);
    else
        performers[e->kind]->start(f, e);
}

static void keep(hob_flight *f, const hob_effect *e) {
    f->seen = true;
    if (e->kind == HOB_EFFECT_TIMER)
        performers[e->kind]->start(f, e);
    else if (e->stop &&
             (!f->stopping || (e->stop == HOB_ENDING_ABORT && f->stopping != HOB_ENDING_ABORT))) {
        f->stopping = e->stop;
        performers[e->kind]->stop(f, e->stop == HOB_ENDING_ABORT);
    }
}

static void perform_strand(hob_strand *st) {
    hob_effect effects[HOB_EFFECTS_MAX];
    size_t n = st->frame < 0
                   ? hob_run_pending(st->run, effects)
                   : hob_flow_pending(st->s->crew->flow, (size_t)st->frame, &st->s->run, effects);
    for (size_t i = 0; i < n; i++) {
        hob_flight *f = find(st, &effects[i]);
        if (f)
            keep(f, &effects[i]);
        else
            start(st, &effects[i]);
    }
}

void hob_session_perform(hob_session *s) {
    if (s->failed || s->refolding || s->let_go || s->left_alone) return;
    HOB_LIST_EACH (it, &s->flights) HOB_CONTAINER(it, hob_flight, link)->seen = false;
    HOB_LIST_EACH (it, &s->strands) perform_strand(HOB_CONTAINER(it, hob_strand, link));
    HOB_LIST_EACH_SAFE (it, &s->flights) {
        hob_flight *f = HOB_CONTAINER(it, hob_flight, link);
        if (!f->seen) hob_flight_end(f);
    }
    hob_tasks_perform(s);
}

int hob_session_stop_call(hob_session *s, hob_str call) {
    HOB_LIST_EACH (it, &s->flights) {
        hob_flight *f = HOB_CONTAINER(it, hob_flight, link);
        if (f->kind != HOB_EFFECT_RUN_TOOL || !hob_str_eqz(call, f->key)) continue;
        performers[f->kind]->stop(f, f->told);
        f->told = true;
        return HOB_OK;
    }
    return HOB_ENOENT;
}

void hob_strand_drop_flights(hob_strand *st) {
    HOB_LIST_EACH_SAFE (it, &st->s->flights) {
        hob_flight *f = HOB_CONTAINER(it, hob_flight, link);
        if (f->strand == st) hob_flight_end(f);
    }
}

void hob_session_drop_flights(hob_session *s) {
    while (!hob_list_empty(&s->flights))
        hob_flight_end(HOB_LIST_FIRST(&s->flights, hob_flight, link));
}

void hob_session_kick(hob_session *s) {
    hob_timer_start(&s->kick, hob_loop_now(s->rt->loop));
}
