/*
 * view_answer.c - answers of the model: streamed as they are made, and whole at the end.
 *
 * Every piece says where it stands (block, offset), so the same function takes deltas and, at the end, whole blocks: it sends
 * what the client does not have. Words and thoughts are closed when another block goes on, and opened again should they;
 * calls stay open until the answer is whole, since clients act on a call once it is closed.
 */
#include "agui/view.h"

#include <stdio.h>

static hob_view_answer *find(hob_agui_view *v, hob_str message) {
    HOB_LIST_EACH (it, &v->answers) {
        hob_view_answer *a = HOB_CONTAINER(it, hob_view_answer, link);
        if (hob_str_eqz(message, a->message)) return a;
    }
    return NULL;
}

static hob_view_answer *add(hob_agui_view *v, hob_str message, hob_str agent) {
    hob_view_answer *a = find(v, message);
    if (a || v->nanswers == HOB_VIEW_ANSWERS) return a;
    a = HOB_NEW(hob_view_answer);
    a->message = hob_dupz(message);
    a->agent = hob_dupz(agent);
    hob_list_push(&v->answers, &a->link);
    v->nanswers++;
    return a;
}

static void drop(hob_agui_view *v, hob_view_answer *a) {
    hob_list_remove(&a->link);
    hob_free(a->message);
    hob_free(a->agent);
    hob_free(a->blocks);
    hob_free(a);
    v->nanswers--;
}

void hob_view_answers_finish(hob_agui_view *v) {
    while (!hob_list_empty(&v->answers))
        drop(v, HOB_LIST_FIRST(&v->answers, hob_view_answer, link));
}

static hob_view_block *block_at(hob_view_answer *a, int64_t i) {
    if (i < 0 || i >= HOB_VIEW_BLOCKS) return NULL;
    size_t need = (size_t)i + 1;
    if (need > a->nblocks) {
        a->blocks = hob_realloc(a->blocks, need * sizeof *a->blocks);
        memset(a->blocks + a->nblocks, 0, (need - a->nblocks) * sizeof *a->blocks);
        a->nblocks = need;
    }
    return &a->blocks[i];
}

static hob_str id_of(const hob_view_answer *a, const hob_view_block *b, char id[HOB_AGUI_MADE_ID]) {
    if (b->kind == HOB_VIEW_CALL) return hob_str_z(b->call);
    snprintf(id, HOB_AGUI_MADE_ID, "%.100s-%zu", a->message, (size_t)(b - a->blocks));
    return hob_str_z(id);
}

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

static int close_block(hob_agui_view *v, hob_view_answer *a, hob_view_block *b, hob_error *err) {
    char made[HOB_AGUI_MADE_ID];
    hob_str id = id_of(a, b, made);
    if (!b->open) return 0;
    b->open = false;
    if (b->kind == HOB_VIEW_TEXT) return hob_view_said(hob_agui_message_end(v->out, id, err));
    if (b->kind == HOB_VIEW_CALL) return hob_view_said(hob_agui_tool_call_end(v->out, id, err));
    int rc = hob_view_said(hob_agui_reasoning_message_end(v->out, id, err));
    return rc < 0 ? rc : hob_view_said(hob_agui_reasoning_end(v->out, id, err));
}

/* Words and thoughts one after the other: another block goes on. */
static int close_others(hob_agui_view *v, hob_view_answer *a, const hob_view_block *but,
                        hob_error *err) {
    int rc = 0;
    for (size_t i = 0; i < a->nblocks && rc == 0; i++)
        if (&a->blocks[i] != but && a->blocks[i].kind != HOB_VIEW_CALL)
            rc = close_block(v, a, &a->blocks[i], err);
    return rc;
}

static int open_thought(hob_agui_view *v, hob_str id, const hob_agui_extra *x, hob_error *err) {
    if (!(x->flags & HOB_AGUI_REOPEN) && hob_agui_known_message(v->out, id)) return HOB_EEXIST;
    int rc = hob_view_said(hob_agui_reasoning_start(v->out, id, NULL, err));
    return rc < 0 ? rc : hob_agui_reasoning_message_start(v->out, id, x, err);
}

static int open_block(hob_agui_view *v, hob_view_answer *a, hob_view_block *b, hob_str tool,
                      hob_error *err) {
    char made[HOB_AGUI_MADE_ID];
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    hob_str id = id_of(a, b, made);
    int rc = HOB_EEXIST;
    if (b->sent) x.flags = HOB_AGUI_REOPEN;
    if (b->kind == HOB_VIEW_THINKING) {
        rc = open_thought(v, id, &x, err);
    } else if (b->kind == HOB_VIEW_TEXT) {
        x.name = hob_str_z(a->agent);
        rc = hob_agui_message_start(v->out, id, &x, err);
    } else if (!b->sent) {
        x.parent = hob_str_z(a->message);
        rc = hob_agui_tool_call_start(v->out, id, tool, &x, err);
    }
    b->had = rc == HOB_EEXIST;
    if (b->had &&
        hob_agui_known_foreign(v->out, b->kind == HOB_VIEW_CALL ? hob_str_z(a->message) : id))
        a->foreign = true;
    b->open = hob_agui_happened(rc);
    return hob_view_had(rc);
}

