/*
 * trace.c - spans begin and end.
 *
 * What is open is a list, newest last: the parent of a span is the newest open agent on its branch, or the run. One run
 * of a session is open at a time, and few calls of it, so looking through the list costs little; a ceiling keeps a log
 * that never ends its spans from growing it.
 */
#include "log/trace.h"

#include <stdio.h>
#include <string.h>

enum { OPEN_MAX = 1024 };

struct hob_trace {
    hob_list open;
    size_t count;
};

hob_trace *hob_trace_create(void) {
    hob_trace *t = HOB_NEW(hob_trace);
    hob_list_init(&t->open);
    return t;
}

static void free_span(hob_span *s) {
    hob_list_remove(&s->link);
    hob_free(s->key);
    hob_free(s->name);
    hob_free(s->run);
    hob_free(s->agent);
    hob_free(s->branch);
    hob_free(s->status);
    hob_buf_finish(&s->attrs);
    hob_free(s);
}

void hob_trace_destroy(hob_trace *t) {
    if (!t) return;
    while (!hob_list_empty(&t->open)) free_span(HOB_LIST_FIRST(&t->open, hob_span, link));
    hob_free(t);
}

bool hob_trace_idle(const hob_trace *t) {
    return hob_list_empty(&t->open);
}

void hob_trace_open(const hob_trace *t, hob_span_fn fn, void *user) {
    HOB_LIST_EACH (it, &t->open) fn(HOB_CONTAINER(it, hob_span, link), user);
}

/* ---- attributes ---------------------------------------------------------------------------------------------- */

static void attr_key(hob_span *s, const char *key) {
    hob_buf_addf(&s->attrs, "%s\"%s\":", s->attrs.n ? "," : "", key);
}

static void attr(hob_span *s, const char *key, hob_str value) {
    hob_jsonw w;
    if (!value.n) return;
    attr_key(s, key);
    hob_jsonw_init(&w, &s->attrs);
    hob_jsonw_str(&w, value);
}

static void attr_int(hob_span *s, const char *key, int64_t value) {
    attr_key(s, key);
    hob_buf_addf(&s->attrs, "%lld", (long long)value);
}

/* Providers that OpenTelemetry has names for; the others keep theirs. */
static hob_str provider_of(hob_str model) {
    ptrdiff_t slash = hob_str_chr(model, '/'), colon = hob_str_chr(model, ':');
    if (colon >= 0 && (slash < 0 || colon < slash)) return hob_str_first(model, (size_t)colon);
    hob_str name = slash < 0 ? HOB_STR_NULL : hob_str_first(model, (size_t)slash);
    return hob_str_eqz(name, "gemini") ? HOB_STR("gcp.gemini") : name;
}

static hob_str model_name(hob_str model) {
    ptrdiff_t slash = hob_str_chr(model, '/');
    bool path = hob_str_chr(model, ':') >= 0 && hob_str_chr(model, ':') < slash; /* scripted:FILE */
    return slash < 0 || path ? model : hob_str_skip(model, (size_t)slash + 1);
}

static void attr_usage(hob_span *s, const hob_json *d) {
    const hob_json *u = hob_json_get(d, "usage");
    const hob_json *cost = hob_json_get(d, "cost_usd");
    if (!u) return;
    int64_t fresh = hob_json_get_int(u, "input_tokens", 0);
    int64_t read = hob_json_get_int(u, "cache_read_tokens", 0);
    int64_t written = hob_json_get_int(u, "cache_write_tokens", 0);
    attr_int(s, "gen_ai.usage.input_tokens", fresh + read + written);
    attr_int(s, "gen_ai.usage.output_tokens", hob_json_get_int(u, "output_tokens", 0));
    if (read) attr_int(s, "gen_ai.usage.cache_read.input_tokens", read);
    if (written) attr_int(s, "gen_ai.usage.cache_creation.input_tokens", written);
    if (!hob_json_is(cost, HOB_JSON_NUMBER)) return;
    attr_key(s, "hob.cost_usd");
    hob_buf_add(&s->attrs, hob_json_raw(cost));
}

/* ---- beginning ------------------------------------------------------------------------------------------------ */

