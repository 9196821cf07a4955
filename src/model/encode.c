#include "model/encode.h"

#define ARENA_MAX (512u << 20) /* the parsed form of what one request encodes anew */

void hob_encode_key(const hob_encode_opts *o, hob_str model, hob_buf *out) {
    hob_buf_add(out, o->provider);
    hob_buf_addc(out, '/');
    hob_buf_add(out, model);
    if (o->echo_reasoning) hob_buf_addz(out, "\nreasoning");
}

void hob_encoder_init(hob_encoder *e, const hob_model_request *rq, const hob_encode_opts *o,
                      const char *api, hob_body *b) {
    hob_arena *arena = hob_arena_create(ARENA_MAX);
    hob_buf key;
    hob_buf_init(&key, HOB_WIRE_MAX);
    hob_encode_key(o, rq->model, &key);
    hob_str self = hob_str_first(hob_buf_str(&key), o->provider.n + 1 + rq->model.n);

    *b = (hob_body){.wire = hob_wire_acquire(rq->wire, api, hob_buf_str(&key), rq->history)};
    hob_buf_init(&b->head, HOB_WIRE_MAX);
    hob_buf_init(&b->tail, HOB_WIRE_MAX);
    *e = (hob_encoder){.rq = rq, .opts = o, .wire = b->wire, .arena = arena};
    e->self = hob_arena_dup(arena, self);
    hob_buf_finish(&key);
}

int hob_encoder_finish(hob_encoder *e, hob_body *b, size_t before, int rc) {
    hob_wire *w = e->wire;
    hob_arena_destroy(e->arena);
    if (rc == HOB_OK && (b->head.err || b->tail.err || w->text.err || w->tools.err ||
                         b->head.n + b->tail.n + w->text.n > HOB_WIRE_MAX))
        rc = hob_fail(e->err, HOB_ETOOBIG, 0,
                      "the conversation is over %u MiB as a request: compact it or start a new one",
                      HOB_WIRE_MAX >> 20);
    if (rc < 0) {
        hob_buf_reset(&w->text);
        w->api = NULL; /* what is half written fits nothing */
        hob_body_finish(b);
        return rc;
    }
    w->encoded += b->head.n + b->tail.n + (w->text.n - before);
    return HOB_OK;
}

void hob_body_finish(hob_body *b) {
    hob_buf_finish(&b->head);
    hob_buf_finish(&b->tail);
    hob_wire_release(b->wire);
    b->wire = NULL;
    b->nparts = 0;
}

int hob_encoder_content(hob_encoder *e, hob_str json, const hob_json **out) {
    hob_error why;
    int rc = hob_json_parse(e->arena, json, NULL, out, &why);
    if (rc == HOB_OK && hob_json_is(*out, HOB_JSON_ARRAY)) return HOB_OK;
    return hob_fail(e->err, rc == HOB_ETOOBIG ? rc : HOB_EPARSE, 0,
                    "a message of the session cannot be read (%s)",
                    rc < 0 ? why.message : "its content is not an array");
}

bool hob_encoder_own(const hob_encoder *e, size_t i) {
    return hob_str_eq(hob_history_model(e->rq->history, i), e->self);
}

bool hob_block_is(const hob_json *block, const char *type) {
    return hob_str_eqz(hob_json_get_str(block, "type"), type);
}

const hob_json *hob_block_text(const hob_json *block) {
    if (!hob_block_is(block, "text")) return NULL;
    const hob_json *text = hob_json_get(block, "text");
    return hob_str_trim(hob_json_str(text)).n ? text : NULL;
}

hob_str hob_json_inner(const hob_json *string) {
    hob_str raw = hob_json_raw(string);
    return hob_json_is(string, HOB_JSON_STRING) ? hob_str_n(raw.p + 1, raw.n - 2) : HOB_STR_NULL;
}

/* A model may call what does not exist by a name that may not be sent. */
hob_str hob_call_name(hob_arena *a, hob_str name) {
    size_t n = HOB_MIN(name.n, (size_t)64);
    char *p = n ? hob_arena_bytes(a, n) : NULL;
    if (!p) return HOB_STR("unnamed");
    for (size_t i = 0; i < n; i++) {
        char c = name.p[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
        p[i] = ok ? c : '_';
    }
    return hob_str_n(p, n);
}
