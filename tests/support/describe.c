#include "support/describe.h"

void hob_test_describe(const hob_json *event, hob_buf *out) {
    static const char *const fields[] = {
        "origin", "item",  "call",   "tool",   "decision", "approved",      "outcome", "stop",
        "code",   "limit", "status", "reason", "mode",     "nobody_to_ask", "again",   NULL};
    const hob_json *d = hob_json_get(event, "data");
    hob_str agent = hob_json_get_str(event, "agent"), branch = hob_json_get_str(event, "branch");
    hob_buf_add(out, hob_json_get_str(event, "type"));
    if (agent.n)
        hob_buf_addf(out, " [%.*s%s%.*s]", HOB_FMT(agent), branch.n ? " " : "", HOB_FMT(branch));
    for (int i = 0; fields[i]; i++) {
        const hob_json *v = hob_json_get(d, fields[i]);
        hob_str s = hob_json_is(v, HOB_JSON_STRING) ? hob_json_str(v) : hob_json_raw(v);
        if (v) hob_buf_addf(out, " %.*s", HOB_FMT(s));
    }
    hob_str text = hob_json_get_str(hob_json_first(hob_json_get(d, "content")), "text");
    text = hob_str_first(text, hob_utf8_prefix(text, 60));
    if (text.n) hob_buf_addf(out, " \"%.*s\"", HOB_FMT(text));
}
