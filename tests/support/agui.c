#include "support/agui.h"

#include "support/check.h"

static int keep(hob_agui_kind kind, hob_str bytes, void *user) {
    test_wire *w = user;
    (void)kind;
    if (w->gone) return HOB_ECLOSED;
    if (w->limited && !w->room) return HOB_EAGAIN;
    if (w->limited) w->room--;
    w->events++;
    hob_buf_add(&w->lines, bytes);
    hob_buf_addc(&w->lines, '\n');
    return 0;
}

hob_agui_session *test_wire_open(test_wire *wire, hob_agui_encoding encoding) {
    hob_agui_sink sink = {sizeof sink, encoding, keep, NULL, wire};
    hob_agui_session *s;
    hob_error err;
    *wire = (test_wire){0};
    hob_buf_init(&wire->lines, (size_t)64 << 20);
    assert_ok(hob_agui_session_create_with_thread_id(&sink, hob_str_z("t"), &s, &err), err);
    return s;
}

void test_wire_close(test_wire *wire, hob_agui_session *s) {
    hob_agui_session_destroy(s);
    hob_buf_finish(&wire->lines);
}

void test_wire_expect(test_wire *wire, const char *expected) {
    assert_string_equal(hob_buf_z(&wire->lines), expected);
    hob_buf_reset(&wire->lines);
}

void test_wire_silent(test_wire *wire) {
    test_wire_expect(wire, "");
}

hob_agui_input *test_input(const char *json) {
    hob_agui_input *in;
    hob_error err;
    assert_ok(hob_agui_input_parse(hob_str_z(json), &in, &err), err);
    return in;
}
