#include "model/decoder.h"

#define MAX_EVENT (16u << 20)
#define MAX_TREE (256u << 20) /* the parsed form of one event */

static int on_event(const hob_sse_event *e, void *user) {
    hob_decoder *d = user;
    if (hob_str_trim(e->data).n == 0) return HOB_OK;
    if (d->done) {
        if (!d->warned)
            hob_log(HOB_LOG_WARN, "model", "%.*s went on after the end of its answer; ignored",
                    HOB_FMT(d->who.provider));
        d->warned = true;
        return HOB_OK;
    }
    int rc = d->ops->event(d, e);
    hob_arena_reset(d->arena);
    return rc < 0 ? rc : HOB_OK;
}

void hob_decoder_init(hob_decoder *d, const hob_decoder_ops *ops, hob_answer *a,
                      const hob_asked *who) {
    d->ops = ops;
    d->answer = a;
    d->who = *who;
    d->arena = hob_arena_create(MAX_TREE);
    hob_outcome_init(&d->outcome);
    hob_sse_init(&d->sse, MAX_EVENT, on_event, d);
}

void hob_decoder_destroy(hob_decoder *d) {
    if (!d) return;
    if (d->ops->finish) d->ops->finish(d);
    hob_sse_finish(&d->sse);
    hob_arena_destroy(d->arena);
    hob_free(d);
}

int hob_decoder_feed(hob_decoder *d, hob_str bytes) {
    if (d->outcome.code) return d->outcome.code;
    int rc = hob_sse_feed(&d->sse, bytes);
    if (rc < 0 && !d->outcome.code)
        return hob_decoder_fail(d, rc, false, "sent an event over 16 MiB");
    return d->outcome.code;
}

int hob_decoder_end(hob_decoder *d) {
    if (d->outcome.code) return d->outcome.code;
    if (!d->done && !d->ops->whole(d))
        return hob_decoder_fail(d, HOB_EPROTO, true, "ended early: its answer is not whole");
    if (d->answer->stop == HOB_STOP_NONE)
        return hob_decoder_fail(d, HOB_EPROTO, true, "ended its answer without saying why");
    return HOB_OK;
}

int hob_decoder_fail(hob_decoder *d, int code, bool retryable, const char *what) {
    return hob_outcome_fail(&d->outcome, code, retryable, "%.*s %s", HOB_FMT(d->who.provider),
                            what);
}

const hob_json *hob_decoder_object(hob_decoder *d, const hob_sse_event *e) {
    const hob_json *v = NULL;
    hob_error err;
    int rc = hob_json_parse(d->arena, e->data, NULL, &v, &err);
    if (rc == HOB_OK && hob_json_is(v, HOB_JSON_OBJECT)) return v;
    hob_outcome_fail(&d->outcome, HOB_EPROTO, true, "%.*s sent broken JSON (%s): %.*s",
                     HOB_FMT(d->who.provider), rc < 0 ? err.message : "not an object",
                     HOB_FMT(hob_str_first(e->data, hob_utf8_prefix(e->data, 80))));
    return NULL;
}

int hob_decoder_check(hob_decoder *d, int rc) {
    if (rc >= 0) return rc;
    if (rc == HOB_ETOOBIG)
        return hob_decoder_fail(d, rc, false, "sent an answer over 16 MiB or 4096 blocks");
    return hob_decoder_fail(d, HOB_EPROTO, true, "sent a block that does not fit its kind");
}

void hob_decoder_stop(hob_decoder *d, hob_stop stop) {
    const hob_answer *a = d->answer;
    for (size_t i = 0; i < a->nblocks && stop == HOB_STOP_DONE; i++) {
        if (a->blocks[i].kind == HOB_BLOCK_TOOL_CALL) stop = HOB_STOP_TOOLS;
    }
    hob_answer_stop(d->answer, stop);
}
