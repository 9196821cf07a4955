/*
 * command.c - what a host tells a session to do. Each call is one input to the run, and returns when it is durable.
 */
#include "session/task.h"

enum { TITLE_MAX = 1000, SENDER_MAX = 128 };

typedef struct command {
    hob_op op;
    hob_input in;
    const char *hint;
    hob_str text;
    const hob_tool *tool;
    hob_page **page;
    int count;
    hob_str payer, key;  /* of a message */
    hob_receipt receipt; /* what became of the message */
} command;

static int run_command(hob_session *s, command *c, void (*start)(hob_op *), hob_error *err) {
    c->op.start = start;
    return hob_session_run(s, &c->op, err);
}

void hob_op_conclude(hob_op *op, int rc, const hob_error *err) {
    hob_session_commit(op->s);
    hob_session_kick(op->s);
    if (rc < 0)
        hob_op_done(op, rc, err);
    else
        hob_session_op_after(op->s, op);
}

/* The message itself, whatever was said before it. */
static int give_input(command *c, hob_session *s, hob_error *err) {
    c->receipt.seq = s->view->last_seq + 1;
    snprintf(s->payer, sizeof s->payer, "%.*s", HOB_FMT(c->payer));
    s->key = c->key;
    int rc = hob_session_input(s, &c->in, err);
    s->payer[0] = 0;
    s->key = HOB_STR_NULL;
    snprintf(c->receipt.run, sizeof c->receipt.run, "%s", s->run.id);
    return rc;
}

int hob_session_admit(hob_session *s, hob_error *err) {
    return s->closing ? hob_fail(err, HOB_ECANCELLED, 0, "the session is being closed") : HOB_OK;
}

/* ---- prompts ------------------------------------------------------------------------------------------ */

static void settle_left_over(hob_session *s) {
    s->left_alone = false;
    hob_session_outcome(s, &(hob_input){.kind = HOB_INPUT_CANCEL, .ending = HOB_ENDING_SETTLE});
}

static void prompt_now(hob_op *op) {
    command *c = HOB_CONTAINER(op, command, op);
    hob_session *s = op->s;
    hob_error err;
    int rc = hob_session_usable(s, &err);
    if (rc >= 0 && s->left_alone) settle_left_over(s);
    if (rc >= 0 && !hob_run_active(&s->run)) {
        rc = hob_session_offer_skills(s, &err);
        if (rc >= 0) rc = hob_session_say_settings(s, &err);
        if (rc >= 0) rc = hob_session_repair(s, &err);
    }
    if (rc >= 0) rc = give_input(c, s, &err);
    hob_op_conclude(op, rc, &err);
}

/* The store failed once; look at what it has, and try again from there. */
static void on_read_again(hob_session *s, int code, const hob_error *err, void *user) {
    hob_op *op = user;
    hob_error e;
    if (code >= 0) {
        err = &e;
        s->failed = 0;
        hob_session_recall_readers(s);
        code = hob_session_take_up(s, HOB_UNFINISHED_LEAVE, &e);
    }
    if (code < 0)
        hob_op_done(op, code, err);
    else
        prompt_now(op);
}

static void start_prompt(hob_op *op) {
    hob_session *s = op->s;
    bool again = s->failed && s->failed != HOB_EFENCED && !s->refolding && !s->let_go;
    hob_error err;
    int rc = hob_session_admit(s, &err);
    if (rc >= 0 && again)
        hob_session_load(s, hob_str_z(s->id), on_read_again, op);
    else if (rc >= 0)
        prompt_now(op);
    else
        hob_op_done(op, rc, &err);
}

static bool is_text(const hob_json *b) {
    return hob_str_eqz(hob_json_get_str(b, "type"), "text") &&
           hob_json_is(hob_json_get(b, "text"), HOB_JSON_STRING);
}

static bool is_image(const hob_json *b) {
    return hob_str_eqz(hob_json_get_str(b, "type"), "image") &&
           hob_json_get_str(b, "media_type").n && hob_json_get_str(b, "data").n;
}

