/*
 * Events of a session, one a line, whatever they say: what leaves is one line of valid JSON an event, and a run that has
 * begun can always be ended.
 */
#include <hob/agui_project.h>

#include "base/json.h"
#include "log/event.h"

#include <stdlib.h>

static int check(hob_agui_kind kind, hob_str bytes, void *user) {
    (void)kind;
    (void)user;
    if (!hob_json_valid(bytes) || memchr(bytes.p, '\n', bytes.n)) abort();
    return 0;
}

static void feed(hob_agui_view *v, hob_str lines) {
    hob_str line;
    hob_error err;
    while (hob_str_split(&lines, '\n', &line)) {
        hob_event *e;
        if (hob_event_decode(line, &e, &err) < 0) continue;
        int rc = hob_agui_view_event(v, e, &err);
        hob_event_unref(e);
        if (rc != 0) return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_agui_sink sink = {sizeof sink, HOB_AGUI_AS_JSON, check, NULL, NULL};
    hob_agui_session *s;
    hob_agui_view *v;
    hob_error err;
    if (size > 1 << 16) return 0;
    if (hob_agui_session_create(&sink, &s, &err) < 0 ||
        hob_agui_run_start_ids(s, hob_str_z("r"), hob_str_z(""), &err) < 0 ||
        hob_agui_view_create(s, &v, &err) < 0)
        abort();
    feed(v, hob_str_n((const char *)data, size));
    if (hob_agui_view_waiting(v) && hob_agui_is_running(s)) hob_agui_view_park(v, &err);
    if (hob_agui_is_running(s) && hob_agui_run_error(s, hob_str_z("over"), &err) < 0) abort();
    hob_agui_view_destroy(v);
    hob_agui_session_destroy(s);
    return 0;
}
