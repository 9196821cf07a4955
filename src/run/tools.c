/*
 * tools.c - the calls of one answer: decide each, ask where asking is due, start, and close.
 *
 * Calls run one after the other in the order of the answer, except when all of them only read, or all start
 * sub-agents: then they run side by side. When one must be asked about, so are those after it: a person answers all of
 * them at once, in any order, and each still runs in its turn. Each call gets exactly one tool_finished. A call that has
 * not started is closed without running when the run ends, when the answer was cut off, or when the user steered.
 *
 * A question to the user is a call like any other, except that its approval has an answer. That only a person can give:
 * what rules and modes would let run is asked about all the same.
 */
#include "run/run.h"

#include <stdio.h>

uint64_t hob_call_hash(const hob_call *c) {
    return hob_str_hash(c->name) * 31 + hob_str_hash(c->args);
}

/* Why a call that has not started must not start any more; NULL = it may. */
static const char *closed_because(const hob_run *r, const hob_run_env *env) {
    switch (r->ending) {
    case HOB_ENDING_CANCEL:
    case HOB_ENDING_ABORT: return "cancelled: the user stopped the run before this call started";
    case HOB_ENDING_SETTLE: return "skipped: the run was interrupted before this call started";
    case HOB_ENDING_LIMIT: return "skipped: the run reached a limit before this call started";
    case HOB_ENDING_FAILED: return "skipped: the run failed before this call started";
    case HOB_ENDING_NONE: break;
    }
    if (r->cut)
        return "error: the answer was cut off at its length limit, so none of its calls was run; "
               "make the call again, in smaller pieces";
    bool steered = hob_run_purse(r, env)->steer.n || r->steered; /* by another strand's delivery */
    if (steered && !env->after_batch) return "skipped: the user steered";
    return NULL;
}

static hob_outcome closed_outcome(const hob_run *r) {
    if (r->ending == HOB_ENDING_CANCEL || r->ending == HOB_ENDING_ABORT)
        return HOB_OUTCOME_CANCELLED;
    return !r->ending && r->cut ? HOB_OUTCOME_ERROR : HOB_OUTCOME_SKIPPED;
}

/* ---- may it run? -------------------------------------------------------------------------------- */

typedef struct verdict {
    hob_decision decision;
    const char *by;
    hob_str reason;
    bool nobody, invalid, warn, beside, question;
    hob_tool_class class_;
} verdict;

static verdict repeat_refusal(void) {
    return (verdict){.decision = HOB_DENY,
                     .by = "repeat_guard",
                     .reason = HOB_STR("the same call was made four times in a row")};
}

/* How often in a row this call was made, if it is made now; one that is decided again was counted. */
static int repeats_with(const hob_run *r, const hob_call *c) {
    if (c->state != HOB_CALL_NEW) return 0;
    return hob_call_hash(c) == r->repeat_hash ? r->repeats + 1 : 1;
}

/* A person's yes holds for what the rules leave to a person, not against them. */
static verdict ask(const hob_run_env *env, const hob_call *c, verdict v) {
    v.nobody = !c->approved && !env->can_ask;
    v.decision = c->approved ? HOB_ALLOW : v.nobody ? HOB_DENY : HOB_ASK;
    if (c->approved) v.by = "approval";
    if (v.nobody && v.question)
        v.reason = HOB_STR("nobody is there to answer: go on with the best assumption you can make "
                           "and say which, or end with what you need to know");
    else if (v.nobody)
        v.reason = HOB_STR("it needs an approval and nobody can be asked");
    return v;
}

static verdict judge(const hob_run *r, const hob_run_env *env, const hob_call *c) {
    hob_tool_facts facts = {0};
    hob_policy_answer answer;
    int repeats = repeats_with(r, c);
    if (repeats >= HOB_REPEATS_REFUSE) return repeat_refusal();
    env->tool(env->user, c->name, c->args, &facts);
    verdict v = {.decision = HOB_DENY, .by = "tool", .reason = hob_str_z(facts.error)};
    v.invalid = facts.error;
    if (v.invalid) return v;
    hob_policy_check(env->policy, c->name, facts.class_, c->args, &answer);
    v.decision = answer.decision;
    v.by = answer.by;
    v.reason = hob_str_z(answer.reason);
    v.class_ = facts.class_;
    v.beside = facts.beside;
    v.question = facts.question;
    v.warn = c->warn || repeats == HOB_REPEATS_WARN;
    if (v.question && v.decision == HOB_ALLOW) {
        v.decision = HOB_ASK;
        v.by = "question";
        v.reason = HOB_STR_NULL;
    }
    return v.decision == HOB_ASK ? ask(env, c, v) : v;
}

