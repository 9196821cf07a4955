/*
 * keep.c - a run at rest as JSON and back (log/keep.h). While something is under way, or waits, nothing is kept: then
 * the state has parts in memory that only the log can give back. What a run was told not to use ends with it, and so does
 * what it asked for.
 */
#include "log/keep.h"
#include "run/run.h"

#if __SIZEOF_POINTER__ == 8
_Static_assert(sizeof(hob_run) == 2784, "a member came to hob_run: keep it below");
#endif

#define RUN_INTS(X)                                                                                \
    X(agents_parked)                                                                               \
    X(reserved.tokens)                                                                             \
    X(last_seq)                                                                                    \
    X(left)                                                                                        \
    X(limits.turns)                                                                                \
    X(limits.tokens)                                                                               \
    X(limits.tool_calls)                                                                           \
    X(limits.ms)                                                                                   \
    X(spent.turns)                                                                                 \
    X(spent.tool_calls)                                                                            \
    X(spent.ms)                                                                                    \
    X(spent.usage.input_tokens)                                                                    \
    X(spent.usage.output_tokens)                                                                   \
    X(spent.usage.cache_read_tokens)                                                               \
    X(spent.usage.cache_write_tokens)                                                              \
    X(spent.usage.reasoning_tokens)                                                                \
    X(spent.cost_known)                                                                            \
    X(last_ts)                                                                                     \
    X(started_ts)                                                                                  \
    X(turn)                                                                                        \
    X(attempt)                                                                                     \
    X(want_model)                                                                                  \
    X(steered)                                                                                     \
    X(lost_model)                                                                                  \
    X(redo)                                                                                        \
    X(output_limit)                                                                                \
    X(due)                                                                                         \
    X(context_tokens)                                                                              \
    X(fresh_bytes)                                                                                 \
    X(cut)                                                                                         \
    X(state_due)                                                                                   \
    X(escalate)                                                                                    \
    X(temp_named)                                                                                  \
    X(repeats)                                                                                     \
    X(stuck)                                                                                       \
    X(ending)                                                                                      \
    X(hard)                                                                                        \
    X(fate)                                                                                        \
    X(fail.code)                                                                                   \
    X(fail.sub)                                                                                    \
    X(fail.retryable)                                                                              \
    X(fail.shown)                                                                                  \
    X(fail.retry_after)                                                                            \
    X(fail.jitter)                                                                                 \
    X(thresholds)

#define RUN_DOUBLES(X)                                                                             \
    X(reserved.usd)                                                                                \
    X(limits.cost_usd)                                                                             \
    X(spent.cost_usd)

#define RUN_TEXTS(X)                                                                               \
    X(id)                                                                                          \
    X(continues)                                                                                   \
    X(trace)                                                                                       \
    X(payer)                                                                                       \
    X(caller)                                                                                      \
    X(last_status)                                                                                 \
    X(message)                                                                                     \
    X(model)                                                                                       \
    X(end_reason)                                                                                  \
    X(fail.message)

bool hob_run_keeps(const hob_run *r) {
    return !r->strand && r->phase == HOB_PHASE_IDLE && r->settled && !r->active_since &&
           !r->unfinished && !r->ncalls && !r->steer.n && !r->follow.n && !r->reports.n &&
           !r->nkids && !r->next_prompt.content;
}

void hob_run_write(const hob_run *p, hob_jsonw *w) {
    hob_jsonw_object(w);
    RUN_INTS(HOB_KEEP_WRITE_INT)
    RUN_DOUBLES(HOB_KEEP_WRITE_DOUBLE)
    RUN_TEXTS(HOB_KEEP_WRITE_TEXT)
    HOB_KEEP_WRITE_STR(transfer)
    hob_jsonw_kint(w, "repeat_hash", (int64_t)p->repeat_hash); /* all 64 bits of it */
    hob_jsonw_object_end(w);
}

static bool in_range(const hob_run *r) {
    return r->left >= HOB_PHASE_IDLE && r->left <= HOB_PHASE_AGENTS &&
           r->ending >= HOB_ENDING_NONE && r->ending <= HOB_ENDING_FAILED &&
           r->fate >= HOB_QUEUE_RETURN && r->fate <= HOB_QUEUE_DROP;
}

int hob_run_read(hob_run *p, const hob_json *o) {
    int64_t number;
    RUN_INTS(HOB_KEEP_READ_INT)
    RUN_DOUBLES(HOB_KEEP_READ_DOUBLE)
    RUN_TEXTS(HOB_KEEP_READ_TEXT)
    HOB_KEEP_READ_STR(transfer)
    if (hob_json_int(hob_json_get(o, "repeat_hash"), &number) < 0) return HOB_EPARSE;
    p->repeat_hash = (uint64_t)number;
    return in_range(p) ? HOB_OK : HOB_EPARSE;
}
