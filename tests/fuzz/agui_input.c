/*
 * RunAgentInput: whatever the bytes, reading ends; what was understood is valid JSON that reads back as the same, without
 * a warning about its own words.
 */
#include <hob/agui.h>

#include "base/json.h"

#include <stdlib.h>

static void look(const hob_agui_input *in) {
    hob_agui_message m;
    hob_agui_tool t;
    hob_agui_context c;
    hob_agui_resume r;
    for (size_t i = 0; hob_agui_input_message(in, i, &m) == 0; i++)
        if (!hob_utf8_valid(m.text) || !hob_json_valid(m.json)) abort();
    for (size_t i = 0; hob_agui_input_tool(in, i, &t) == 0; i++)
        if (t.parameters.n && !hob_json_valid(t.parameters)) abort();
    for (size_t i = 0; hob_agui_input_context(in, i, &c) == 0; i++)
        if (!hob_utf8_valid(c.value)) abort();
    for (size_t i = 0; hob_agui_input_resume(in, i, &r) == 0; i++)
        if (r.payload.n && !hob_json_valid(r.payload)) abort();
    for (size_t i = 0; i < hob_agui_input_warning_count(in); i++)
        if (!hob_utf8_valid(hob_agui_input_warning(in, i))) abort();
}

static int drop(hob_agui_kind kind, hob_str bytes, void *user) {
    (void)kind;
    (void)user;
    return hob_json_valid(bytes) && !memchr(bytes.p, '\n', bytes.n) ? 0 : (abort(), 0);
}

/* A session begun with it tells the conversation again. */
static void speak(const hob_agui_input *in) {
    hob_agui_sink sink = {sizeof sink, HOB_AGUI_AS_JSON, drop, NULL, NULL};
    hob_agui_session *s;
    hob_error err;
    if (hob_agui_session_create(&sink, &s, &err) < 0) abort();
    if (hob_agui_run_start(s, in, &err) == 0 &&
        hob_agui_messages_snapshot(s, hob_agui_input_messages(in), &err) < 0)
        abort();
    hob_agui_session_destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_agui_input *in;
    hob_error err;
    if (hob_agui_input_parse(hob_str_n((const char *)data, size), &in, &err) < 0) {
        if (!hob_utf8_valid(hob_str_z(err.message))) abort();
        return 0;
    }
    look(in);
    speak(in);
    hob_agui_input_destroy(in);
    return 0;
}
