#include "log/history_view.h"

#include "log/branch.h"

void hob_history_view_init(hob_history_view *v) {
    *v = (hob_history_view){.seen = hob_history_create()};
}

void hob_history_view_finish(hob_history_view *v) {
    hob_history_destroy(v->seen);
    v->seen = NULL;
}

/* ---- whose is it? -------------------------------------------------------------------------------------- */

static bool is_visible(const hob_node *n, const hob_viewer *who) {
    return hob_branch_sees(who->branch, n->event->branch);
}

static bool is_foreign(const hob_node *n, const hob_viewer *who) {
    return n->role == HOB_ROLE_ASSISTANT && n->event->agent.n &&
           !hob_str_eq(n->event->agent, who->agent);
}

/* ---- what others did, in words --------------------------------------------------------------------------- */

typedef struct telling {
    hob_str who;
    hob_jsonw w;
    hob_buf line;
    bool any;
} telling;

static void put_line(telling *t) {
    hob_jsonw_object(&t->w);
    hob_jsonw_kstr(&t->w, "type", HOB_STR("text"));
    hob_jsonw_kstr(&t->w, "text", hob_buf_str(&t->line));
    hob_jsonw_object_end(&t->w);
    t->any = true;
}

static void tell_call(telling *t, const hob_json *b) {
    hob_str args = hob_json_raw(hob_json_get(b, "args"));
    hob_buf_reset(&t->line);
    hob_buf_addf(&t->line, "[%.*s] called tool `%.*s` with parameters: ", HOB_FMT(t->who),
                 HOB_FMT(hob_json_get_str(b, "name")));
    hob_buf_add(&t->line, args.n ? args : HOB_STR("{}"));
    put_line(t);
}

static void tell_result(telling *t, const hob_json *call, hob_str content) {
    hob_buf_reset(&t->line);
    hob_buf_addf(&t->line, "[%.*s] tool `%.*s` returned result: ", HOB_FMT(t->who),
                 HOB_FMT(hob_json_get_str(call, "name")));
    hob_buf_add(&t->line, content);
    put_line(t);
}

static void tell_text(telling *t, const hob_json *b) {
    hob_buf_reset(&t->line);
    hob_buf_addf(&t->line, "[%.*s] said: ", HOB_FMT(t->who));
    hob_buf_add(&t->line, hob_json_get_str(b, "text"));
    put_line(t);
}

static void tell_blocks(telling *t, const hob_json *content) {
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        hob_str type = hob_json_get_str(b, "type");
        if (hob_str_eqz(type, "text")) tell_text(t, b);
        if (hob_str_eqz(type, "tool_call")) tell_call(t, b);
    }
}

static void tell_results(telling *t, const hob_node *n, const hob_json *content) {
    size_t k = 0;
    for (const hob_json *b = hob_json_first(content); b && k < n->nresults; b = hob_json_next(b))
        if (hob_str_eqz(hob_json_get_str(b, "type"), "tool_call")) {
            if (n->results[k].event) tell_result(t, b, n->results[k].content);
            k++;
        }
}

/* NULL = there is nothing to tell. Heap. */
static char *tell(const hob_node *n, const hob_viewer *who, size_t *length) {
    const hob_json *content = NULL;
    hob_arena *a = hob_arena_create(0);
    hob_buf out;
    telling t = {.who = n->event->agent};
    hob_buf_init(&out, HOB_EVENT_MAX * 2u);
    hob_buf_init(&t.line, HOB_EVENT_MAX * 2u);
    hob_jsonw_init(&t.w, &out);
    hob_jsonw_array(&t.w);
    hob_buf_addz(&t.line, "For context:");
    put_line(&t);
    t.any = false;
    (void)hob_json_parse(a, n->content, NULL, &content, NULL);
    if (!who->isolate) tell_blocks(&t, content);
    tell_results(&t, n, content);
    hob_jsonw_array_end(&t.w);
    char *text = t.any && !out.err ? hob_dupz(hob_buf_str(&out)) : NULL;
    *length = out.n;
    hob_buf_finish(&out);
    hob_buf_finish(&t.line);
    hob_arena_destroy(a);
    return text;
}

