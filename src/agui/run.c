/*
 * run.c - the life of a run on the wire.
 *
 *     NEW ──► RUNNING ──► FINISHED ──► (RUN_ERROR, once) FAILED
 *               │  ▲          │                            │
 *               │  └──────────┴── next run ────────────────┘
 *               └──► FAILED           NEW ──► FAILED: a run that never began
 */
#include "agui/agui.h"

static int may_start(const hob_agui_session *s, hob_str run_id, hob_error *err) {
    if (s->phase == HOB_PHASE_RUNNING)
        return hob_fail(err, HOB_EBUSY, 0, "run %.200s is under way; finish it first", s->run);
    int rc = hob_agui_need_id("run id", run_id, err);
    if (rc < 0) return rc;
    if (hob_map_get(s->runs, run_id))
        return hob_fail(err, HOB_EEXIST, 0, "the thread had a run %.*s already",
                        HOB_FMT(hob_str_first(run_id, hob_utf8_prefix(run_id, 100))));
    if (hob_map_count(s->runs) < HOB_AGUI_KNOWN_MAX) return 0;
    return hob_fail(err, HOB_ETOOBIG, 0, "the session had %d runs; make a new one",
                    HOB_AGUI_KNOWN_MAX);
}

static int say_started(hob_agui_session *s, hob_str thread, hob_str run, hob_str parent,
                       hob_error *err) {
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_RUN_STARTED);
    hob_jsonw_kstr(w, "threadId", thread);
    hob_jsonw_kstr(w, "runId", run);
    hob_jsonw_kstr(w, "protocolVersion", hob_str_z(HOB_AGUI_VERSION));
    hob_jsonw_kstr_opt(w, "parentRunId", parent);
    return hob_agui_send(s, err);
}

static void note_started(hob_agui_session *s, hob_str run) {
    hob_free(s->run);
    s->run = hob_dupz(run);
    hob_map_put(s->runs, run, s);
    s->phase = HOB_PHASE_RUNNING;
    hob_buf_reset(&s->usage);
    while (!hob_list_empty(&s->run_calls)) hob_list_remove(s->run_calls.next);
    hob_map_destroy(s->subagents);
    s->subagents = hob_map_create();
    hob_agui_activities_clear(s);
}

int hob_agui_run_start_ids(hob_agui_session *s, hob_str run_id, hob_str parent_run_id,
                           hob_error *err) {
    char made[37];
    hob_agui_make_id(made);
    hob_str run = run_id.n ? run_id : hob_str_z(made);
    hob_arena_reset(s->scratch);
    int rc = may_start(s, run, err);
    if (rc == 0 && parent_run_id.n) rc = hob_agui_need_id("parent run id", parent_run_id, err);
    if (rc < 0) return rc;
    rc = say_started(s, hob_str_z(s->thread), run, parent_run_id, err);
    if (hob_agui_happened(rc)) note_started(s, run);
    return rc;
}

static int may_start_with(const hob_agui_session *s, const hob_agui_input *in, hob_error *err) {
    hob_str thread = hob_agui_input_thread_id(in);
    if (s->named && !hob_str_eqz(thread, s->thread))
        return hob_fail(err, HOB_EINVAL, 0, "the input is for another thread than the session's");
    if (s->sink.encoding == HOB_AGUI_AS_PROTO && hob_agui_input_dialect(in) == HOB_AGUI_OLDER)
        return hob_fail(err, HOB_EINVAL, 0,
                        "a client without protocolVersion cannot read protobuf; send SSE");
    if (hob_agui_input_state(in).n > s->state.max)
        return hob_fail(err, HOB_ETOOBIG, 0, "the input's state is too large");
    return may_start(s, hob_agui_input_run_id(in), err);
}

int hob_agui_run_start(hob_agui_session *s, const hob_agui_input *in, hob_error *err) {
    hob_str thread = hob_agui_input_thread_id(in), run = hob_agui_input_run_id(in);
    hob_arena_reset(s->scratch);
    int rc = may_start_with(s, in, err);
    if (rc < 0) return rc;
    rc = say_started(s, thread, run, hob_agui_input_parent_run_id(in), err);
    if (!hob_agui_happened(rc)) return rc;
    if (!s->named) {
        hob_free(s->thread);
        s->thread = hob_dupz(thread);
        s->named = true;
    }
    s->dialect = hob_agui_input_dialect(in);
    hob_agui_state_note(s, hob_agui_input_state(in));
    hob_agui_known_forget(s);
    hob_agui_known_read(s, hob_json_get(hob_agui_input_json(in), "messages"));
    note_started(s, run);
    return rc;
}

/* ---- usage --------------------------------------------------------------------------------------------- */