/* The rules in force when a call starts count: between its decision and its turn the program may have been started
 * again, with others. */
static bool still_stands(const hob_run *r, const hob_run_env *env, const hob_call *c) {
    verdict v = judge(r, env, c);
    hob_decision was = c->state == HOB_CALL_ASK ? HOB_ASK : HOB_ALLOW;
    return v.decision == was && v.class_ == c->class_;
}

static const char *class_name(hob_tool_class c) {
    return c == HOB_TOOL_READ_ONLY    ? "read_only"
           : c == HOB_TOOL_IDEMPOTENT ? "idempotent"
                                      : "unsafe";
}

static int say_decided(const hob_run *r, const hob_run_env *env, const hob_call *c,
                       hob_draft *out) {
    static const char *const decisions[] = {
        [HOB_ALLOW] = "allow", [HOB_ASK] = "ask", [HOB_DENY] = "deny"};
    verdict v = judge(r, env, c);
    hob_jsonw w = hob_say(r, HOB_EVENT_TOOL_DECIDED, out);
    hob_jsonw_kstr(&w, "call", c->call);
    hob_jsonw_kstr(&w, "tool", c->name);
    hob_jsonw_kstr(&w, "decision", hob_str_z(decisions[v.decision]));
    hob_jsonw_kstr(&w, "by", hob_str_z(v.by));
    hob_jsonw_kstr_opt(&w, "reason", v.reason);
    hob_jsonw_kstr(&w, "class", hob_str_z(class_name(v.class_)));
    if (v.nobody) hob_jsonw_kbool(&w, "nobody_to_ask", true);
    if (v.invalid) hob_jsonw_kbool(&w, "invalid", true);
    if (v.warn) hob_jsonw_kbool(&w, "warning", true);
    if (v.beside) hob_jsonw_kbool(&w, "parallel", true);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* ---- start, ask, close ----------------------------------------------------------------------------- */

static int say_started(const hob_run *r, const hob_call *c, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_TOOL_STARTED, out);
    hob_jsonw_kstr(&w, "call", c->call);
    hob_jsonw_kstr(&w, "tool", c->name);
    hob_jsonw_kraw(&w, "args", c->args);
    hob_jsonw_kstr(&w, "class", hob_str_z(class_name(c->class_)));
    if (c->state == HOB_CALL_LOST) hob_jsonw_kbool(&w, "again", true);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* In the event, so that whoever shows it need not know the tool. */
static void write_question(hob_jsonw *w, const hob_call *c) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *args = NULL, *schema;
    hob_json_parse(a, c->args, NULL, &args, NULL); /* was checked when it was decided */
    hob_jsonw_kstr(w, "question", hob_json_get_str(args, "question"));
    if ((schema = hob_json_get(args, "schema"))) hob_jsonw_kraw(w, "schema", hob_json_raw(schema));
    hob_arena_destroy(a);
}

/* With why it is asked: who shows it need not have seen the decision, which for a sub-agent is in another log. */
static int say_requested(const hob_run *r, const hob_run_env *env, const hob_call *c,
                         hob_draft *out) {
    char hash[17];
    verdict v = judge(r, env, c);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)hob_call_hash(c));
    hob_jsonw w = hob_say(r, HOB_EVENT_APPROVAL_REQUESTED, out);
    hob_jsonw_kstr(&w, "call", c->call);
    hob_jsonw_kstr(&w, "tool", c->name);
    hob_jsonw_kraw(&w, "args", c->args);
    hob_jsonw_kstr(&w, "args_hash", hob_str_z(hash));
    hob_jsonw_kstr(&w, "rule", hob_str_z(v.by));
    hob_jsonw_kstr_opt(&w, "reason", v.reason);
    hob_jsonw_kstr(&w, "class", hob_str_z(class_name(v.class_)));
    if (v.question) write_question(&w, c);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* The question is withdrawn; nobody answered it. */
static int say_withdrawn(const hob_run *r, const hob_call *c, const char *why, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_APPROVAL_RESOLVED, out);
    hob_jsonw_kstr(&w, "call", c->call);
    hob_jsonw_kbool(&w, "approved", false);
    hob_jsonw_kstr(&w, "reason", hob_str_z(why));
    hob_jsonw_kstr(&w, "by", r->ending ? HOB_STR("end") : HOB_STR("steer"));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static int say_denied(const hob_run *r, const hob_call *c, hob_draft *out) {
    hob_buf text;
    hob_buf_init(&text, HOB_EVENT_MAX);
    hob_buf_addz(&text, c->invalid    ? "error: "
                        : c->declined ? "the user did not answer"
                                      : "denied: ");
    if (c->declined && c->reason.n) hob_buf_addz(&text, ": ");
    hob_buf_add(&text, c->reason);
    hob_outcome outcome = c->invalid ? HOB_OUTCOME_ERROR : HOB_OUTCOME_DENIED;
    int said = hob_say_result(r, c, outcome, hob_buf_str(&text), out);
    hob_buf_finish(&text);
    return said;
}