static int send_piece(hob_agui_view *v, hob_view_answer *a, hob_view_block *b, hob_str text,
                      hob_error *err) {
    char made[HOB_AGUI_MADE_ID];
    hob_str id = id_of(a, b, made);
    if (b->kind == HOB_VIEW_TEXT)
        return hob_view_said(hob_agui_message_content(v->out, id, text, err));
    if (b->kind == HOB_VIEW_CALL)
        return hob_view_said(hob_agui_tool_call_args(v->out, id, text, err));
    return hob_view_said(hob_agui_reasoning_message_content(v->out, id, text, err));
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

typedef struct piece {
    hob_view_kind kind;
    size_t offset;
    hob_str text, tool, call;
} piece;

/* What the client does not have of it. A hole is left to the end of the answer, which has everything. */
static int take(hob_agui_view *v, hob_view_answer *a, hob_view_block *b, const piece *p,
                hob_error *err) {
    if (b->kind != HOB_VIEW_NONE && b->kind != p->kind) return 0;
    if (p->offset > b->sent) return 0;
    hob_str fresh = hob_str_skip(p->text, b->sent - p->offset);
    if (!fresh.n || b->had) return 0;
    b->kind = p->kind;
    if (p->kind == HOB_VIEW_CALL) hob_str_out(p->call, b->call, sizeof b->call);
    int rc = p->kind == HOB_VIEW_CALL ? 0 : close_others(v, a, b, err);
    if (rc == 0 && !b->open) rc = open_block(v, a, b, p->tool, err);
    if (rc < 0 || b->had) return rc;
    b->sent = p->offset + p->text.n;
    return send_piece(v, a, b, fresh, err);
}

int hob_view_delta(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err) {
    hob_view_answer *a = add(v, hob_json_get_str(d, "message"), e->agent);
    hob_view_block *b = a ? block_at(a, hob_json_get_int(d, "block", -1)) : NULL;
    if (!b) return 0;
    piece p = {.kind = e->type == HOB_EVENT_TEXT_DELTA       ? HOB_VIEW_TEXT
                       : e->type == HOB_EVENT_THINKING_DELTA ? HOB_VIEW_THINKING
                                                             : HOB_VIEW_CALL,
               .offset = (size_t)hob_json_get_int(d, "offset", 0),
               .text = hob_json_get_str(d, "text"),
               .tool = hob_json_get_str(d, "tool"),
               .call = hob_json_get_str(d, "call")};
    if (p.kind == HOB_VIEW_CALL && !p.call.n) return 0; /* an older log: at the end */
    return take(v, a, b, &p, err);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int whole_block(hob_agui_view *v, hob_view_answer *a, hob_view_block *b,
                       const hob_json *block, hob_error *err) {
    hob_str type = hob_json_get_str(block, "type"),
            args = hob_json_raw(hob_json_get(block, "args"));
    piece p = {.text = hob_json_get_str(block, "text"),
               .kind = hob_str_eqz(type, "text")       ? HOB_VIEW_TEXT
                       : hob_str_eqz(type, "thinking") ? HOB_VIEW_THINKING
                                                       : HOB_VIEW_CALL};
    if (p.kind != HOB_VIEW_CALL) return take(v, a, b, &p, err);
    if (!hob_str_eqz(type, "tool_call") || b->sent)
        return 0; /* what was streamed is what it wrote */
    p.call = hob_json_get_str(block, "call");
    p.tool = hob_json_get_str(block, "name");
    p.text = args.n ? args : hob_json_get_str(block, "args_text");
    if (!p.text.n) p.text = HOB_STR("{}");
    return take(v, a, b, &p, err);
}

static int close_all(hob_agui_view *v, hob_view_answer *a, hob_error *err) {
    int rc = 0;
    for (size_t i = 0; i < a->nblocks && rc == 0; i++) rc = close_block(v, a, &a->blocks[i], err);
    return rc;
}

int hob_view_answered(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err) {
    hob_view_answer *a = add(v, hob_json_get_str(d, "message"), e->agent);
    const hob_json *content = hob_json_get(d, "content");
    int rc = 0;
    int64_t i = 0;
    if (!a) return hob_fail(err, HOB_ETOOBIG, 0, "too many answers at once");
    for (const hob_json *b = hob_json_first(content); b && rc == 0; b = hob_json_next(b), i++) {
        hob_view_block *mine = block_at(a, i);
        if (!mine) return hob_fail(err, HOB_ETOOBIG, 0, "an answer with too many blocks");
        rc = whole_block(v, a, mine, b, err);
    }
    if (rc == 0) rc = close_all(v, a, err);
    v->stale = v->stale || a->foreign;
    drop(v, a);
    return rc;
}

/* A call that was shown must not look as if it were the client's to carry out. */
static int disown(hob_agui_view *v, const hob_view_block *b, hob_error *err) {
    char id[HOB_AGUI_MADE_ID + 8];
    if (b->kind != HOB_VIEW_CALL || !b->sent) return 0;
    snprintf(id, sizeof id, "%s:result", b->call);
    return hob_view_had(hob_agui_tool_call_result(v->out, hob_str_z(id), hob_str_z(b->call),
                                                  HOB_STR("discarded: the answer broke off"), err));
}

int hob_view_discarded(hob_agui_view *v, const hob_json *d, hob_error *err) {
    hob_view_answer *a = find(v, hob_json_get_str(d, "message"));
    if (!a) return 0;
    int rc = close_all(v, a, err);
    for (size_t i = 0; i < a->nblocks && rc == 0; i++) {
        v->stale = v->stale || a->blocks[i].sent;
        rc = disown(v, &a->blocks[i], err);
    }
    drop(v, a);
    return rc;
}
