/*
 * jsonrpc.c - JSON-RPC 2.0, one message a line.
 */
#include "net/jsonrpc.h"

#define DEFAULT_MAX ((size_t)32 << 20)

/* ---- lines --------------------------------------------------------------------------------- */

void hob_rpc_lines_init(hob_rpc_lines *l, size_t max) {
    *l = (hob_rpc_lines){.max = max ? max : DEFAULT_MAX};
    hob_buf_init(&l->buf, l->max + 1 + HOB_RPC_PIECE);
}

void hob_rpc_lines_finish(hob_rpc_lines *l) {
    hob_buf_finish(&l->buf);
}

/* Adds up to and including the next newline; returns how much that was. Of a line that is too long one byte more than
 * allowed is kept: that shows it. */
static size_t add_some(hob_rpc_lines *l, hob_str bytes) {
    const char *end = memchr(bytes.p, '\n', bytes.n);
    size_t n = end ? (size_t)(end - bytes.p) : bytes.n;
    size_t kept = HOB_MIN(n, l->max + 1 - l->open);
    hob_buf_add(&l->buf, hob_str_first(bytes, kept));
    l->open += kept;
    if (!end) return n;
    hob_buf_addc(&l->buf, '\n');
    l->open = 0;
    return n + 1;
}

void hob_rpc_lines_add(hob_rpc_lines *l, hob_str bytes) {
    hob_buf_consume(&l->buf, l->taken);
    l->taken = 0;
    while (bytes.n) bytes = hob_str_skip(bytes, add_some(l, bytes));
}

int hob_rpc_lines_take(hob_rpc_lines *l, hob_str *out) {
    for (;;) {
        hob_str rest = hob_str_skip(hob_buf_str(&l->buf), l->taken);
        ptrdiff_t at = hob_str_chr(hob_str_skip(rest, l->scanned), '\n');
        if (at < 0) {
            l->scanned = rest.n;
            return 0;
        }
        hob_str line = hob_str_first(rest, l->scanned + (size_t)at);
        l->taken += line.n + 1;
        l->scanned = 0;
        if (line.n > l->max) return HOB_ETOOBIG;
        line = hob_str_trim(line);
        if (!line.n) continue;
        *out = line;
        return 1;
    }
}

/* ---- reading ------------------------------------------------------------------------------- */

static void refuse(hob_rpc_message *m, int code, const char *why) {
    m->kind = HOB_RPC_INVALID;
    m->code = code;
    hob_str_out(hob_str_z(why), m->why, sizeof m->why);
}

static bool is_id(const hob_json *id) {
    int64_t i;
    return hob_json_is(id, HOB_JSON_STRING) || hob_json_int(id, &i) == HOB_OK;
}

static void read_call(const hob_json *v, const hob_json *id, hob_rpc_message *m) {
    m->kind = id ? HOB_RPC_REQUEST : HOB_RPC_NOTIFICATION;
    m->method = hob_json_get_str(v, "method");
    m->body = hob_json_get(v, "params");
    if (!m->method.n)
        refuse(m, HOB_RPC_EREQUEST, "`method` must be a string");
    else if (m->body && !hob_json_is(m->body, HOB_JSON_OBJECT) &&
             !hob_json_is(m->body, HOB_JSON_ARRAY) && !hob_json_is(m->body, HOB_JSON_NULL))
        refuse(m, HOB_RPC_EREQUEST, "`params` must be an object or an array");
}

static void read_object(const hob_json *v, hob_rpc_message *m) {
    const hob_json *id = hob_json_get(v, "id"), *error = hob_json_get(v, "error");
    const hob_json *result = hob_json_get(v, "result");
    bool call = hob_json_get(v, "method") != NULL;
    if (is_id(id)) m->id = hob_json_raw(id);
    if (!hob_str_eqz(hob_json_get_str(v, "jsonrpc"), "2.0"))
        refuse(m, HOB_RPC_EREQUEST, "`jsonrpc` must be \"2.0\"");
    else if (id && !is_id(id) && !hob_json_is(id, HOB_JSON_NULL))
        refuse(m, HOB_RPC_EREQUEST, "`id` must be a string or an integer");
    else if (call)
        read_call(v, id, m);
    else if (!id || (!result && !error))
        refuse(m, HOB_RPC_EREQUEST, "neither a call nor an answer");
    else {
        m->kind = error ? HOB_RPC_ERROR : HOB_RPC_RESULT;
        m->body = error ? error : result;
    }
}

void hob_rpc_read(hob_str line, hob_arena *a, hob_rpc_message *out) {
    hob_error err = {.message = ""};
    const hob_json *v = NULL;
    *out = (hob_rpc_message){.id = HOB_STR("null")};
    if (hob_json_parse(a, line, NULL, &v, &err) < 0)
        refuse(out, HOB_RPC_EPARSE, err.message);
    else if (hob_json_is(v, HOB_JSON_ARRAY))
        refuse(out, HOB_RPC_EREQUEST, "batches are not spoken here: one message a line");
    else if (!hob_json_is(v, HOB_JSON_OBJECT))
        refuse(out, HOB_RPC_EREQUEST, "a message is a JSON object");
    else
        read_object(v, out);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* JSON of others comes as it was written. A line break in it can only stand between values, where a blank is as good:
 * inside strings JSON has none. */
static void add_json(hob_buf *out, const char *key, hob_str json) {
    size_t from = out->n;
    if (!json.n) return;
    hob_buf_addf(out, ",\"%s\":", key);
    hob_buf_add(out, json);
    for (size_t i = from; i < out->n; i++)
        if (out->p[i] == '\n' || out->p[i] == '\r') out->p[i] = ' ';
}

static void begin(hob_buf *out) {
    hob_buf_addz(out, "{\"jsonrpc\":\"2.0\"");
}

static void end(hob_buf *out) {
    hob_buf_addz(out, "}\n");
}

static void add_method(hob_buf *out, const char *method, hob_str params) {
    hob_buf_addz(out, ",\"method\":");
    hob_json_quote(out, hob_str_z(method));
    add_json(out, "params", params);
}

void hob_rpc_write_request(hob_buf *out, int64_t id, const char *method, hob_str params) {
    begin(out);
    hob_buf_addf(out, ",\"id\":%lld", (long long)id);
    add_method(out, method, params);
    end(out);
}

void hob_rpc_write_notification(hob_buf *out, const char *method, hob_str params) {
    begin(out);
    add_method(out, method, params);
    end(out);
}

void hob_rpc_write_result(hob_buf *out, hob_str id, hob_str result) {
    begin(out);
    add_json(out, "id", id);
    add_json(out, "result", result.n ? result : HOB_STR("{}"));
    end(out);
}

void hob_rpc_write_error(hob_buf *out, hob_str id, int code, hob_str message, hob_str data) {
    begin(out);
    add_json(out, "id", id);
    hob_buf_addf(out, ",\"error\":{\"code\":%d,\"message\":", code);
    hob_json_quote(out, message);
    add_json(out, "data", data);
    hob_buf_addc(out, '}');
    end(out);
}
