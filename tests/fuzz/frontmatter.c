/*
 * Definitions of every kind, and the putting in of arguments. The input is the text of a file; its
 * last byte 0xff, if there is one, separates arguments.
 *
 * Beyond not crashing: a refused text says why and on which line, which exists; what was read is valid
 * UTF-8 within its ceilings, never wider than allowed, and reads the same again.
 */
#include <assert.h>

#include "agent/definition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t lines_of(hob_str s) {
    size_t n = 1;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '\n' || s.p[i] == '\r' || s.p[i] == '\xc2' || s.p[i] == '\xe2';
    return n;
}

static void check_list(hob_strs list) {
    assert(list.n <= HOB_DEFINITION_WORDS);
    for (size_t i = 0; i < list.n; i++) assert(list.at[i].n && hob_utf8_valid(list.at[i]));
}

static void check(const hob_definition *x, const hob_def_text *t) {
    const char *why;
    hob_mode mode = HOB_MODE_PLAN;
    assert(x->kind == t->kind && x->state == HOB_DEFINITION_LIVE);
    assert(hob_utf8_valid(x->name) && hob_utf8_valid(x->description) && hob_utf8_valid(x->text));
    if (x->kind == HOB_DEFINITION_AGENT) assert(hob_agent_name_valid(x->name, &why));
    if (x->kind == HOB_DEFINITION_SKILL) assert(hob_skill_name_valid(x->name, &why));
    if (x->kind == HOB_DEFINITION_SKILL) assert(x->description.n && !x->text.n);
    if (x->permission_mode.n) assert(hob_mode_from(x->permission_mode, &mode) == HOB_OK);
    assert(!hob_mode_wider(mode, t->widest));
    assert(x->max_turns >= 0);
    check_list(x->tools);
    check_list(x->disallowed_tools);
    check_list(x->skills);
    check_list(x->remarks);
    check_list(x->agents);
    assert(!x->workflow.n == !x->source.n);
    hob_definition_allows(x, HOB_STR("bash"));
}

/* What is kept of a workflow reads as what it was read from. */
static void check_source(hob_arena *a, const hob_definition *x) {
    hob_definition again;
    hob_def_flow flow;
    const hob_json *o;
    if (!x->source.n) return;
    assert(hob_json_parse(a, x->source, NULL, &o, NULL) == HOB_OK);
    assert(hob_definition_read_object(a, o, &again, &flow, NULL) == HOB_OK);
    assert(hob_str_eq(x->name, again.name) && x->agents.n == again.agents.n && flow.any);
    assert(flow.kind == HOB_AGENT_LLM || (flow.agents && again.agents.n));
}

static void read_as(const hob_def_text *t) {
    hob_arena *a = hob_arena_create(0);
    hob_definition x, again;
    hob_error err = {0};
    size_t line = 0;
    int code = hob_definition_read(a, t, &x, &line, &err);
    assert(code == HOB_OK || (err.message[0] && line <= lines_of(t->text) + 1));
    if (code == HOB_OK) {
        check(&x, t);
        check_source(a, &x);
        assert(hob_definition_read(a, t, &again, &line, NULL) == HOB_OK);
        assert(hob_str_eq(x.name, again.name) && hob_str_eq(x.text, again.text));
    }
    hob_arena_destroy(a);
}

static void expand(hob_str text, hob_str arguments) {
    hob_buf out;
    hob_buf_init(&out, 1 << 20);
    hob_template_expand(text, arguments, &out);
    if (hob_str_chr(text, '$') < 0 && !hob_str_trim(arguments).n && !out.err)
        assert(hob_str_eq(hob_buf_str(&out), text));
    hob_buf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str rest = hob_str_n(size ? (const char *)data : "", size), text = {0};
    hob_str_split(&rest, '\xff', &text);
    for (int kind = HOB_DEFINITION_AGENT; kind <= HOB_DEFINITION_COMMAND; kind++) {
        hob_def_text t = {.kind = (hob_definition_kind)kind,
                          .stem = HOB_STR("pdf"),
                          .text = text,
                          .widest = (hob_mode)(size % 4)};
        read_as(&t);
        t.yaml = true;
        if (kind == HOB_DEFINITION_AGENT) read_as(&t);
    }
    expand(text, rest);
    return 0;
}
