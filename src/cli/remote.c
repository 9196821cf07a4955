/*
 * remote.c - commands on standard input, one JSON object a line (--input-format stream-json).
 *
 *     {"type":"prompt","text":…}  or "content":[…]      {"type":"steer","text":…}
 *     {"type":"follow_up","text":…}                     {"type":"cancel"}  {"type":"abort"}
 *     {"type":"approve","call":…,"approved":true,"reason":…}      to a question: "answer":…
 *     {"type":"pause"}  {"type":"resume"}
 *
 * What a command did is seen in the events. One that cannot be done is answered with
 * {"type":"error",…}, which names the command and carries its "id", if it had one; the process
 * lives on.
 */
#include "cli/ask.h"

typedef struct remote {
    hob_session *s;
    const hob_json *in;
} remote;

static int want_text(const remote *r, hob_str *out, hob_error *err) {
    const hob_json *v = hob_json_get(r->in, "text");
    if (!hob_json_is(v, HOB_JSON_STRING) || !hob_json_str(v).n)
        return hob_fail(err, HOB_EINVAL, 0, "\"text\" is missing: a string that is not empty");
    *out = hob_json_str(v);
    return HOB_OK;
}

static int do_prompt(const remote *r, hob_error *err) {
    hob_str text;
    const hob_json *content = hob_json_get(r->in, "content");
    if (content) return hob_session_prompt_content(r->s, hob_json_raw(content), err);
    int code = want_text(r, &text, err);
    return code < 0 ? code : hob_session_prompt(r->s, text, err);
}

static int do_steer(const remote *r, hob_error *err) {
    hob_str text;
    int code = want_text(r, &text, err);
    return code < 0 ? code : hob_session_steer(r->s, text, err);
}

static int do_follow_up(const remote *r, hob_error *err) {
    hob_str text;
    int code = want_text(r, &text, err);
    return code < 0 ? code : hob_session_follow_up(r->s, text, err);
}

static int do_cancel(const remote *r, hob_error *err) {
    return hob_session_cancel(r->s, HOB_QUEUED_RETURN, err);
}

static int do_abort(const remote *r, hob_error *err) {
    return hob_session_abort(r->s, err);
}

static int do_approve(const remote *r, hob_error *err) {
    hob_str call = hob_json_get_str(r->in, "call");
    const hob_json *approved = hob_json_get(r->in, "approved");
    const hob_json *answer = hob_json_get(r->in, "answer");
    if (!call.n) return hob_fail(err, HOB_EINVAL, 0, "\"call\" is missing: the id of the call");
    if (!hob_json_is(approved, HOB_JSON_BOOL))
        return hob_fail(err, HOB_EINVAL, 0, "\"approved\" is missing: true or false");
    if (answer && !hob_json_bool(approved))
        return hob_fail(err, HOB_EINVAL, 0, "an answer goes with \"approved\": true");
    if (answer) return hob_session_answer(r->s, call, hob_json_raw(answer), err);
    return hob_session_confirm_tool_use(
        r->s, call, hob_json_bool(approved) ? HOB_VERDICT_ALLOW : HOB_VERDICT_DENY,
        hob_json_get_str(r->in, "reason"), err);
}

static int do_pause(const remote *r, hob_error *err) {
    return hob_session_pause(r->s, err);
}

static int do_resume(const remote *r, hob_error *err) {
    return hob_session_resume(r->s, err);
}

static const struct {
    const char *name;
    int (*run)(const remote *r, hob_error *err);
} commands[] = {
    {"prompt", do_prompt}, {"steer", do_steer},   {"follow_up", do_follow_up},
    {"cancel", do_cancel}, {"abort", do_abort},   {"approve", do_approve},
    {"pause", do_pause},   {"resume", do_resume},
};

static int dispatch(const remote *r, hob_error *err) {
    const char *names[HOB_ARRAY_LEN(commands)];
    hob_str type = hob_json_get_str(r->in, "type");
    for (size_t i = 0; i < HOB_ARRAY_LEN(commands); i++) {
        if (hob_str_eqz(type, commands[i].name)) return commands[i].run(r, err);
        names[i] = commands[i].name;
    }
    const char *near = hob_str_nearest(type, names, HOB_ARRAY_LEN(names));
    if (near)
        return hob_fail(err, HOB_EINVAL, 0, "unknown command '%.*s'; did you mean '%s'?",
                        HOB_FMT(type), near);
    return hob_fail(
        err, HOB_EINVAL, 0,
        "unknown command '%.*s': prompt, steer, follow_up, cancel, abort, approve, pause "
        "or resume",
        HOB_FMT(hob_str_first(type, 100)));
}

hob_remote_did hob_remote_line(hob_session *s, hob_str line, hob_printer *p) {
    hob_error err = {.code = HOB_OK};
    remote r = {.s = s};
    if (!hob_str_trim(line).n) return HOB_REMOTE_NOTHING;
    hob_arena *a = hob_arena_create(0);
    int code = hob_json_parse(a, line, NULL, &r.in, &err);
    if (code >= 0 && !hob_json_is(r.in, HOB_JSON_OBJECT))
        code = hob_fail(&err, HOB_EPARSE, 0, "a command is a JSON object on one line");
    if (code >= 0) code = dispatch(&r, &err);
    hob_str type = hob_json_get_str(r.in, "type");
    bool prompted = code >= 0 && hob_str_eqz(type, "prompt");
    if (code < 0) hob_printer_error(p, type, hob_json_raw(hob_json_get(r.in, "id")), &err);
    hob_arena_destroy(a);
    return prompted ? HOB_REMOTE_PROMPTED : HOB_REMOTE_NOTHING;
}