int hob_content_check(hob_str json, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v;
    bool says = false;
    int rc = hob_json_parse(a, json, NULL, &v, err);
    for (const hob_json *b = rc < 0 ? NULL : hob_json_first(v); b; b = hob_json_next(b)) {
        says = says || is_image(b) || hob_str_trim(hob_json_get_str(b, "text")).n;
        if (!is_text(b) && !is_image(b))
            rc = hob_fail(err, HOB_EINVAL, 0,
                          "a block must be a text or an image (docs/messages.md)");
    }
    if (rc >= 0 && (!hob_json_is(v, HOB_JSON_ARRAY) || !says))
        rc = hob_fail(err, HOB_EINVAL, 0, "content must be an array of blocks, and not empty");
    hob_arena_destroy(a);
    return rc;
}

/* Whose words they are: only a user's can be a command. */
typedef enum voice { USERS, MODELS } voice;

/* One block: what the text says, or what the command that it names stands for. */
static int text_content(hob_session *s, hob_str text, voice v, hob_buf *out, hob_error *err) {
    if (!hob_str_trim(text).n) return hob_fail(err, HOB_EINVAL, 0, "the message is empty");
    hob_buf block;
    hob_buf_init(&block, HOB_EVENT_MAX / 2);
    int rc = v == USERS ? hob_session_expand(s, text, &block, err) : 0;
    if (rc == 0) {
        hob_buf_addz(&block, "{\"type\":\"text\",\"text\":");
        hob_json_quote(&block, text);
        hob_buf_addc(&block, '}');
    }
    hob_buf_addc(out, '[');
    hob_buf_add(out, hob_buf_str(&block));
    hob_buf_addc(out, ']');
    if (block.err) out->err = block.err;
    hob_buf_finish(&block);
    if (rc < 0) return rc;
    return out->err
               ? hob_fail(err, HOB_ETOOBIG, 0, "the message is over %u MiB", HOB_EVENT_MAX >> 21)
               : HOB_OK;
}

int hob_session_users_text(hob_session *s, hob_str text, hob_buf *out, hob_error *err) {
    return text_content(s, text, USERS, out, err);
}

int hob_session_begin(hob_session *s, hob_str text, hob_error *err) {
    hob_buf content;
    hob_buf_init(&content, HOB_EVENT_MAX / 2);
    int rc = text_content(s, text, MODELS, &content, err);
    if (rc >= 0) rc = hob_session_say_settings(s, err);
    if (rc >= 0) rc = hob_session_repair(s, err);
    hob_input in = {.kind = HOB_INPUT_PROMPT, .content = hob_buf_str(&content)};
    if (rc >= 0) rc = hob_session_input(s, &in, err);
    hob_buf_finish(&content);
    return rc;
}

static void start_input(hob_op *op) {
    command *c = HOB_CONTAINER(op, command, op);
    hob_error err;
    int rc = give_input(c, op->s, &err);
    hob_op_conclude(op, rc, &err);
}

static void start_queue(hob_op *op) {
    hob_error err;
    int rc = hob_session_admit(op->s, &err);
    if (rc >= 0) rc = hob_session_usable(op->s, &err);
    if (rc >= 0 && op->s->left_alone)
        rc = hob_fail(&err, HOB_EIDLE, 0,
                      "the run was left unfinished: resume it first, or send a prompt");
    if (rc >= 0)
        start_input(op);
    else
        hob_op_done(op, rc, &err);
}

/* As much of it as the host's header knows. */
static void give_receipt(hob_receipt *r, hob_receipt *out) {
    r->size = out->size;
    memcpy(out, r, HOB_MIN(out->size, sizeof *r));
}

static void (*start_of(hob_input_kind kind))(hob_op *) {
    return kind == HOB_INPUT_PROMPT ? start_prompt : start_queue;
}