static size_t at_work(const hob_run *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->ncalls; i++) n += r->calls[i].state == HOB_CALL_STARTED;
    return n;
}

/* A limit ends the run when the calls that were within it are done. */
static int stop_at_limit(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    const hob_run *purse = hob_run_purse(r, env);
    double calls = (double)(purse->spent.tool_calls + hob_run_granted(purse).tool_calls);
    double max = (double)purse->limits.tool_calls;
    if (at_work(r) || env->others_first) return HOB_SAID_NOTHING;
    return hob_run_say_over(r, env, (hob_stopper){"tool_calls", calls, max, false, 1}, out);
}

/* The turn of a call has come. */
static int start(const hob_run *r, const hob_run_env *env, const hob_call *c, hob_draft *out) {
    bool asks = c->state == HOB_CALL_ASK;
    const hob_run *purse = hob_run_purse(r, env);
    int64_t calls = purse->spent.tool_calls + hob_run_granted(purse).tool_calls;
    if (!asks && purse->limits.tool_calls && calls >= purse->limits.tool_calls)
        return stop_at_limit(r, env, out);
    if (!still_stands(r, env, c)) return say_decided(r, env, c, out);
    return asks ? say_requested(r, env, c, out) : say_started(r, c, out);
}

/* A call whose process died: repeated only if that does no harm and is still allowed. */
static int recover(const hob_run *r, const hob_run_env *env, const hob_call *c, hob_draft *out) {
    bool harmless = !r->ending && c->class_ != HOB_TOOL_UNSAFE;
    if (harmless && still_stands(r, env, c)) return say_started(r, c, out);
    return hob_say_result(
        r, c, HOB_OUTCOME_UNKNOWN,
        HOB_STR("unknown: the program stopped while this call was running; it may have had "
                "some, all or none of its effects; look before repeating it"),
        out);
}

/* ---- the batch --------------------------------------------------------------------------------------- */

static bool side_by_side(const hob_run *r) {
    bool reads = true, alike = true;
    for (size_t i = 0; i < r->ncalls; i++) {
        const hob_call *c = &r->calls[i];
        if (c->state == HOB_CALL_DENIED || c->state == HOB_CALL_DONE) continue;
        if (c->state == HOB_CALL_ASK || c->state == HOB_CALL_WAITING) return false;
        reads = reads && c->class_ == HOB_TOOL_READ_ONLY;
        alike = alike && c->beside;
    }
    return reads || alike;
}

/* `turn` true: every call before this one is done, or all run side by side and there is room; or it is to be asked about,
 * and so is one before it. */
static int next_of_call(const hob_run *r, const hob_run_env *env, const hob_call *c, bool turn,
                        hob_draft *out) {
    const char *closed = closed_because(r, env);
    switch (c->state) {
    case HOB_CALL_NEW:
    case HOB_CALL_ALLOWED:
    case HOB_CALL_ASK:
        if (closed) return hob_say_result(r, c, closed_outcome(r), hob_str_z(closed), out);
        break;
    case HOB_CALL_DENIED: return say_denied(r, c, out);
    case HOB_CALL_WAITING: return closed ? say_withdrawn(r, c, closed, out) : HOB_SAID_NOTHING;
    case HOB_CALL_LOST: return recover(r, env, c, out);
    case HOB_CALL_STARTED:
    case HOB_CALL_DONE: return HOB_SAID_NOTHING;
    }
    if (c->state == HOB_CALL_NEW) return say_decided(r, env, c, out);
    return turn ? start(r, env, c, out) : HOB_SAID_NOTHING;
}

int hob_run_next_tools(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    for (size_t i = 0; i < r->ncalls; i++) /* all are decided before the first starts */
        if (r->calls[i].state == HOB_CALL_NEW)
            return next_of_call(r, env, &r->calls[i], false, out);
    bool parallel = side_by_side(r), room = at_work(r) < HOB_PARALLEL_MAX, before_done = true;
    bool asking = false;
    for (size_t i = 0; i < r->ncalls; i++) {
        const hob_call *c = &r->calls[i];
        bool turn = parallel ? room : before_done || (asking && c->state == HOB_CALL_ASK);
        int said = next_of_call(r, env, c, turn, out);
        if (said) return said;
        before_done = before_done && c->state == HOB_CALL_DONE;
        asking = asking || c->state == HOB_CALL_WAITING;
    }
    return HOB_SAID_NOTHING;
}
