#include "log/history.h"

/* Every call has its last result, and nothing of it comes after `before`. */
static bool is_closed(const hob_node *n, uint64_t before) {
    for (size_t k = 0; k < n->nresults; k++)
        if (!n->results[k].event || n->results[k].pending || n->results[k].event->seq >= before)
            return false;
    return true;
}

/* All that came from node `first` on hangs on it, or beside it. */
static bool stands_alone(const hob_history *h, size_t first) {
    for (size_t i = first; i < h->nnodes; i++) {
        ptrdiff_t parent = h->nodes[i].parent;
        if (parent < (ptrdiff_t)first && parent != h->nodes[first].parent) return false;
    }
    return true;
}

uint64_t hob_history_prefix(const hob_history *h, size_t count, uint64_t latest, hob_cold *out) {
    if (count < h->cold.count || count - h->cold.count >= h->npath) return 0;
    size_t kept = count - h->cold.count; /* place in the path of the first message that stays */
    while (kept && h->nodes[h->path[kept]].seq > latest) kept--;
    const hob_node *first = &h->nodes[h->path[kept]];
    if (first->seq > latest || h->cold.count + kept == 0 || !stands_alone(h, h->path[kept]))
        return 0;
    *out = (hob_cold){.count = h->cold.count + kept, .bytes = h->cold.bytes};
    out->leaf = first->parent < 0 ? h->cold.leaf : h->nodes[first->parent].seq;
    for (size_t i = 0; i < kept; i++) {
        const hob_node *n = &h->nodes[h->path[i]];
        if (!is_closed(n, first->seq)) return 0;
        out->bytes += hob_node_weight(n);
    }
    return first->seq;
}

bool hob_history_thaw(hob_history *h, hob_history *whole) {
    hob_history old = *h;
    bool agree = hob_history_count(h) == hob_history_count(whole) && h->bytes == whole->bytes &&
                 hob_history_leaf(h) == hob_history_leaf(whole);
    if (agree) {
        *h = *whole;
        h->generation = old.generation;
        *whole = old;
    }
    hob_history_destroy(whole);
    return agree;
}