static void add_told(hob_history *seen, const hob_node *n, const hob_viewer *who) {
    size_t length;
    if (who->isolate && !who->keep_responses) return;
    char *text = tell(n, who, &length);
    if (text) hob_history_push_made(seen, n, text, length);
}

static bool is_turning_point(const hob_node *n, const hob_viewer *who) {
    return is_visible(n, who) && (n->role == HOB_ROLE_USER || is_foreign(n, who));
}

/* Where the current turn begins: behind what the agent said itself since somebody else spoke. */
static size_t turn_start(const hob_history *all, const hob_viewer *who) {
    size_t i = all->npath;
    while (i > 0 && !is_turning_point(&all->nodes[all->path[i - 1]], who)) i--;
    return i ? i - 1 : 0;
}

/* ---- what came while an answer was made ------------------------------------------------------------------------ */

/* The event with which the model was asked for it: that is what its message is named after. */
static uint64_t asked_at(const hob_node *n) {
    int64_t seq = 0;
    if (n->message.n < 2 || hob_str_int(hob_str_skip(n->message, 1), &seq) < 0 || seq < 0) return 0;
    return (uint64_t)seq;
}

static bool is_own(const hob_node *n, const hob_viewer *who) {
    return n->role == HOB_ROLE_ASSISTANT && is_visible(n, who) && !is_foreign(n, who);
}

static bool is_whole(const hob_node *n) {
    for (size_t k = 0; k < n->nresults; k++)
        if (!n->results[k].event) return false;
    return true;
}

/* The user's words at `at` came while this answer was made; 0 = none, else 1 + its place. */
static size_t answer_before(const hob_history *all, size_t at, const hob_viewer *who) {
    const hob_node *n = &all->nodes[all->path[at]];
    if (n->event->type != HOB_EVENT_STEER_DELIVERED && n->event->type != HOB_EVENT_CHILD_REPORTED)
        return 0;
    for (size_t i = at + 1; i < all->npath; i++) {
        const hob_node *next = &all->nodes[all->path[i]];
        if (is_own(next, who)) return asked_at(next) < n->seq ? i + 1 : 0;
    }
    return 0;
}

/* ---- bringing it up to date -------------------------------------------------------------------------------- */

static void begin_anew(hob_history_view *v, const hob_history *all, size_t from) {
    uint64_t generation = v->seen->generation + 1;
    hob_history_destroy(v->seen);
    *v = (hob_history_view){
        .seen = hob_history_create(), .from = from, .upto = from, .generation = all->generation};
    v->seen->generation = generation;
}

/* False: it cannot be looked at yet. */
static bool look_at(hob_history_view *v, const hob_history *all, const hob_viewer *who) {
    const hob_node *n = &all->nodes[all->path[v->upto]];
    if (!is_visible(n, who) || v->ahead == v->upto + 1) return true;
    if (!is_whole(n) || (who->asked && n->seq > who->asked)) return false;
    size_t before = v->ahead > v->upto ? 0 : answer_before(all, v->upto, who);
    if (before) {
        const hob_node *answer = &all->nodes[all->path[before - 1]];
        if (!is_whole(answer)) return false;
        if (v->upto > v->from) hob_history_push_copy(v->seen, answer); /* else of a turn before */
        v->ahead = before;
    }
    if (is_foreign(n, who))
        add_told(v->seen, n, who);
    else
        hob_history_push_copy(v->seen, n);
    return true;
}

void hob_history_view_update(hob_history_view *v, const hob_history *all, const hob_viewer *who) {
    size_t from = who->current_only ? turn_start(all, who) : 0;
    if (v->generation != all->generation || v->from != from || v->upto > all->npath)
        begin_anew(v, all, from);
    while (v->upto < all->npath && look_at(v, all, who)) v->upto++;
}
