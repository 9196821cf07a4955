#include "log/working.h"

void hob_working_finish(hob_working *w) {
    for (size_t i = 0; i < w->n; i++) hob_event_unref(w->at[i]);
    hob_free(w->at);
    *w = (hob_working){.at = NULL};
}

/* An agent has one name in its workflow, and is at work once at a time. */
static void end(hob_working *w, hob_str agent) {
    for (size_t i = w->n; i-- > 0;) {
        if (!hob_str_eq(w->at[i]->agent, agent)) continue;
        hob_event_unref(w->at[i]);
        memmove(&w->at[i], &w->at[i + 1], (--w->n - i) * sizeof *w->at);
        return;
    }
}

void hob_working_apply(hob_working *w, const hob_event *e) {
    if (e->type == HOB_EVENT_AGENT_FINISHED || e->type == HOB_EVENT_AGENT_STARTED) end(w, e->agent);
    if (e->type != HOB_EVENT_AGENT_STARTED || w->n == HOB_WORKING_MAX) return;
    w->at = hob_realloc(w->at, (w->n + 1) * sizeof *w->at);
    w->at[w->n++] = hob_event_ref((hob_event *)e);
}
