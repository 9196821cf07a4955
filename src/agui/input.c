/*
 * input.c - RunAgentInput: checked, written down as understood, and then looked at.
 */
#include "agui/input.h"

#include "agui/shape.h"

#define INPUT_MAX ((size_t)32 << 20)
/* Values are larger than their text, the more so the shorter they are: a server reads several inputs at once, and each may
 * be nothing but digits and commas. */
#define VALUES_MAX ((size_t)192 << 20)
enum { MESSAGES_MAX = 100000, RESUME_MAX = 4096 };

struct hob_agui_input {
    hob_arena *arena;
    hob_buf clean; /* what was understood; everything below borrows from it */
    const hob_json *root;
    hob_str *texts; /* of the messages */
    hob_agui_dialect dialect;
    hob_str warnings[HOB_SHAPE_WARNINGS];
    size_t nwarnings;
};

/* "MAJOR.MINOR". What cannot be read is served; a major that does not exist yet is not. */
static int check_version(hob_shape_check *c, hob_str version) {
    hob_str rest = version, part;
    int64_t major, minor;
    bool known = hob_str_split(&rest, '.', &part) && hob_str_int(part, &major) == 0 && rest.p &&
                 hob_str_int(rest, &minor) == 0;
    hob_str shown = hob_str_first(version, hob_utf8_prefix(version, 40));
    if (!known) {
        hob_shape_warn(c, "protocolVersion \"%.*s\" cannot be read; served as 1.0", HOB_FMT(shown));
    } else if (major > 1) {
        return hob_fail(c->err, HOB_EVERSION, 0, "protocolVersion %.*s is not spoken here; use 1.0",
                        HOB_FMT(shown));
    } else if (major != 1 || minor != 0) {
        hob_shape_warn(c, "protocolVersion %.*s is served as 1.0", HOB_FMT(shown));
    }
    return 0;
}

static int check(hob_agui_input *in, const hob_json *v, hob_error *err) {
    hob_shape_check c;
    hob_shape_init(&c, in->arena, &in->clean, err);
    const hob_json *version = hob_json_get(v, "protocolVersion");
    in->dialect = version && !hob_json_is(version, HOB_JSON_NULL) ? HOB_AGUI_1_0 : HOB_AGUI_OLDER;
    c.lenient = in->dialect == HOB_AGUI_OLDER;
    int rc = hob_json_is(v, HOB_JSON_OBJECT)
                 ? hob_shape_object(&c, hob_shape_input, v)
                 : hob_fail(err, HOB_EPARSE, 0, "the input must be a JSON object");
    if (rc == 0 && in->dialect == HOB_AGUI_1_0) rc = check_version(&c, hob_json_str(version));
    in->nwarnings = c.nwarnings;
    memcpy(in->warnings, c.warnings, sizeof in->warnings);
    hob_shape_finish(&c);
    return rc;
}

/* Each is there once: an answer is told by its interrupt, a message by its id. */
static int check_ids(const hob_agui_input *in, const char *list, const char *key, hob_error *err) {
    hob_map *seen = hob_map_create();
    size_t i = 0;
    int rc = 0;
    const hob_json *first = hob_json_first(hob_json_get(in->root, list));
    for (const hob_json *m = first; m && rc == 0; m = hob_json_next(m), i++) {
        hob_str id = hob_json_get_str(m, key);
        if (id.n > HOB_AGUI_ID_MAX)
            rc = hob_fail(err, HOB_ETOOBIG, 0, "%s[%zu].%s must have 1 to %d bytes", list, i, key,
                          HOB_AGUI_ID_MAX);
        else if (id.n && hob_map_put(seen, id, seen))
            rc = hob_fail(err, HOB_EPARSE, 0, "%s[%zu].%s \"%.*s\" is there twice", list, i, key,
                          HOB_FMT(hob_str_first(id, hob_utf8_prefix(id, 100))));
    }
    hob_map_destroy(seen);
    return rc;
}

