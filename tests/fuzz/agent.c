/*
 * What is text in an agent: conditions and instructions. The input is a condition, a line end, and an instruction.
 *
 * Beyond not crashing: what is refused says why and holds never; == and != are opposites; an instruction without
 * braces stays as it is, and without state it does not grow.
 */
#include <assert.h>

#include "agent/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(hob_state *s) {
    static const struct {
        const char *key, *value;
    } kept[] = {{"a", "1"}, {"app:b", "\"t\""}, {"c", "{\"x\":[1,null]}"}, {"temp:d", "false"}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(kept); i++)
        hob_state_assign(s, hob_str_z(kept[i].key), hob_str_z(kept[i].value));
}

/* The same condition with the other operator. */
static bool opposite(hob_str text, const hob_state *s) {
    ptrdiff_t eq = hob_str_find(text, HOB_STR("==")), ne = hob_str_find(text, HOB_STR("!="));
    ptrdiff_t at = eq >= 0 && (ne < 0 || eq < ne) ? eq : ne;
    hob_buf b;
    hob_buf_init(&b, 1u << 20);
    if (at < 0) {
        text = hob_str_trim(text);
        bool negated = text.n && text.p[0] == '!';
        hob_buf_addz(&b, negated ? "" : "!");
        hob_buf_add(&b, negated ? hob_str_skip(text, 1) : text);
    } else {
        hob_buf_add(&b, text);
        b.p[at] = at == eq ? '!' : '=';
    }
    assert(b.err || hob_condition_check(hob_buf_str(&b), NULL) == HOB_OK);
    bool holds = hob_condition_holds(hob_buf_str(&b), s);
    hob_buf_finish(&b);
    return holds;
}

static void check_condition(hob_str text, const hob_state *s) {
    hob_error err = {0};
    int rc = hob_condition_check(text, &err);
    bool holds = hob_condition_holds(text, s);
    assert(rc == HOB_OK || (rc == HOB_EINVAL && err.message[0] && !holds));
    if (rc == HOB_OK) assert(holds != opposite(text, s));
}

static void check_instruction(hob_str text, const hob_state *full) {
    const hob_state empty = {.count = 0};
    hob_error err = {0};
    hob_buf out;
    hob_buf_init(&out, 1u << 20);
    int rc = hob_instruction_expand(text, &empty, &out, &err);
    assert(rc == HOB_OK || rc == HOB_ENOENT);
    assert(rc < 0 || out.n <= text.n);
    if (hob_str_chr(text, '{') < 0) assert(hob_str_eq(hob_buf_str(&out), text));
    hob_buf_reset(&out);
    rc = hob_instruction_expand(text, full, &out, &err);
    assert(rc == HOB_OK || rc == HOB_ENOENT || rc == HOB_ETOOBIG);
    hob_buf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str rest = hob_str_n(size ? (const char *)data : "", size), text = {0};
    hob_state state = {.count = 0};
    fill(&state);
    hob_str_split(&rest, '\n', &text);
    check_condition(text, &state);
    check_instruction(rest, &state);
    hob_state_finish(&state);
    return 0;
}
