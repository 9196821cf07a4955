#include "log/history.h"

hob_history *hob_history_create(void) {
    hob_history *h = HOB_NEW(hob_history);
    h->leaf = -1;
    return h;
}

void hob_history_destroy(hob_history *h) {
    if (!h) return;
    for (size_t i = 0; i < h->nnodes; i++) {
        for (size_t k = 0; k < h->nodes[i].nresults; k++)
            hob_event_unref(h->nodes[i].results[k].event);
        hob_free(h->nodes[i].results);
        hob_free(h->nodes[i].made);
        hob_event_unref(h->nodes[i].event);
    }
    hob_free(h->nodes);
    hob_free(h->path);
    hob_free(h);
}

uint64_t hob_entry_seq(hob_str entry) {
    int64_t n;
    if (entry.n < 2 || entry.p[0] != 'e' || hob_str_int(hob_str_skip(entry, 1), &n) < 0 || n <= 0)
        return 0;
    return (uint64_t)n;
}

static ptrdiff_t find_node(const hob_history *h, uint64_t seq) {
    size_t lo = 0, hi = h->nnodes;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (h->nodes[mid].seq < seq)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < h->nnodes && h->nodes[lo].seq == seq ? (ptrdiff_t)lo : -1;
}

const hob_node *hob_history_find(const hob_history *h, uint64_t seq) {
    ptrdiff_t i = find_node(h, seq);
    return i < 0 ? NULL : &h->nodes[i];
}

uint64_t hob_history_leaf(const hob_history *h) {
    return h->leaf < 0 ? h->cold.leaf : h->nodes[h->leaf].seq;
}

/* ---- the path ------------------------------------------------------------------------------ */

enum { IMAGE_WEIGHT = 6400 };

size_t hob_content_weight(const hob_json *content) {
    size_t weight = 2;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        bool image = hob_str_eqz(hob_json_get_str(b, "type"), "image");
        weight += image ? IMAGE_WEIGHT : hob_json_raw(b).n + 1;
    }
    return weight;
}

size_t hob_node_weight(const hob_node *n) {
    size_t weight = n->weight;
    for (size_t k = 0; k < n->nresults; k++) weight += n->results[k].weight;
    return weight;
}

/* The path grows with the tree, so it is sorted. */
static bool is_on_path(const hob_history *h, size_t node) {
    size_t lo = 0, hi = h->npath;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (h->path[mid] < node)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < h->npath && h->path[lo] == node;
}

static void path_reserve(hob_history *h, size_t n) {
    if (n <= h->path_cap) return;
    h->path_cap = HOB_MAX(n, h->path_cap * 2);
    h->path = hob_realloc(h->path, h->path_cap * sizeof *h->path);
}

static void path_push(hob_history *h, size_t node) {
    path_reserve(h, h->npath + 1);
    h->path[h->npath++] = node;
    h->bytes += hob_node_weight(&h->nodes[node]);
}

static void path_rebuild(hob_history *h) {
    size_t n = 0;
    for (ptrdiff_t i = h->leaf; i >= 0; i = h->nodes[i].parent) n += !h->nodes[i].aborted;
    path_reserve(h, n);
    h->npath = n;
    h->bytes = h->cold.bytes;
    h->generation++;
    for (ptrdiff_t i = h->leaf; i >= 0; i = h->nodes[i].parent) {
        if (h->nodes[i].aborted) continue;
        h->path[--n] = (size_t)i;
        h->bytes += hob_node_weight(&h->nodes[i]);
    }
}

/* ---- the fold ------------------------------------------------------------------------------- */

static hob_str content_of(const hob_json *content) {
    return hob_json_is(content, HOB_JSON_ARRAY) ? hob_json_raw(content) : HOB_STR("[]");
}

static int say_cold(const hob_history *h, hob_str what, hob_error *err) {
    return hob_fail(err, HOB_ENOENT, 0, "%.*s is not among the messages after e%llu", HOB_FMT(what),
                    (unsigned long long)h->cold.leaf);
}

/* An entry that hangs on nothing known begins a conversation of its own; not so when it may hang on what is cold. */
static int find_parent(const hob_history *h, const hob_event *e, ptrdiff_t *out, hob_error *err) {
    uint64_t seq = hob_entry_seq(e->parent_entry);
    *out = seq ? find_node(h, seq) : -1;
    if (*out >= 0 || !h->cold.count || seq == h->cold.leaf) return HOB_OK;
    return say_cold(h, seq ? e->parent_entry : HOB_STR("the beginning"), err);
}

static hob_node *node_room(hob_history *h) {
    if (h->nnodes == h->cap) {
        h->cap = h->cap ? h->cap * 2 : 4;
        h->nodes = hob_realloc(h->nodes, h->cap * sizeof *h->nodes);
    }
    return &h->nodes[h->nnodes];
}

