#include "log/history_view.h"

#include "log/branch.h"
#include "log/tell.h"

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

static hob_str inside(const hob_json *block, const char *key) {
    const hob_json *v = hob_json_get(block, key);
    return hob_json_is(v, HOB_JSON_STRING) ? hob_tell_inside(hob_json_raw(v)) : HOB_STR_NULL;
}

static bool is_call(const hob_json *block) {
    return hob_str_eqz(hob_json_get_str(block, "type"), "tool_call");
}

/* Images are shown as they are; thoughts are not told. */
static size_t tell_blocks(hob_buf *out, hob_str who, const hob_json *content) {
    size_t told = 0;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        hob_str type = hob_json_get_str(b, "type");
        bool text = hob_str_eqz(type, "text"), image = hob_str_eqz(type, "image");
        if (text) hob_tell_said(out, who, inside(b, "text"));
        if (image) hob_tell_shown(out, hob_json_raw(b));
        if (is_call(b))
            hob_tell_called(out, who, inside(b, "name"), hob_json_raw(hob_json_get(b, "args")));
        told += text || image || is_call(b);
    }
    return told;
}

static size_t tell_results(hob_buf *out, const hob_node *n, const hob_json *content) {
    size_t k = 0, told = 0;
    for (const hob_json *b = hob_json_first(content); b && k < n->nresults; b = hob_json_next(b)) {
        if (!is_call(b)) continue;
        const hob_slot *r = &n->results[k++];
        if (!r->event) continue;
        hob_tell_returned(out, n->event->agent, inside(b, "name"), r->content);
        told++;
    }
    return told;
}

/* NULL = there is nothing to tell. Heap. */
static char *tell(const hob_node *n, const hob_viewer *who, size_t *length) {
    const hob_json *content = NULL;
    hob_arena *a = hob_arena_create(0);
    hob_buf out;
    hob_buf_init(&out, HOB_EVENT_MAX * 2u);
    (void)hob_json_parse(a, n->content, NULL, &content, NULL);
    hob_tell_begin(&out);
    size_t told = who->isolate ? 0 : tell_blocks(&out, n->event->agent, content);
    told += tell_results(&out, n, content);
    hob_tell_end(&out);
    char *text = told && !out.err ? hob_dupz(hob_buf_str(&out)) : NULL;
    *length = out.n;
    hob_buf_finish(&out);
    hob_arena_destroy(a);
    return text;
}

static void add_told(hob_history *seen, const hob_node *n, const hob_viewer *who) {
    size_t length;
    if (who->isolate && !who->keep_responses) return;
    char *text = tell(n, who, &length);
    if (text) hob_history_push_made(seen, n, text, length);
}

static bool is_told(const hob_node *n, const hob_viewer *who) {
    size_t length;
    char *text = who->isolate ? NULL : tell(n, who, &length);
    bool told = text != NULL;
    hob_free(text);
    return told;
}

/* Somebody else spoke, and the agent hears of it. */
static bool is_turning_point(const hob_node *n, const hob_viewer *who) {
    if (!is_visible(n, who)) return false;
    return n->role == HOB_ROLE_USER || (is_foreign(n, who) && is_told(n, who));
}

/* Where the current turn begins: behind what the agent said itself since somebody else spoke. */
static size_t turn_start(const hob_history *all, const hob_viewer *who) {
    size_t i = all->npath;
    while (i > 0 && who->asked && all->nodes[all->path[i - 1]].seq > who->asked) i--;
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

/* Calls of a run that is over have the results they will ever have. */
static bool is_whole(const hob_node *n, const hob_history *all) {
    const hob_node *newest = &all->nodes[all->path[all->npath - 1]];
    bool over = !hob_str_eq(n->event->run_id, newest->event->run_id);
    for (size_t k = 0; k < n->nresults && !over; k++)
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

/* An agent that is asked again though nobody spoke since its last answer, as in a loop, needs a word to answer to: to a
 * model an answer that stands last is one to be continued. */
static const hob_node *answered(const hob_history_view *v) {
    const hob_node *last = v->seen->nnodes ? &v->seen->nodes[v->seen->nnodes - 1] : NULL;
    if (!last || last->role != HOB_ROLE_ASSISTANT || last->nresults) return NULL;
    return hob_str_find(last->event->data, HOB_STR("\"stop\":\"continue\"")) < 0 ? last : NULL;
}

static void push_word(hob_history_view *v, const hob_node *about) {
    hob_str word = HOB_STR("[{\"type\":\"text\",\"text\":\"It is your turn again. Go on.\"}]");
    hob_history_push_made(v->seen, about, hob_dupz(word), word.n);
}

/* What a function said for the agent was not asked for: its message is named after itself. */
static void push_own(hob_history_view *v, const hob_node *n) {
    if (answered(v) && asked_at(n) < n->seq) push_word(v, answered(v));
    hob_history_push_copy(v->seen, n);
}

/* False: it cannot be looked at yet. */
static bool look_at(hob_history_view *v, const hob_history *all, const hob_viewer *who) {
    const hob_node *n = &all->nodes[all->path[v->upto]];
    if (!is_visible(n, who) || v->ahead == v->upto + 1) return true;
    if (!is_whole(n, all) || (who->asked && n->seq > who->asked)) return false;
    size_t before = v->ahead > v->upto ? 0 : answer_before(all, v->upto, who);
    if (before) {
        const hob_node *answer = &all->nodes[all->path[before - 1]];
        if (!is_whole(answer, all)) return false;
        if (v->upto > v->from) push_own(v, answer); /* else of a turn before */
        v->ahead = before;
    }
    if (is_foreign(n, who))
        add_told(v->seen, n, who);
    else if (n->role == HOB_ROLE_ASSISTANT)
        push_own(v, n);
    else
        hob_history_push_copy(v->seen, n);
    return true;
}

/* The word at the end stands if the agent's own answer is what follows, or nothing yet. */
static bool goes_on(hob_history_view *v, const hob_history *all, const hob_viewer *who) {
    size_t i = v->upto;
    while (i < all->npath && !is_visible(&all->nodes[all->path[i]], who)) i++;
    if (i == all->npath || (who->asked && all->nodes[all->path[i]].seq > who->asked)) return true;
    v->prompted = false;
    return is_own(&all->nodes[all->path[i]], who);
}

void hob_history_view_update(hob_history_view *v, const hob_history *all, const hob_viewer *who) {
    size_t from = who->current_only ? turn_start(all, who) : 0;
    if (v->generation != all->generation || v->from != from || v->upto > all->npath)
        begin_anew(v, all, from);
    if (v->prompted && !goes_on(v, all, who)) begin_anew(v, all, from);
    while (v->upto < all->npath && look_at(v, all, who)) v->upto++;
    if (!who->asked || !answered(v)) return;
    push_word(v, answered(v));
    v->prompted = true;
}
