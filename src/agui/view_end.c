/*
 * view_end.c - what a run used, and how it ended.
 */
#include "agui/view.h"

/* ---- usage, by model --------------------------------------------------------------------------------------------------- */

static hob_view_model *model_of(hob_agui_view *v, hob_str name) {
    for (size_t i = 0; i < v->nmodels; i++)
        if (hob_str_eqz(name, v->models[i].name)) return &v->models[i];
    if (v->nmodels == HOB_VIEW_MODELS) return &v->models[HOB_VIEW_MODELS - 1];
    v->models[v->nmodels].name = hob_dupz(name);
    return &v->models[v->nmodels++];
}

void hob_view_add_usage(hob_agui_view *v, hob_str model, const hob_json *usage) {
    hob_usage u;
    if (!usage) return;
    hob_usage_read(usage, &u);
    if (hob_usage_total(&u) > 0) hob_usage_add(&model_of(v, model)->usage, &u);
}

/* AG-UI counts what was read from and written to a cache among the input. */
static void put_model(hob_jsonw *w, const hob_view_model *m) {
    hob_str name = hob_str_z(m->name), provider;
    int64_t input =
        m->usage.input_tokens + m->usage.cache_read_tokens + m->usage.cache_write_tokens;
    hob_jsonw_object(w);
    if (hob_str_chr(name, '/') > 0 && !hob_str_starts(name, HOB_STR("scripted:")) &&
        hob_str_split(&name, '/', &provider))
        hob_jsonw_kstr(w, "provider", provider);
    hob_jsonw_kstr_opt(w, "model", name);
    hob_jsonw_kint(w, "inputTokens", input);
    hob_jsonw_kint(w, "outputTokens", m->usage.output_tokens);
    hob_jsonw_kint(w, "totalTokens", input + m->usage.output_tokens);
    hob_jsonw_kint(w, "reasoningTokens", m->usage.reasoning_tokens);
    hob_jsonw_kint(w, "cachedInputTokens", m->usage.cache_read_tokens);
    hob_jsonw_kint(w, "cacheWriteInputTokens", m->usage.cache_write_tokens);
    hob_jsonw_object_end(w);
}

int hob_view_put_usage(hob_agui_view *v, hob_error *err) {
    hob_buf text;
    hob_jsonw w;
    if (!v->nmodels) return 0;
    hob_buf_init(&text, 1 << 20);
    hob_jsonw_init(&w, &text);
    hob_jsonw_array(&w);
    for (size_t i = 0; i < v->nmodels; i++) put_model(&w, &v->models[i]);
    hob_jsonw_array_end(&w);
    int rc = hob_agui_run_usage(v->out, hob_buf_str(&text), err);
    hob_buf_finish(&text);
    return rc;
}

/* ---- the end ------------------------------------------------------------------------------------------------------------- */

static void replace(char **z, hob_str s) {
    hob_free(*z);
    *z = hob_dupz(s);
}

void hob_view_note_end(hob_agui_view *v, const hob_json *d) {
    const hob_json *error = hob_json_get(d, "error");
    hob_str message = hob_json_get_str(error, "message"), reason = hob_json_get_str(d, "reason");
    replace(&v->status, hob_json_get_str(d, "status"));
    replace(&v->code, hob_json_get_str(error, "code"));
    replace(&v->reason, message.n ? message : reason);
}

static int fail(hob_agui_view *v, const char *what, hob_str code, hob_error *err) {
    hob_buf text;
    hob_buf_init(&text, 1 << 20);
    hob_buf_addz(&text, what);
    if (v->reason && *v->reason) hob_buf_addf(&text, "%s%s", *what ? ": " : "", v->reason);
    int rc = hob_agui_run_error_with_code(v->out, hob_buf_str(&text), code, err);
    hob_buf_finish(&text);
    return rc;
}

static int end_as(hob_agui_view *v, hob_str status, hob_error *err) {
    hob_str code = hob_str_z(v->code);
    if (hob_str_eqz(status, "completed")) return hob_agui_run_finish(v->out, HOB_STR_NULL, err);
    if (hob_str_eqz(status, "cancelled")) return hob_agui_run_cancelled(v->out, err);
    if (hob_str_eqz(status, "limit"))
        return fail(v, "the run stopped at a limit", HOB_STR("limit"), err);
    if (hob_str_eqz(status, "interrupted"))
        return fail(v, "the run was interrupted and can be resumed", HOB_STR("interrupted"), err);
    return fail(v, "", code.n ? code : HOB_STR("failed"), err);
}

/* Nothing is left to do. A session that settles without a run (all was done before) is a run that found nothing to do. */
int hob_view_end(hob_agui_view *v, hob_error *err) {
    hob_str status = v->status ? hob_str_z(v->status) : HOB_STR("completed");
    int rc = hob_view_put_usage(v, err);
    if (rc == 0 && hob_str_eqz(status, "completed")) rc = hob_view_suspend_children(v, err);
    return rc < 0 ? rc : hob_view_said(end_as(v, status, err));
}

void hob_view_end_finish(hob_agui_view *v) {
    for (size_t i = 0; i < v->nmodels; i++) hob_free(v->models[i].name);
    hob_free(v->status);
    hob_free(v->code);
    hob_free(v->reason);
}