static int check_usage(const hob_json *entry, hob_error *err) {
    static const char *const words[] = {"provider", "model"};
    static const char *const counts[] = {"inputTokens",       "outputTokens",
                                         "totalTokens",       "reasoningTokens",
                                         "cachedInputTokens", "cacheWriteInputTokens"};
    size_t known = 0;
    bool good = hob_json_is(entry, HOB_JSON_OBJECT);
    for (size_t i = 0; i < HOB_ARRAY_LEN(words); i++) {
        const hob_json *v = hob_json_get(entry, words[i]);
        known += v != NULL;
        good = good && (!v || hob_json_is(v, HOB_JSON_STRING));
    }
    for (size_t i = 0; i < HOB_ARRAY_LEN(counts); i++) {
        const hob_json *v = hob_json_get(entry, counts[i]);
        int64_t n = 0;
        known += v != NULL;
        good = good && (!v || (hob_json_int(v, &n) == 0 && n >= 0 && n <= (1LL << 53) - 1));
    }
    if (good && known == hob_json_count(entry)) return 0;
    return hob_fail(err, HOB_EINVAL, 0, "an entry of the usage is no TokenUsage");
}

int hob_agui_run_usage(hob_agui_session *s, hob_str usage_json, hob_error *err) {
    const hob_json *v;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_json(s, "usage", usage_json, HOB_JSON_ARRAY, &v, err);
    if (rc < 0) return rc;
    for (const hob_json *e = hob_json_first(v); e && rc == 0; e = hob_json_next(e))
        rc = check_usage(e, err);
    if (rc < 0) return rc;
    if (usage_json.n > s->usage.max)
        return hob_fail(err, HOB_ETOOBIG, 0, "the usage has more than %zu bytes", s->usage.max);
    hob_buf_reset(&s->usage);
    if (hob_json_count(v)) hob_buf_add(&s->usage, usage_json);
    return 0;
}

/* ---- ends ----------------------------------------------------------------------------------------------- */

hob_jsonw *hob_agui_begin_finished(hob_agui_session *s) {
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_RUN_FINISHED);
    hob_jsonw_kstr(w, "threadId", hob_str_z(s->thread));
    hob_jsonw_kstr(w, "runId", hob_str_z(s->run));
    if (s->usage.n) hob_jsonw_kraw(w, "usage", hob_buf_str(&s->usage));
    return w;
}

int hob_agui_send_end(hob_agui_session *s, hob_agui_phase phase, hob_error *err) {
    int rc = hob_agui_send(s, err);
    if (!hob_agui_happened(rc)) return rc;
    hob_agui_item_clear(s);
    hob_free(s->run);
    s->run = NULL;
    hob_buf_reset(&s->usage);
    s->phase = phase;
    return rc;
}

/* Calls that nobody answered, in their order: the client's to carry out. */
static void put_pending(hob_agui_session *s, hob_jsonw *w) {
    bool any = false;
    HOB_LIST_EACH (l, &s->run_calls) {
        hob_agui_call *c = HOB_CONTAINER(l, hob_agui_call, link);
        if (c->answered) continue;
        if (!any) {
            hob_jsonw_key(w, "outcome");
            hob_jsonw_object(w);
            hob_jsonw_kstr(w, "type", HOB_STR("success"));
            hob_jsonw_key(w, "pendingToolCallIds");
            hob_jsonw_array(w);
        }
        any = true;
        hob_jsonw_str(w, c->id);
    }
    if (!any) return;
    hob_jsonw_array_end(w);
    hob_jsonw_object_end(w);
}

int hob_agui_run_finish(hob_agui_session *s, hob_str result_json, hob_error *err) {
    if (s->phase != HOB_PHASE_RUNNING) return 0;
    const hob_json *result = NULL;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0 && result_json.n)
        rc = hob_agui_need_json(s, "result", result_json, -1, &result, err);
    if (rc == 0) rc = hob_agui_item_close_all(s, NULL, HOB_WHY_FINISH, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin_finished(s);
    if (result && !hob_json_is(result, HOB_JSON_NULL)) hob_jsonw_kraw(w, "result", result_json);
    if (s->dialect == HOB_AGUI_1_0) put_pending(s, w);
    return hob_agui_send_end(s, HOB_PHASE_FINISHED, err);
}

int hob_agui_run_error_with_code(hob_agui_session *s, hob_str message, hob_str code,
                                 hob_error *err) {
    if (s->phase == HOB_PHASE_FAILED)
        return hob_fail(err, HOB_EIDLE, 0, "the run has failed already");
    hob_arena_reset(s->scratch);
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_RUN_ERROR);
    hob_jsonw_kstr(w, "message", message.n ? message : HOB_STR("the run failed"));
    hob_jsonw_kstr_opt(w, "code", code);
    if (s->usage.n) hob_jsonw_kraw(w, "usage", hob_buf_str(&s->usage));
    return hob_agui_send_end(s, HOB_PHASE_FAILED, err);
}

int hob_agui_run_error(hob_agui_session *s, hob_str message, hob_error *err) {
    return hob_agui_run_error_with_code(s, message, HOB_STR_NULL, err);
}

int hob_agui_run_cancelled(hob_agui_session *s, hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_item_close_all(s, NULL, HOB_WHY_CANCEL, err);
    if (rc < 0) return rc;
    if (s->dialect == HOB_AGUI_OLDER)
        return hob_agui_run_error_with_code(s, HOB_STR("the run was cancelled"),
                                            HOB_STR("cancelled"), err);
    hob_jsonw *w = hob_agui_begin_finished(s);
    hob_jsonw_kraw(w, "outcome", HOB_STR("{\"type\":\"cancelled\"}"));
    return hob_agui_send_end(s, HOB_PHASE_FINISHED, err);
}