/* As much of it as the host's header has. */
static int read_send_opts(const hob_send_opts *given, hob_send_opts *out, hob_error *err) {
    *out = (hob_send_opts)HOB_SEND_OPTS_INIT;
    memcpy(out, given, HOB_MIN(given->size, sizeof *out));
    if (out->how > HOB_SEND_FOLLOW_UP)
        return hob_fail(err, HOB_EINVAL, 0, "there is no way %d to send", (int)out->how);
    if (out->payer.n <= SENDER_MAX && out->key.n <= SENDER_MAX) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, 0, "the payer and the key of a message have at most %d bytes",
                    SENDER_MAX);
}

int hob_session_send_with(hob_session *s, const hob_send_opts *o, hob_receipt *out,
                          hob_error *err) {
    static const hob_input_kind kinds[] = {HOB_INPUT_PROMPT, HOB_INPUT_STEER, HOB_INPUT_FOLLOW_UP};
    hob_send_opts l;
    hob_buf expanded;
    int rc = read_send_opts(o, &l, err);
    if (rc >= 0) rc = hob_content_check(l.content, err);
    if (rc >= 0) rc = hob_session_enter(s, err);
    if (rc < 0) return rc;
    command c = {
        .in = {.kind = kinds[l.how], .content = l.content}, .payer = l.payer, .key = l.key};
    hob_buf_init(&expanded, HOB_MESSAGE_MAX);
    rc = hob_session_expand_content(s, l.content, &expanded, err);
    if (rc > 0) c.in.content = hob_buf_str(&expanded);
    if (rc >= 0) rc = run_command(s, &c, start_of(c.in.kind), err);
    hob_buf_finish(&expanded);
    hob_session_leave(s);
    if (rc >= 0 && out) give_receipt(&c.receipt, out);
    return rc;
}

int hob_session_send(hob_session *s, hob_send how, hob_str content, hob_receipt *out,
                     hob_error *err) {
    hob_send_opts l = {.size = sizeof l, .how = how, .content = content};
    return hob_session_send_with(s, &l, out, err);
}

int hob_session_prompt_content(hob_session *s, hob_str content, hob_error *err) {
    return hob_session_send(s, HOB_SEND_PROMPT, content, NULL, err);
}

static int send_text(hob_session *s, hob_input_kind kind, hob_str text, hob_error *err) {
    hob_buf content;
    int rc = hob_session_enter(s, err);
    if (rc < 0) return rc;
    hob_buf_init(&content, HOB_EVENT_MAX / 2);
    rc = text_content(s, text, USERS, &content, err);
    if (rc >= 0) {
        command c = {.in = {.kind = kind, .content = hob_buf_str(&content)}};
        rc = run_command(s, &c, start_of(kind), err);
    }
    hob_buf_finish(&content);
    hob_session_leave(s);
    return rc;
}

int hob_session_prompt(hob_session *s, hob_str text, hob_error *err) {
    return send_text(s, HOB_INPUT_PROMPT, text, err);
}

int hob_session_steer(hob_session *s, hob_str text, hob_error *err) {
    return send_text(s, HOB_INPUT_STEER, text, err);
}

int hob_session_follow_up(hob_session *s, hob_str text, hob_error *err) {
    return send_text(s, HOB_INPUT_FOLLOW_UP, text, err);
}

/* ---- stopping ------------------------------------------------------------------------------------------- */

static void start_cancel(hob_op *op) {
    if (op->s->left_alone) settle_left_over(op->s);
    start_input(op);
}

static int stop(hob_session *s, hob_ending how, hob_queue_choice q, hob_error *err) {
    command c = {.in = {.kind = HOB_INPUT_CANCEL, .ending = how, .fate = (hob_queue_fate)q}};
    return run_command(s, &c, start_cancel, err);
}

int hob_session_cancel(hob_session *s, hob_queue_choice q, hob_error *err) {
    return stop(s, HOB_ENDING_CANCEL, q, err);
}

int hob_session_cancel_and_settle(hob_session *s, hob_queue_choice q, int64_t timeout_ms,
                                  hob_error *err) {
    int rc = stop(s, HOB_ENDING_CANCEL, q, err);
    return rc < 0 ? rc : hob_session_wait(s, timeout_ms, NULL, err);
}