typedef struct begin {
    hob_span_kind kind;
    hob_str key, name;
    const hob_span *parent; /* NULL: whoever is at work there */
} begin;

static hob_span *find(const hob_trace *t, hob_span_kind kind, hob_str key) {
    HOB_LIST_EACH_REVERSE(it, &t->open) {
        hob_span *s = HOB_CONTAINER(it, hob_span, link);
        if (s->kind == kind && hob_str_eqz(key, s->key)) return s;
    }
    return NULL;
}

static bool same_run(const hob_span *s, const hob_event *e) {
    return hob_str_eqz(e->run_id, s->run);
}

/* A branch is "a.b": what happens on it happens within whoever works on it or on the beginning of it. */
static bool covers(const hob_span *s, hob_str branch) {
    size_t n = strlen(s->branch);
    return !n || (hob_str_starts(branch, hob_str_z(s->branch)) &&
                  (branch.n == n || branch.p[n] == '.' || branch.p[n] == '/'));
}

static const hob_span *at_work(const hob_trace *t, const hob_event *e) {
    HOB_LIST_EACH_REVERSE(it, &t->open) {
        const hob_span *s = HOB_CONTAINER(it, hob_span, link);
        if (!same_run(s, e)) continue;
        if (s->kind == HOB_SPAN_RUN || (s->kind == HOB_SPAN_AGENT && covers(s, e->branch)))
            return s;
    }
    return NULL;
}

static hob_span *start(hob_trace *t, const hob_event *e, const begin *b) {
    const hob_span *parent = b->parent ? b->parent : at_work(t, e);
    if (t->count >= OPEN_MAX) return NULL;
    if (!parent && b->kind != HOB_SPAN_RUN) return NULL; /* its beginning was not seen */
    hob_span *s = HOB_NEW(hob_span);
    hob_buf_init(&s->attrs, 64 * 1024);
    s->kind = b->kind;
    s->key = hob_dupz(b->key);
    s->name = hob_dupz(b->name);
    s->run = hob_dupz(e->run_id);
    s->agent = hob_dupz(e->agent);
    s->branch = hob_dupz(e->branch);
    s->seq = e->seq;
    s->start = e->ts;
    hob_span_name(s->id, e->session_id, e->seq);
    if (parent) {
        memcpy(s->trace, parent->trace, sizeof s->trace);
        memcpy(s->parent, parent->id, sizeof s->parent);
    }
    attr(s, "gen_ai.conversation.id", e->session_id);
    hob_list_push(&t->open, &s->link);
    t->count++;
    return s;
}

/* "chat claude-x", "execute_tool bash" */
static hob_span *start_named(hob_trace *t, const hob_event *e, begin b, const char *operation,
                             hob_str what) {
    hob_buf name;
    hob_buf_init(&name, 4096);
    hob_buf_addz(&name, operation);
    if (what.n) hob_buf_addc(&name, ' ');
    hob_buf_add(&name, what);
    b.name = hob_buf_str(&name);
    hob_span *s = start(t, e, &b);
    if (s) attr(s, "gen_ai.operation.name", hob_str_z(operation));
    hob_buf_finish(&name);
    return s;
}

static void run_started(hob_trace *t, const hob_event *e, const hob_json *d) {
    hob_span *s = start_named(t, e, (begin){HOB_SPAN_RUN, e->run_id, HOB_STR_NULL, NULL},
                              "invoke_agent", e->agent);
    hob_str model = hob_json_get_str(d, "model");
    if (!s) return;
    if (!hob_traceparent_read(hob_json_get_str(d, "traceparent"), s->trace, s->parent))
        hob_trace_name(s->trace, e->session_id, e->run_id);
    attr(s, "gen_ai.agent.name", e->agent.n ? e->agent : HOB_STR("hob"));
    attr(s, "gen_ai.provider.name", provider_of(model));
    attr(s, "gen_ai.request.model", model_name(model));
    attr(s, "hob.run.id", e->run_id);
    attr(s, "hob.run.origin", hob_json_get_str(d, "origin"));
    attr(s, "hob.run.continues", hob_json_get_str(d, "continues"));
}