static int check_sizes(const hob_agui_input *in, hob_error *err) {
    static const char *const ids[] = {"threadId", "runId", "parentRunId"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(ids); i++) {
        const hob_json *id = hob_json_get(in->root, ids[i]);
        size_t n = hob_json_str(id).n;
        if (id && (!n || n > HOB_AGUI_ID_MAX))
            return hob_fail(err, n ? HOB_ETOOBIG : HOB_EPARSE, 0, "%s must have 1 to %d bytes",
                            ids[i], HOB_AGUI_ID_MAX);
        if (hob_str_chr(hob_json_str(id), 0) >= 0)
            return hob_fail(err, HOB_EPARSE, 0, "%s must not have a NUL in it", ids[i]);
    }
    if (hob_agui_input_message_count(in) > MESSAGES_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "more than %d messages", MESSAGES_MAX);
    if (hob_agui_input_resume_count(in) > RESUME_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "more than %d answers to interrupts", RESUME_MAX);
    int rc = check_ids(in, "messages", "id", err);
    return rc < 0 ? rc : check_ids(in, "resume", "interruptId", err);
}

/* Text parts one after the other. */
static hob_str joined(hob_arena *a, const hob_json *content) {
    if (!hob_json_is(content, HOB_JSON_ARRAY)) return hob_json_str(content);
    size_t n = 0;
    for (const hob_json *p = hob_json_first(content); p; p = hob_json_next(p))
        n += hob_json_get_str(p, "text").n;
    char *text = n ? hob_arena_bytes(a, n) : NULL;
    if (!text) return HOB_STR_NULL;
    n = 0;
    for (const hob_json *p = hob_json_first(content); p; p = hob_json_next(p)) {
        hob_str t = hob_json_get_str(p, "text");
        if (t.n) memcpy(text + n, t.p, t.n);
        n += t.n;
    }
    return hob_str_n(text, n);
}

/* Made now, since an input does not change once it is there. */
static int read_texts(hob_agui_input *in, hob_error *err) {
    const hob_json *messages = hob_json_get(in->root, "messages");
    in->texts = hob_arena_alloc(in->arena, (hob_json_count(messages) + 1) * sizeof *in->texts);
    if (!in->texts) return hob_fail(err, HOB_ETOOBIG, 0, "the input is too large");
    size_t i = 0;
    for (const hob_json *m = hob_json_first(messages); m; m = hob_json_next(m))
        in->texts[i++] = joined(in->arena, hob_json_get(m, "content"));
    return 0;
}

static int parse(hob_agui_input *in, hob_str body, hob_error *err) {
    hob_json_opts o = {.max_depth = 128, .max_bytes = INPUT_MAX};
    const hob_json *v;
    hob_error why;
    int rc = hob_json_parse(in->arena, body, &o, &v, &why);
    if (rc < 0) return hob_fail(err, rc, 0, "the body is no JSON: %.400s", why.message);
    rc = check(in, v, err);
    if (rc < 0) return rc;
    rc = hob_json_parse(in->arena, hob_buf_str(&in->clean), NULL, &in->root, err);
    if (rc == 0) rc = check_sizes(in, err);
    return rc < 0 ? rc : read_texts(in, err);
}

int hob_agui_input_parse(hob_str body, hob_agui_input **out, hob_error *err) {
    hob_agui_input *in = HOB_NEW(hob_agui_input);
    in->arena = hob_arena_create(VALUES_MAX);
    hob_buf_init(&in->clean, INPUT_MAX * 2); /* characters may get longer when written anew */
    int rc = parse(in, body, err);
    if (rc < 0)
        hob_agui_input_destroy(in);
    else
        *out = in;
    return rc;
}

void hob_agui_input_destroy(hob_agui_input *in) {
    if (!in) return;
    hob_buf_finish(&in->clean);
    hob_arena_destroy(in->arena);
    hob_free(in);
}

const hob_json *hob_agui_input_json(const hob_agui_input *in) {
    return in->root;
}

hob_str hob_agui_input_thread_id(const hob_agui_input *in) {
    return hob_json_get_str(in->root, "threadId");
}

hob_str hob_agui_input_run_id(const hob_agui_input *in) {
    return hob_json_get_str(in->root, "runId");
}

