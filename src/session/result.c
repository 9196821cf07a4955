/*
 * result.c - how the last prompt ended: the `result` object of the contract.
 */
#include "session/session.h"

struct hob_result {
    hob_buf json;
    char status[16];
    hob_buf text;
    int code;
};

/* Which answer the result shows: the last one since the prompt. */
void hob_session_note_result(hob_session *s, const hob_event *e, const hob_json *data) {
    if (e->type == HOB_EVENT_ASSISTANT_MESSAGE && e->run_id.n) s->result_seq = e->seq;
    hob_str origin = hob_json_get_str(data, "origin");
    bool fresh = hob_str_eqz(origin, "prompt") || hob_str_eqz(origin, "update");
    if (e->type == HOB_EVENT_RUN_STARTED && fresh) s->result_seq = 0;
}

static void add_text(hob_buf *out, const hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *content = hob_json_get(hob_event_parse(e, a), "content");
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        if (hob_str_eqz(hob_json_get_str(b, "type"), "text"))
            hob_buf_add(out, hob_json_get_str(b, "text"));
    hob_arena_destroy(a);
}

/* A run that completed with calls in its last answer ended with their results: the tools asked for that. */
static bool results_answer(const hob_session *s, const hob_node *n) {
    return n->nresults && !hob_run_active(&s->run) && !strcmp(s->run.last_status, "completed");
}

static void read_text(hob_session *s, hob_buf *out) {
    const hob_node *n = s->result_seq ? hob_history_find(s->view->history, s->result_seq) : NULL;
    if (!n) return;
    if (!results_answer(s, n)) add_text(out, n->event);
    for (size_t i = 0; results_answer(s, n) && i < n->nresults; i++) {
        if (out->n) hob_buf_addc(out, '\n');
        if (n->results[i].event) add_text(out, n->results[i].event);
    }
}

static void write_error(hob_jsonw *w, int code, int status, const char *message, bool retryable) {
    hob_jsonw_key(w, "error");
    if (code >= 0) {
        hob_jsonw_null(w);
        return;
    }
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "code", hob_str_z(hob_error_name(code)));
    if (status) hob_jsonw_kint(w, "status", status);
    hob_jsonw_kstr(w, "message", hob_str_z(message));
    hob_jsonw_kbool(w, "retryable", retryable);
    hob_jsonw_object_end(w);
}

typedef struct ending {
    const char *status;
    int code, sub;
    char message[600];
    bool retryable;
} ending;

/* Which limit, and how much it allows. */
static void explain_limit(const hob_run *r, ending *e) {
    const struct {
        const char *name, *unit;
        double max;
    } limits[] = {
        {"turns", "", (double)r->limits.turns},
        {"tokens", "", (double)r->limits.tokens},
        {"tool_calls", "", (double)r->limits.tool_calls},
        {"time", " s", (double)r->limits.ms / 1000},
        {"cost", " USD", r->limits.cost_usd},
    };
    e->code = HOB_ELIMIT;
    snprintf(e->message, sizeof e->message, "a limit ended the run: %s", r->end_reason);
    if (!strcmp(r->end_reason, "repeated_action"))
        snprintf(e->message, sizeof e->message,
                 "the run was ended because the model made the same call %d times in a row",
                 HOB_REPEATS_REFUSE);
    for (size_t i = 0; i < HOB_ARRAY_LEN(limits); i++) {
        if (!strcmp(r->end_reason, limits[i].name))
            snprintf(e->message, sizeof e->message, "a limit ended the run: %s, at most %.15g%s",
                     limits[i].name, limits[i].max, limits[i].unit);
    }
}

static void explain(hob_session *s, ending *e) {
    const hob_run *r = &s->run;
    e->status = r->last_status;
    if (s->failed) {
        *e = (ending){.status = "failed", .code = s->failed, .sub = s->fail_error.sub};
        snprintf(e->message, sizeof e->message, "%s", s->fail_error.message);
    } else if (hob_run_active(r)) {
        bool parked = hob_run_parked(r), asks = parked && !r->paused;
        e->status = parked ? "parked" : "interrupted";
        e->code = asks ? HOB_EACCES : HOB_EBUSY;
        snprintf(e->message, sizeof e->message,
                 asks     ? "a call waits for an approval"
                 : parked ? "the run is paused; resume it to go on"
                          : "unfinished");
    } else if (!strcmp(e->status, "failed")) {
        e->code = r->fail.code;
        e->sub = r->fail.sub;
        e->retryable = r->fail.retryable;
        snprintf(e->message, sizeof e->message, "%s", r->fail.message);
    } else if (!strcmp(e->status, "limit")) {
        explain_limit(r, e);
    } else if (!strcmp(e->status, "cancelled") || !strcmp(e->status, "interrupted")) {
        e->code = HOB_ECANCELLED;
        snprintf(e->message, sizeof e->message, "%s", r->end_reason[0] ? r->end_reason : "stopped");
    }
}

hob_result *hob_session_result(hob_session *s) {
    hob_result *r = HOB_NEW(hob_result);
    ending e = {.status = ""};
    hob_jsonw w;
    explain(s, &e);
    hob_buf_init(&r->json, HOB_EVENT_MAX + (1u << 20));
    hob_buf_init(&r->text, HOB_EVENT_MAX);
    read_text(s, &r->text);
    r->code = e.code;
    snprintf(r->status, sizeof r->status, "%s", e.status[0] ? e.status : "completed");
    hob_jsonw_init(&w, &r->json);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("result"));
    hob_jsonw_kstr(&w, "status", hob_str_z(r->status));
    hob_jsonw_kstr(&w, "text", hob_buf_str(&r->text));
    hob_jsonw_kstr(&w, "session_id", hob_str_z(s->id));
    hob_jsonw_kstr(&w, "run_id", hob_str_z(s->run.id));
    hob_spent_write(&w, &s->run.spent);
    hob_jsonw_kint(&w, "duration_ms", s->run.spent.ms);
    write_error(&w, e.code, e.sub, e.message, e.retryable);
    hob_jsonw_object_end(&w);
    return r;
}

hob_str hob_result_json(const hob_result *r) {
    return hob_buf_str(&r->json);
}

hob_str hob_result_status(const hob_result *r) {
    return hob_str_z(r->status);
}

hob_str hob_result_text(const hob_result *r) {
    return hob_buf_str(&r->text);
}

int hob_result_code(const hob_result *r) {
    return r->code;
}

void hob_result_destroy(hob_result *r) {
    if (!r) return;
    hob_buf_finish(&r->json);
    hob_buf_finish(&r->text);
    hob_free(r);
}