static void model_started(hob_trace *t, const hob_event *e, const hob_json *d) {
    hob_str model = hob_json_get_str(d, "model"), key = hob_json_get_str(d, "message");
    hob_span *s = start_named(t, e, (begin){HOB_SPAN_MODEL, key, HOB_STR_NULL, NULL}, "chat",
                              model_name(model));
    if (!s) return;
    attr(s, "gen_ai.provider.name", provider_of(model));
    attr(s, "gen_ai.request.model", model_name(model));
    attr_int(s, "gen_ai.request.max_tokens", hob_json_get_int(d, "output_limit", 0));
    attr_int(s, "hob.attempt", hob_json_get_int(d, "attempt", 1));
}

static void tool_started(hob_trace *t, const hob_event *e, const hob_json *d) {
    hob_str tool = hob_json_get_str(d, "tool"), call = hob_json_get_str(d, "call");
    hob_span *s =
        start_named(t, e, (begin){HOB_SPAN_TOOL, call, HOB_STR_NULL, NULL}, "execute_tool", tool);
    if (!s) return;
    attr(s, "gen_ai.tool.name", tool);
    attr(s, "gen_ai.tool.call.id", call);
    attr(s, "gen_ai.tool.type", HOB_STR("function"));
    attr(s, "hob.tool.class", hob_json_get_str(d, "class"));
}

static void approval_requested(hob_trace *t, const hob_event *e, const hob_json *d) {
    hob_str call = hob_json_get_str(d, "call");
    hob_span *s = start(t, e, &(begin){HOB_SPAN_WAIT, call, HOB_STR("approval"), NULL});
    if (s) attr(s, "gen_ai.tool.name", hob_json_get_str(d, "tool"));
    if (s) attr(s, "gen_ai.tool.call.id", call);
}

static void agent_started(hob_trace *t, const hob_event *e, const hob_json *d) {
    hob_str agent = hob_json_get_str(d, "agent");
    hob_span *s = start_named(t, e, (begin){HOB_SPAN_AGENT, agent, HOB_STR_NULL, NULL},
                              "invoke_agent", agent);
    if (!s) return;
    attr(s, "gen_ai.agent.name", agent);
    attr(s, "hob.agent.kind", hob_json_get_str(d, "kind"));
}

static void child_started(hob_trace *t, const hob_event *e, const hob_json *d) {
    hob_str agent = hob_json_get_str(d, "agent"), child = hob_json_get_str(d, "child");
    const hob_span *call = find(t, HOB_SPAN_TOOL, hob_json_get_str(d, "call"));
    hob_span *s = start_named(t, e, (begin){HOB_SPAN_CHILD, child, HOB_STR_NULL, call},
                              "invoke_agent", agent);
    if (!s) return;
    attr(s, "gen_ai.agent.name", agent);
    attr(s, "hob.child", child);
}

/* ---- ending --------------------------------------------------------------------------------------------------- */

typedef struct ending {
    hob_trace *t;
    const hob_event *e;
    hob_span_fn fn;
    void *user;
} ending;

static void end(const ending *x, hob_span *s, hob_str status, bool failed) {
    if (!s) return;
    s->end = HOB_MAX(x->e->ts, s->start);
    s->status = hob_dupz(status);
    s->failed = failed;
    if (failed) attr(s, "error.type", status);
    if (x->fn) x->fn(s, x->user);
    x->t->count--;
    free_span(s);
}

static void model_ended(const ending *x, const hob_json *d) {
    hob_span *s = find(x->t, HOB_SPAN_MODEL, hob_json_get_str(d, "message"));
    hob_str stop = hob_json_get_str(d, "stop"), code = hob_json_get_str(d, "code");
    if (!s) return;
    attr_usage(s, d);
    attr(s, "gen_ai.response.id", hob_json_get_str(d, "response_id"));
    if (x->e->type == HOB_EVENT_ASSISTANT_MESSAGE) {
        attr_key(s, "gen_ai.response.finish_reasons");
        hob_buf_addf(&s->attrs, "[\"%.*s\"]", HOB_FMT(stop));
        end(x, s, stop, false);
        return;
    }
    end(x, s, code.n ? code : HOB_STR("discarded"), true);
}

