/*
 * say.c - drafts of events, in the words of docs/events.md.
 */
#include "run/run.h"

static const char *const outcomes[] = {
    [HOB_OUTCOME_OK] = "ok",
    [HOB_OUTCOME_ERROR] = "error",
    [HOB_OUTCOME_SKIPPED] = "skipped",
    [HOB_OUTCOME_DENIED] = "denied",
    [HOB_OUTCOME_CANCELLED] = "cancelled",
    [HOB_OUTCOME_UNKNOWN] = "unknown",
};

static const char *const stops[] = {
    [HOB_STOP_NONE] = "aborted",  [HOB_STOP_DONE] = "done",       [HOB_STOP_TOOLS] = "tools",
    [HOB_STOP_LENGTH] = "length", [HOB_STOP_REFUSAL] = "refusal", [HOB_STOP_CONTINUE] = "continue",
};

const char *hob_outcome_name(hob_outcome o) {
    return outcomes[o];
}

hob_outcome hob_outcome_from(hob_str name) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(outcomes); i++)
        if (hob_str_eqz(name, outcomes[i])) return (hob_outcome)i;
    return HOB_OUTCOME_UNKNOWN;
}

const char *hob_stop_name(hob_stop s) {
    return stops[s];
}

hob_stop hob_stop_from(hob_str name) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(stops); i++)
        if (hob_str_eqz(name, stops[i])) return (hob_stop)i;
    return HOB_STOP_NONE;
}

/* Begins a draft of the run at hand; its data object is open. */
hob_jsonw hob_say(const hob_run *r, hob_event_type type, hob_draft *out) {
    hob_jsonw w;
    hob_draft_init(out, type);
    out->run_id = hob_str_z(r->id);
    out->agent = r->agent;
    out->branch = r->branch;
    out->turn = r->turn;
    hob_jsonw_init(&w, &out->data);
    hob_jsonw_object(&w);
    return w;
}

void hob_say_end(hob_jsonw *w) {
    hob_jsonw_object_end(w);
}

/* The end of a call that hob itself decided, with a text for the model. */
int hob_say_result(const hob_run *r, const hob_call *c, hob_outcome o, hob_str text,
                   hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_TOOL_FINISHED, out);
    hob_jsonw_kstr(&w, "call", c->call);
    hob_jsonw_kstr(&w, "tool", c->name);
    hob_jsonw_kstr(&w, "outcome", hob_str_z(hob_outcome_name(o)));
    hob_jsonw_key(&w, "content");
    hob_jsonw_array(&w);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("text"));
    hob_jsonw_kstr(&w, "text", text);
    hob_jsonw_object_end(&w);
    hob_jsonw_array_end(&w);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

void hob_spent_write(hob_jsonw *w, const hob_spent *s) {
    hob_jsonw_kint(w, "turns", s->turns);
    hob_jsonw_kint(w, "tool_calls", s->tool_calls);
    hob_usage_write(w, "usage", &s->usage);
    hob_jsonw_key(w, "cost_usd");
    if (s->cost_known)
        hob_jsonw_double(w, s->cost_usd);
    else
        hob_jsonw_null(w);
}

int hob_say_limit(const hob_run *r, hob_stopper s, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_LIMIT_REACHED, out);
    hob_jsonw_kstr(&w, "limit", hob_str_z(s.limit));
    hob_jsonw_key(&w, "value");
    hob_jsonw_double(&w, s.value);
    hob_jsonw_key(&w, "max");
    hob_jsonw_double(&w, s.max);
    if (s.own) hob_jsonw_kstr(&w, "scope", HOB_STR("agent"));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}
