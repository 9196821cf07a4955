/*
 * describe.h - an event in one short line, for golden logs: its type and the fields that matter for its kind.
 */
#ifndef HOB_TESTS_DESCRIBE_H
#define HOB_TESTS_DESCRIBE_H

#include "base/json.h"

/* "tool_finished m4.0 bash ok "first 60 bytes of text"", without a newline; that of a workflow's agent has "[agent
 * branch]" behind its type. */
void hob_test_describe(const hob_json *event, hob_buf *out);

#endif