static void tool_ended(const ending *x, const hob_json *d) {
    hob_str outcome = hob_json_get_str(d, "outcome");
    hob_span *s = find(x->t, HOB_SPAN_TOOL, hob_json_get_str(d, "call"));
    if (!s) return;
    attr(s, "hob.tool.outcome", outcome);
    if (hob_json_get(d, "exit_code"))
        attr_int(s, "process.exit.code", hob_json_get_int(d, "exit_code", 0));
    end(x, s, outcome, !hob_str_eqz(outcome, "ok"));
}

static bool is_failure(hob_str status) {
    return hob_str_eqz(status, "failed") || hob_str_eqz(status, "interrupted") ||
           hob_str_eqz(status, "limit");
}

/* All that is left of the run ends with it, what began last first. A sub-agent in the background goes on. */
static void run_ended(const ending *x, const hob_json *d) {
    hob_str status = hob_json_get_str(d, "status");
    hob_span *run = find(x->t, HOB_SPAN_RUN, x->e->run_id);
    if (!run) return;
    HOB_LIST_EACH_REVERSE_SAFE(it, &x->t->open) {
        hob_span *s = HOB_CONTAINER(it, hob_span, link);
        bool inside = s != run && s->kind != HOB_SPAN_CHILD && same_run(s, x->e);
        if (inside) end(x, s, status, is_failure(status));
    }
    attr_usage(run, d);
    attr(run, "hob.run.status", status);
    attr(run, "hob.run.reason", hob_json_get_str(d, "reason"));
    end(x, run, status, is_failure(status));
}

static void agent_ended(const ending *x, const hob_json *d) {
    hob_str status = hob_json_get_str(d, "status"), agent = hob_json_get_str(d, "agent");
    HOB_LIST_EACH_REVERSE_SAFE(it, &x->t->open) {
        hob_span *s = HOB_CONTAINER(it, hob_span, link);
        bool it_is = s->kind == HOB_SPAN_AGENT && hob_str_eqz(agent, s->key) && same_run(s, x->e) &&
                     hob_str_eqz(x->e->branch, s->branch);
        if (!it_is) continue;
        end(x, s, status, is_failure(status));
        return;
    }
}

static void child_ended(const ending *x, const hob_json *d) {
    hob_str status = hob_json_get_str(d, "status");
    hob_span *s = find(x->t, HOB_SPAN_CHILD, hob_json_get_str(d, "child"));
    if (!s) return;
    attr_usage(s, d);
    end(x, s, status, is_failure(status));
}

static void approval_resolved(const ending *x, const hob_json *d) {
    hob_span *s = find(x->t, HOB_SPAN_WAIT, hob_json_get_str(d, "call"));
    bool yes = hob_json_get_bool(d, "approved", false);
    if (s) attr(s, "hob.approval.by", hob_json_get_str(d, "by"));
    end(x, s, yes ? HOB_STR("approved") : HOB_STR("denied"), false);
}

void hob_trace_apply(hob_trace *t, const hob_event *e, const hob_json *d, hob_span_fn ended,
                     void *user) {
    ending x = {t, e, ended, user};
    switch ((int)e->type) {
    case HOB_EVENT_RUN_STARTED: run_started(t, e, d); break;
    case HOB_EVENT_MODEL_CALL_STARTED: model_started(t, e, d); break;
    case HOB_EVENT_TOOL_STARTED: tool_started(t, e, d); break;
    case HOB_EVENT_APPROVAL_REQUESTED: approval_requested(t, e, d); break;
    case HOB_EVENT_AGENT_STARTED: agent_started(t, e, d); break;
    case HOB_EVENT_CHILD_STARTED: child_started(t, e, d); break;
    case HOB_EVENT_ASSISTANT_MESSAGE:
    case HOB_EVENT_MODEL_CALL_FAILED:
    case HOB_EVENT_TURN_DISCARDED: model_ended(&x, d); break;
    case HOB_EVENT_TOOL_FINISHED: tool_ended(&x, d); break;
    case HOB_EVENT_APPROVAL_RESOLVED: approval_resolved(&x, d); break;
    case HOB_EVENT_AGENT_FINISHED: agent_ended(&x, d); break;
    case HOB_EVENT_CHILD_FINISHED: child_ended(&x, d); break;
    case HOB_EVENT_RUN_FINISHED: run_ended(&x, d); break;
    default: break;
    }
}
