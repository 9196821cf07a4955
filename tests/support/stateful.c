#include "support/stateful.h"

#include "support/check.h"

#include <stdio.h>

static void run(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *args;
    hob_error err;
    hob_str value = hob_str_z("absent");
    (void)user;
    assert_true(hob_json_parse(a, call->args, NULL, &args, NULL) >= 0);
    hob_str read = hob_json_get_str(args, "read");
    if (read.n) hob_state_get(call->state, read, &value);
    if (hob_reply_state(reply, hob_json_raw(hob_json_get(args, "delta")),
                        hob_json_raw(hob_json_get(args, "removed")), &err) < 0)
        value = hob_str_z(err.message);
    if (hob_json_get_bool(args, "skip", false)) hob_reply_skip_summarization(reply);
    if (hob_json_get_bool(args, "escalate", false)) hob_reply_escalate(reply);
    hob_reply_text(reply, HOB_OUTCOME_OK, value);
    hob_arena_destroy(a);
}

void stateful_tool(host *r, hob_tool *tool) {
    *tool = (hob_tool)HOB_TOOL_INIT;
    tool->name = "set";
    tool->description = "changes state";
    tool->schema = "{\"type\":\"object\",\"additionalProperties\":true}";
    tool->class_ = HOB_TOOL_READ_ONLY;
    tool->run = run;
    r->so.tools = tool;
    r->so.ntools = 1;
}

const char *stateful_event(host *r, const char *type, int n) {
    hob_page *p = NULL;
    hob_arena *a = hob_arena_create(0);
    const hob_json *e;
    r->log[0] = 0;
    assert_ok(hob_session_entries(r->s, 0, &p, &r->err), r->err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        assert_true(hob_json_parse(a, hob_page_row(p, i), NULL, &e, NULL) >= 0);
        if (!hob_str_eqz(hob_json_get_str(e, "type"), type) || n--) continue;
        snprintf(r->log, sizeof r->log, "%.*s", HOB_FMT(hob_json_raw(hob_json_get(e, "data"))));
        break;
    }
    hob_page_destroy(p);
    hob_arena_destroy(a);
    return r->log;
}
