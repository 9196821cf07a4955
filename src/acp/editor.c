/*
 * editor.c - the editor's files for read and write: what is in its buffers, saved or not.
 *
 * Every write comes by here, also with an editor that has no files to offer: then hob writes itself, but what was there
 * before is known and can be shown.
 */
#include "acp/acp.h"

/* ---- errands -------------------------------------------------------------------------------- */

void hob_acp_errand_init(hob_acp_errand *e, hob_acp_session *s, const hob_backend_call *c,
                         hob_reply *reply) {
    e->s = s;
    e->reply = reply;
    e->what = c;
    hob_list_push(&s->errands, &e->link);
}

void hob_acp_errand_begin(hob_acp_errand *e, void (*go)(hob_acp_errand *e)) {
    e->go = go;
    if (hob_acp_call_is_early(e->s, e->what)) return;
    e->go = NULL;
    go(e);
}

void hob_acp_errands_go(hob_acp_session *s, hob_str call) {
    HOB_LIST_EACH_SAFE (it, &s->errands) {
        hob_acp_errand *e = HOB_CONTAINER(it, hob_acp_errand, link);
        void (*go)(hob_acp_errand *) = e->go;
        if (!go || !e->what || !hob_str_eq(e->what->call, call)) continue;
        e->go = NULL;
        go(e);
    }
}

void hob_acp_errand_finish(hob_acp_errand *e) {
    hob_acp_drop_ask(e->s->acp, &e->ask);
    hob_list_remove(&e->link);
    if (e->reply) hob_reply_text(e->reply, HOB_OUTCOME_UNKNOWN, HOB_STR("the editor is gone"));
    hob_acp_errand_done(e);
}

void hob_acp_errands_drop(hob_acp_session *s) {
    while (!hob_list_empty(&s->errands)) {
        hob_acp_errand *e = HOB_LIST_FIRST(&s->errands, hob_acp_errand, link);
        e->free(e);
    }
}

static void free_errand(hob_acp_errand *e) {
    hob_acp_errand_finish(e);
    hob_free(e);
}

static hob_acp_errand *make(hob_acp_session *s, const hob_backend_call *c, hob_reply *reply) {
    hob_acp_errand *e = HOB_NEW(hob_acp_errand);
    hob_acp_errand_init(e, s, c, reply);
    e->free = free_errand;
    return e;
}

/* {"sessionId","path","content"?} */
static void send(hob_acp_errand *e, const char *method, const hob_str *content) {
    hob_buf b;
    hob_jsonw w;
    hob_error err;
    hob_buf_init(&b, 96u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "sessionId", hob_str_z(e->s->id));
    hob_jsonw_kstr(&w, "path", e->what->path);
    if (content) hob_jsonw_kstr(&w, "content", *content);
    hob_jsonw_object_end(&w);
    if (hob_acp_send_ask(e->s->acp, &e->ask, method, &b, &err) < 0) {
        hob_reply_text(e->reply, HOB_OUTCOME_ERROR, hob_str_z(err.message));
        hob_acp_errand_done(e);
        free_errand(e);
    }
    hob_buf_finish(&b);
}

/* ---- read ------------------------------------------------------------------------------------ */

static void on_read(hob_acp_ask *a, const hob_json *result, const hob_error *err) {
    hob_acp_errand *e = HOB_CONTAINER(a, hob_acp_errand, ask);
    const hob_json *content = hob_json_get(result, "content");
    if (err)
        hob_reply_text(e->reply, HOB_OUTCOME_ERROR, hob_str_z(err->message));
    else if (!hob_json_is(content, HOB_JSON_STRING))
        hob_reply_text(e->reply, HOB_OUTCOME_ERROR, HOB_STR("its answer has no `content`"));
    else
        hob_reply_file(e->reply, hob_json_str(content));
    hob_acp_errand_done(e);
    free_errand(e);
}

static void ask_for_file(hob_acp_errand *e) {
    send(e, "fs/read_text_file", NULL);
}

static void read_file(const hob_backend_call *c, hob_reply *reply, void *user) {
    hob_acp_session *s = user;
    if (!s->acp->client.read) {
        hob_reply_pass(reply);
        return;
    }
    hob_acp_errand *e = make(s, c, reply);
    e->ask.answered = on_read;
    hob_acp_errand_begin(e, ask_for_file);
}

/* ---- write ----------------------------------------------------------------------------------- */

static void on_written(hob_acp_ask *a, const hob_json *result, const hob_error *err) {
    hob_acp_errand *e = HOB_CONTAINER(a, hob_acp_errand, ask);
    (void)result;
    hob_reply_text(e->reply, err ? HOB_OUTCOME_ERROR : HOB_OUTCOME_OK,
                   err ? hob_str_z(err->message) : HOB_STR_NULL);
    hob_acp_errand_done(e);
    free_errand(e);
}

static void show_change(hob_acp_session *s, const hob_backend_call *c) {
    hob_acp_call *call = hob_acp_call_expect(s, c);
    if (!call || c->existed < 0) return;
    hob_acp_change_set(&call->change, c->path, c->existed ? &c->before : NULL, c->content);
    hob_acp_call_refresh(s, call);
}

static void hand_over(hob_acp_errand *e) {
    send(e, "fs/write_text_file", &e->what->content);
}

static void write_file(const hob_backend_call *c, hob_reply *reply, void *user) {
    hob_acp_session *s = user;
    show_change(s, c);
    if (!s->acp->client.write) {
        hob_reply_pass(reply);
        return;
    }
    hob_acp_errand *e = make(s, c, reply);
    e->ask.answered = on_written;
    hob_acp_errand_begin(e, hand_over);
}

const hob_backend_ops hob_acp_backend = {
    .size = sizeof(hob_backend_ops),
    .name = "the editor",
    .read = read_file,
    .write = write_file,
    .run = hob_acp_terminal_run,
    .cancel = hob_acp_terminal_cancel,
};