int hob_session_abort(hob_session *s, hob_error *err) {
    int rc = stop(s, HOB_ENDING_ABORT, HOB_QUEUED_RETURN, err);
    return rc < 0 ? rc : hob_session_wait(s, 5000, NULL, err);
}

static void start_end_spent(hob_op *op) {
    hob_error err;
    if (!op->s->left_alone)
        start_input(op);
    else
        hob_op_done(op, hob_fail(&err, HOB_EIDLE, 0, "the run was left unfinished"), &err);
}

int hob_session_end_spent(hob_session *s, const hob_quota_opts *given, hob_error *err) {
    hob_quota_opts l = HOB_QUOTA_OPTS_INIT, *o = &l;
    memcpy(o, given, HOB_MIN(given->size, sizeof *o));
    if (!hob_str_starts(o->limit, HOB_STR("quota_")) || o->limit.n > 40 ||
        !hob_utf8_valid(o->limit))
        return hob_fail(err, HOB_EINVAL, 0, "the name of a quota is quota_ and a word, not %.*s",
                        HOB_FMT(hob_str_first(o->limit, 40)));
    command c = {.in = {.kind = HOB_INPUT_QUOTA,
                        .call = o->run,
                        .text = o->limit,
                        .value = o->value,
                        .max = o->max}};
    return run_command(s, &c, start_end_spent, err);
}

/* In the child, if it is a child's. */
static void start_cancel_call(hob_op *op) {
    hob_str call = HOB_CONTAINER(op, command, op)->in.call, rest = call;
    hob_session *s = op->s;
    hob_error err;
    for (hob_task *t; s && (t = hob_task_of_call(s, rest, &rest));) s = t->s;
    int rc = s ? hob_session_stop_call(s, rest) : HOB_ENOENT;
    if (rc < 0) hob_fail(&err, rc, 0, "no call %.*s is at work", HOB_FMT(call));
    hob_op_done(op, rc, &err);
}

int hob_session_cancel_call(hob_session *s, hob_str call, hob_error *err) {
    command c = {.in = {.call = call}};
    return run_command(s, &c, start_cancel_call, err);
}

/* ---- settings ----------------------------------------------------------------------------------------------- */

static void say_and_conclude(hob_op *op, int rc, hob_error *err) {
    if (rc >= 0 && op->s->view->id.n) rc = hob_session_say_settings(op->s, err);
    hob_op_conclude(op, rc, err);
}

static void start_set_model(hob_op *op) {
    hob_error err;
    int rc = hob_session_usable(op->s, &err);
    if (rc >= 0)
        rc = hob_session_use_model(op->s, hob_str_z(HOB_CONTAINER(op, command, op)->hint), &err);
    say_and_conclude(op, rc, &err);
}

int hob_session_set_model(hob_session *s, const char *hint, hob_error *err) {
    command c = {.hint = hint};
    return run_command(s, &c, start_set_model, err);
}

static void start_set_thinking(hob_op *op) {
    hob_str word = hob_str_z(HOB_CONTAINER(op, command, op)->hint);
    hob_error err;
    int rc = hob_session_usable(op->s, &err);
    if (rc >= 0 && (rc = hob_thinking_from(word, &op->s->thinking)) < 0)
        hob_fail(&err, rc, 0, "unknown thinking level %.*s: off minimal low medium high xhigh",
                 HOB_FMT(word));
    say_and_conclude(op, rc, &err);
}

int hob_session_set_thinking(hob_session *s, const char *level, hob_error *err) {
    command c = {.hint = level};
    return run_command(s, &c, start_set_thinking, err);
}

static int say_title(hob_session *s, hob_str title, hob_error *err) {
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, HOB_EVENT_CONFIG_CHANGED);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "title", title);
    hob_jsonw_object_end(&w);
    return hob_session_append(s, &d, err);
}