hob_str hob_agui_input_parent_run_id(const hob_agui_input *in) {
    return hob_json_get_str(in->root, "parentRunId");
}

hob_agui_dialect hob_agui_input_dialect(const hob_agui_input *in) {
    return in->dialect;
}

static hob_str raw_or(const hob_json *object, const char *key, hob_str otherwise) {
    const hob_json *v = hob_json_get(object, key);
    return v ? hob_json_raw(v) : otherwise;
}

hob_str hob_agui_input_state(const hob_agui_input *in) {
    return raw_or(in->root, "state", HOB_STR("{}"));
}

hob_str hob_agui_input_forwarded_props(const hob_agui_input *in) {
    return raw_or(in->root, "forwardedProps", HOB_STR("{}"));
}

hob_str hob_agui_input_messages(const hob_agui_input *in) {
    return raw_or(in->root, "messages", HOB_STR("[]"));
}

/* ---- lists ---------------------------------------------------------------------------------------------- */

static size_t count(const hob_agui_input *in, const char *list) {
    return hob_json_count(hob_json_get(in->root, list));
}

static const hob_json *at(const hob_agui_input *in, const char *list, size_t i) {
    return hob_json_at(hob_json_get(in->root, list), i);
}

size_t hob_agui_input_message_count(const hob_agui_input *in) {
    return count(in, "messages");
}

int hob_agui_input_message(const hob_agui_input *in, size_t i, hob_agui_message *out) {
    const hob_json *m = at(in, "messages", i);
    if (!m) return HOB_ENOENT;
    *out = (hob_agui_message){
        .size = sizeof *out,
        .id = hob_json_get_str(m, "id"),
        .role = hob_json_get_str(m, "role"),
        .name = hob_json_get_str(m, "name"),
        .text = in->texts[i],
        .content = raw_or(m, "content", HOB_STR("")),
        .tool_calls = raw_or(m, "toolCalls", HOB_STR("")),
        .tool_call = hob_json_get_str(m, "toolCallId"),
        .error = hob_json_get_str(m, "error"),
        .encrypted = hob_json_get_str(m, "encryptedValue"),
        .json = hob_json_raw(m),
    };
    return 0;
}

size_t hob_agui_input_tool_count(const hob_agui_input *in) {
    return count(in, "tools");
}

int hob_agui_input_tool(const hob_agui_input *in, size_t i, hob_agui_tool *out) {
    const hob_json *t = at(in, "tools", i);
    if (!t) return HOB_ENOENT;
    *out = (hob_agui_tool){
        .size = sizeof *out,
        .name = hob_json_get_str(t, "name"),
        .description = hob_json_get_str(t, "description"),
        .parameters = raw_or(t, "parameters", HOB_STR("")),
    };
    return 0;
}

size_t hob_agui_input_context_count(const hob_agui_input *in) {
    return count(in, "context");
}

int hob_agui_input_context(const hob_agui_input *in, size_t i, hob_agui_context *out) {
    const hob_json *c = at(in, "context", i);
    if (!c) return HOB_ENOENT;
    *out = (hob_agui_context){
        .size = sizeof *out,
        .description = hob_json_get_str(c, "description"),
        .value = hob_json_get_str(c, "value"),
    };
    return 0;
}

size_t hob_agui_input_resume_count(const hob_agui_input *in) {
    return count(in, "resume");
}

int hob_agui_input_resume(const hob_agui_input *in, size_t i, hob_agui_resume *out) {
    const hob_json *r = at(in, "resume", i);
    if (!r) return HOB_ENOENT;
    *out = (hob_agui_resume){
        .size = sizeof *out,
        .interrupt = hob_json_get_str(r, "interruptId"),
        .cancelled = hob_str_eqz(hob_json_get_str(r, "status"), "cancelled"),
        .payload = raw_or(r, "payload", HOB_STR("")),
    };
    return 0;
}

size_t hob_agui_input_warning_count(const hob_agui_input *in) {
    return in->nwarnings;
}

hob_str hob_agui_input_warning(const hob_agui_input *in, size_t i) {
    return i < in->nwarnings ? in->warnings[i] : HOB_STR_NULL;
}
