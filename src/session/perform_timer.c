/*
 * perform_timer.c - the moment at which the run must be looked at again: a retry is due, time is up.
 */
#include "session/session.h"

typedef struct alarm_clock {
    hob_timer timer;
    hob_flight *f;
} alarm_clock;

static void on_due(hob_timer *t) {
    hob_flight *f = HOB_CONTAINER(t, alarm_clock, timer)->f;
    hob_session *s = f->s;
    hob_flight_end(f);
    hob_session_outcome(s, &(hob_input){.kind = HOB_INPUT_NEXT});
}

static int start(hob_flight *f, const hob_effect *e) {
    alarm_clock *a = f->impl;
    if (!a) {
        a = f->impl = HOB_NEW(alarm_clock);
        a->f = f;
        hob_timer_init(&a->timer, f->s->rt->loop, on_due);
    }
    hob_timer_start(&a->timer, e->due - f->s->clock_base);
    return HOB_OK;
}

static void stop(hob_flight *f, bool hard) {
    (void)hard;
    hob_timer_stop(&((alarm_clock *)f->impl)->timer);
}

static void destroy(hob_flight *f) {
    alarm_clock *a = f->impl;
    if (!a) return;
    hob_timer_stop(&a->timer);
    hob_free(a);
}

const hob_performer hob_perform_timer = {start, stop, destroy};