int hob_session_say_copied(hob_session *s, const hob_view *original, hob_error *err) {
    hob_str of = original->title.n ? original->title : original->first_prompt;
    hob_buf title;
    if (!of.n) return HOB_OK;
    of = hob_str_first(of, hob_utf8_prefix(of, TITLE_MAX - 10));
    hob_buf_init(&title, TITLE_MAX + 1);
    for (size_t i = 0; i < of.n; i++)
        hob_buf_addc(&title, (unsigned char)of.p[i] < ' ' ? ' ' : of.p[i]);
    hob_buf_addz(&title, " (copy)");
    int rc = say_title(s, hob_buf_str(&title), err);
    hob_buf_finish(&title);
    return rc;
}

static void start_set_title(hob_op *op) {
    hob_error err;
    int rc = op->s->view->id.n ? HOB_OK : hob_session_say_settings(op->s, &err);
    if (rc >= 0) rc = say_title(op->s, HOB_CONTAINER(op, command, op)->text, &err);
    hob_op_conclude(op, rc, &err);
}

int hob_session_set_title(hob_session *s, hob_str title, hob_error *err) {
    command c = {.text = title};
    if (title.n > TITLE_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "a title has at most %d bytes", TITLE_MAX);
    for (size_t i = 0; i < title.n; i++)
        if ((unsigned char)title.p[i] < ' ')
            return hob_fail(err, HOB_EINVAL, 0, "a title is one line, without control characters");
    return run_command(s, &c, start_set_title, err);
}

static void start_set_trace(hob_op *op) {
    command *c = HOB_CONTAINER(op, command, op);
    snprintf(op->s->trace, sizeof op->s->trace, "%.*s", HOB_FMT(c->text));
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_set_traceparent(hob_session *s, hob_str traceparent, hob_error *err) {
    char trace[33], parent[17];
    command c = {.text = hob_str_first(traceparent, 55)};
    if (traceparent.n && !hob_traceparent_read(traceparent, trace, parent))
        return hob_fail(err, HOB_EINVAL, 0,
                        "\"%.*s\" is no W3C trace context (00-TRACE-SPAN-FLAGS)",
                        HOB_FMT(hob_str_first(traceparent, 60)));
    return run_command(s, &c, start_set_trace, err);
}

static void start_save(hob_op *op) {
    hob_error err;
    int rc = hob_session_usable(op->s, &err);
    if (rc >= 0 && !op->s->view->id.n) rc = hob_session_say_settings(op->s, &err);
    hob_op_conclude(op, rc, &err);
}

int hob_session_save(hob_session *s, hob_error *err) {
    command c = {.count = 0};
    return run_command(s, &c, start_save, err);
}

static void start_add_tool(hob_op *op) {
    hob_error err;
    int rc = hob_session_add_host_tool(op->s, HOB_CONTAINER(op, command, op)->tool, &err);
    hob_op_done(op, rc, &err);
}

int hob_session_add_tool(hob_session *s, const hob_tool *tool, hob_error *err) {
    command c = {.tool = tool};
    return run_command(s, &c, start_add_tool, err);
}

static void start_move(hob_op *op) {
    hob_session *s = op->s;
    const char *to = HOB_CONTAINER(op, command, op)->hint;
    hob_error err;
    hob_draft d;
    hob_jsonw w;
    if (!hob_session_thaw(s, op)) return;
    int rc = hob_session_usable(s, &err);
    if (rc >= 0 && hob_session_active(s))
        rc = hob_fail(&err, HOB_EBUSY, 0, "a run is under way: cancel it or wait before moving");
    else if (rc >= 0 && *to && !hob_history_find(s->view->history, hob_entry_seq(hob_str_z(to))))
        rc = hob_fail(&err, HOB_ENOENT, 0, "there is no entry %s in this session", to);
    if (rc >= 0) {
        hob_draft_init(&d, HOB_EVENT_BRANCH_MOVED);
        hob_jsonw_init(&w, &d.data);
        hob_jsonw_object(&w);
        hob_jsonw_kstr(&w, "to", hob_str_z(to));
        hob_jsonw_object_end(&w);
        rc = hob_session_append(s, &d, &err);
    }
    hob_op_conclude(op, rc, &err);
}

int hob_session_move(hob_session *s, const char *entry, hob_error *err) {
    command c = {.hint = entry ? entry : ""};
    return run_command(s, &c, start_move, err);
}