static void add_to_end(hob_history *h, hob_node *n) {
    n->parent = h->leaf;
    h->leaf = (ptrdiff_t)h->nnodes++;
    path_push(h, (size_t)h->leaf);
}

void hob_history_push_copy(hob_history *h, const hob_node *from) {
    hob_node *n = node_room(h);
    *n = *from;
    hob_event_ref(n->event);
    if (n->nresults) n->results = hob_alloc(n->nresults * sizeof *n->results);
    for (size_t k = 0; k < n->nresults; k++) {
        n->results[k] = from->results[k];
        if (n->results[k].event) hob_event_ref(n->results[k].event);
    }
    add_to_end(h, n);
}

/* `about` may be a node of this history, which moves as it grows. */
void hob_history_push_made(hob_history *h, const hob_node *about, char *text, size_t length) {
    hob_node made = {.seq = about->seq, .role = HOB_ROLE_USER, .made = text, .weight = length};
    made.event = hob_event_ref(about->event);
    hob_node *n = node_room(h);
    *n = made;
    n->content = hob_str_n(text, length);
    add_to_end(h, n);
}

/* Nodes keep slices of the event's own text, never of the arena that `data` lives in. */
static hob_node *node_push(hob_history *h, const hob_event *e, hob_role role,
                           const hob_json *data) {
    hob_node *n = node_room(h);
    *n = (hob_node){.seq = e->seq, .role = role, .event = hob_event_ref((hob_event *)e)};
    const hob_json *content = hob_json_get(data, "content");
    n->content = content_of(content);
    n->weight = hob_content_weight(content);
    n->model = hob_event_own(e, hob_json_get(data, "model"));
    n->message = hob_event_own(e, hob_json_get(data, "message"));
    return n;
}

static bool is_message(hob_event_type type) {
    return type == HOB_EVENT_USER_MESSAGE || type == HOB_EVENT_STEER_DELIVERED ||
           type == HOB_EVENT_CHILD_REPORTED || type == HOB_EVENT_ASSISTANT_MESSAGE;
}

static int add_entry(hob_history *h, const hob_event *e, hob_role role, const hob_json *data,
                     hob_error *err) {
    ptrdiff_t parent;
    int rc = find_parent(h, e, &parent, err);
    if (rc < 0) return rc;
    hob_node *n = node_push(h, e, role, data);
    n->parent = parent;
    const hob_json *content = hob_json_get(data, "content");
    n->aborted = !is_message(e->type) || hob_str_eqz(hob_json_get_str(data, "stop"), "aborted");
    for (const hob_json *b = hob_json_first(content); role == HOB_ROLE_ASSISTANT && b;
         b = hob_json_next(b))
        n->nresults += hob_str_eqz(hob_json_get_str(b, "type"), "tool_call");
    if (n->nresults) n->results = hob_alloc(n->nresults * sizeof *n->results);
    bool grows = n->parent == h->leaf;
    h->leaf = (ptrdiff_t)h->nnodes++;
    if (!grows)
        path_rebuild(h);
    else if (!n->aborted)
        path_push(h, (size_t)h->leaf);
    return HOB_OK;
}

/* "m14.2" -> the answer m14, slot 2. Calls end soon after their answer, so the search is from the end. */
static hob_slot *find_slot(const hob_history *h, hob_str call, ptrdiff_t *node) {
    ptrdiff_t dot = hob_str_chr(call, '.');
    int64_t slot;
    *node = -1;
    if (dot < 0 || hob_str_int(hob_str_skip(call, (size_t)dot + 1), &slot) < 0 || slot < 0)
        return NULL;
    hob_str message = hob_str_first(call, (size_t)dot);
    for (size_t i = h->nnodes; i-- > 0;) {
        const hob_node *n = &h->nodes[i];
        if (!n->nresults || !hob_str_eq(n->message, message)) continue;
        *node = (ptrdiff_t)i;
        return (size_t)slot < n->nresults ? &n->results[slot] : NULL;
    }
    return NULL;
}

static void fill(hob_history *h, ptrdiff_t node, hob_slot *r, const hob_event *e,
                 const hob_json *data) {
    size_t was = r->weight;
    hob_event_unref(r->event);
    r->event = hob_event_ref((hob_event *)e);
    r->content = content_of(hob_json_get(data, "content"));
    r->weight = hob_content_weight(hob_json_get(data, "content"));
    r->failed = !hob_str_eqz(hob_json_get_str(data, "outcome"), "ok");
    if (is_on_path(h, (size_t)node)) h->bytes = h->bytes - was + r->weight;
}

