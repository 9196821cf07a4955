/*
 * agui.h - a sink that keeps what it is given, one event a line.
 */
#ifndef HOB_TESTS_AGUI_H
#define HOB_TESTS_AGUI_H

#include <hob/agui.h>

#include "base/base.h"

typedef struct test_wire {
    hob_buf lines; /* each event and a line break */
    size_t events;
    size_t room; /* events it still takes, when limited */
    bool limited, gone;
} test_wire;

/* A session of thread "t" whose events become lines of JSON (or bytes of another encoding). */
hob_agui_session *test_wire_open(test_wire *wire, hob_agui_encoding encoding);
void test_wire_close(test_wire *wire, hob_agui_session *s);
/* The lines since the last time are these; each may leave its last '\n' out. */
void test_wire_expect(test_wire *wire, const char *expected);
/* Nothing was sent since the last time. */
void test_wire_silent(test_wire *wire);
/* An input that must be right. */
hob_agui_input *test_input(const char *json);

#endif