static int add_result(hob_history *h, const hob_event *e, const hob_json *data, hob_error *err) {
    hob_str call = hob_json_get_str(data, "call");
    ptrdiff_t node;
    hob_slot *r = find_slot(h, call, &node);
    if (node < 0 && h->cold.count && hob_str_chr(call, '.') >= 0) return say_cold(h, call, err);
    if (!r || r->event) return HOB_OK; /* the first end wins */
    fill(h, node, r, e, data);
    r->pending = hob_json_get_bool(data, "pending", false);
    return HOB_OK;
}

/* What was there changes: whoever keeps something made of it begins anew. */
static int update_result(hob_history *h, const hob_event *e, const hob_json *data, hob_error *err) {
    hob_str call = hob_json_get_str(data, "call");
    ptrdiff_t node;
    hob_slot *r = find_slot(h, call, &node);
    if (node < 0 && h->cold.count) return say_cold(h, call, err);
    if (!r || !r->pending) return HOB_OK; /* the last word counts */
    fill(h, node, r, e, data);
    r->pending = !hob_json_get_bool(data, "final", false);
    h->generation++;
    return HOB_OK;
}

int hob_history_pending(const hob_history *h, hob_str call, const hob_node **out, hob_error *err) {
    ptrdiff_t node;
    const hob_slot *r = find_slot(h, call, &node);
    if (!r || !r->event || !is_on_path(h, (size_t)node))
        return hob_fail(err, HOB_ENOENT, 0, "there is no call %.*s in this conversation that waits",
                        HOB_FMT(call));
    if (!r->pending)
        return hob_fail(err, HOB_EEXIST, 0, "the call %.*s has its result", HOB_FMT(call));
    *out = &h->nodes[node];
    return HOB_OK;
}

static int move(hob_history *h, const hob_json *data, hob_error *err) {
    hob_str to = hob_json_get_str(data, "to");
    uint64_t seq = hob_entry_seq(to);
    ptrdiff_t i = to.n ? find_node(h, seq) : -1;
    if (i < 0 && h->cold.count && seq != h->cold.leaf)
        return say_cold(h, to.n ? to : HOB_STR("the beginning"), err);
    if (to.n && i < 0 && !h->cold.count)
        return hob_fail(err, HOB_ENOENT, 0, "no entry %.*s", HOB_FMT(to));
    h->leaf = i;
    path_rebuild(h);
    return HOB_OK;
}

int hob_history_apply(hob_history *h, const hob_event *e, const hob_json *data, hob_error *err) {
    if (e->type == HOB_EVENT_ASSISTANT_MESSAGE)
        return add_entry(h, e, HOB_ROLE_ASSISTANT, data, err);
    if (is_message(e->type) || e->entry.n) return add_entry(h, e, HOB_ROLE_USER, data, err);
    if (e->type == HOB_EVENT_TOOL_FINISHED) return add_result(h, e, data, err);
    if (e->type == HOB_EVENT_TOOL_UPDATED) return update_result(h, e, data, err);
    if (e->type == HOB_EVENT_BRANCH_MOVED) return move(h, data, err);
    return HOB_OK;
}

/* ---- the provider's view ---------------------------------------------------------------------- */

/* What is cold has no content, which no encoder takes for a message: it cannot be sent by mistake. */
static const hob_node *at(const hob_history *h, size_t i) {
    static const hob_node nothing = {.parent = -1};
    return i < h->cold.count ? &nothing : &h->nodes[h->path[i - h->cold.count]];
}

size_t hob_history_count(const hob_history *h) {
    return h->cold.count + h->npath;
}

hob_role hob_history_role(const hob_history *h, size_t i) {
    return at(h, i)->role;
}

hob_str hob_history_content(const hob_history *h, size_t i) {
    return at(h, i)->content;
}

hob_str hob_history_model(const hob_history *h, size_t i) {
    return at(h, i)->model;
}

size_t hob_history_results(const hob_history *h, size_t i) {
    return at(h, i)->nresults;
}

/* A call without a result can only be seen while its batch is at work, when no provider is asked. Should one be
 * asked all the same, the conversation it gets is still valid, and says so. */
hob_str hob_history_result_content(const hob_history *h, size_t i, size_t k) {
    const hob_slot *r = &at(h, i)->results[k];
    return r->event ? r->content
                    : HOB_STR("[{\"type\":\"text\",\"text\":\"no result was recorded\"}]");
}

int hob_history_result_failed(const hob_history *h, size_t i, size_t k) {
    const hob_slot *r = &at(h, i)->results[k];
    return !r->event || r->failed;
}

uint64_t hob_history_generation(const hob_history *h) {
    return h->generation;
}
