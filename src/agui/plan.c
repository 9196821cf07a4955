/*
 * plan.c - what an input asks of a session.
 *
 * A client sends its whole conversation every time. The log is what counts, so only what is new in it matters:
 *
 *   1. Approvals wait: nothing but their answers (resume) is taken, in any order, and what is not answered is asked
 *      again. An answer is yes only if its payload says {"approved": true}. To a question of the model's the payload is
 *      the answer, unless it is left, or {"approved": false} where that is not what was asked for.
 *   2. Tool messages for calls that wait for the client: their results.
 *   3. User messages at the end that the log does not have: the prompt. They go on from the last message before them that
 *      the log has; if that is not the end of the conversation, the client shows an earlier place (the user edited
 *      something), and the conversation moves there. Nothing is lost: the other branch stays in the tree.
 *   4. The last message is the user's and the log has it: another try. It is said again in its place. Not so in an input
 *      that answers something: what was answered before is no wish to try again.
 *
 * A client that has nothing of the conversation (its memory is the server) adds to the end of it. One that lacks the end
 * of it is shown what there is.
 */
#include "agui/plan.h"

#include "agui/content.h"
#include "agui/input.h"
#include "log/event.h"

#include <stdio.h>

/* ---- approvals ------------------------------------------------------------------------------------------------------------ */

static void warn(hob_agui_plan *p, const char *what, hob_str id) {
    char text[240];
    if (p->nwarnings == HOB_PLAN_WARNINGS) return;
    snprintf(text, sizeof text, "%s: %.*s", what,
             HOB_FMT(hob_str_first(id, hob_utf8_prefix(id, 120))));
    p->warnings[p->nwarnings++] = hob_arena_dup(p->arena, hob_str_z(text));
}

static hob_agui_step *add_step(hob_agui_plan *p) {
    hob_agui_step *s = &p->steps[p->nsteps++];
    *s = (hob_agui_step){.size = sizeof *s};
    return s;
}

static void check_state(hob_agui_plan *p) {
    hob_str state = hob_str_trim(hob_agui_input_state(p->in));
    if (state.n && state.p[0] != '{' && !hob_str_eqz(state, "null"))
        warn(p, "a session's state is an object, so what the client has was left out",
             HOB_STR("state"));
}

static bool find_resume(const hob_agui_plan *p, hob_str call, hob_agui_resume *out) {
    for (size_t i = 0; hob_agui_input_resume(p->in, i, out) == 0; i++)
        if (hob_str_eq(out->interrupt, call)) return true;
    return false;
}

/* Who says yes to other arguments has not said yes to these. */
static int check_verdict(hob_agui_plan *p, hob_str call, const hob_agui_resume *r, hob_error *err) {
    const hob_json *payload = NULL;
    if (r->payload.n) hob_json_parse(p->arena, r->payload, NULL, &payload, NULL);
    if (!hob_json_get(payload, "editedArgs")) return 0;
    return hob_fail(err, HOB_EINVAL, 0,
                    "the arguments of %.*s cannot be changed (editedArgs): approve the call as it "
                    "is, or say no and in `reason` what to do instead",
                    HOB_FMT(hob_str_first(call, hob_utf8_prefix(call, 120))));
}

static void add_verdict(hob_agui_plan *p, hob_str call, const hob_agui_resume *r) {
    hob_agui_step *s = add_step(p);
    const hob_json *payload = NULL;
    if (r->payload.n) hob_json_parse(p->arena, r->payload, NULL, &payload, NULL);
    bool yes = !r->cancelled && hob_json_get_bool(payload, "approved", false);
    s->call = hob_arena_dup(p->arena, call);
    s->verdict = yes ? HOB_VERDICT_ALLOW : HOB_VERDICT_DENY;
    s->reason = hob_json_get_str(payload, "reason");
    if (!yes && !s->reason.n && r->cancelled) s->reason = HOB_STR("the user left the question");
}

static void add_answer(hob_agui_plan *p, const hob_json *row, const hob_agui_resume *r) {
    const hob_json *payload = NULL,
                   *asked = hob_json_get(hob_json_get(row, "schema"), "properties");
    if (r->payload.n) hob_json_parse(p->arena, r->payload, NULL, &payload, NULL);
    const hob_json *approved = hob_json_get(payload, "approved");
    bool refused = hob_json_is(approved, HOB_JSON_BOOL) && !hob_json_bool(approved) &&
                   !hob_json_get(asked, "approved");
    add_verdict(p, hob_json_get_str(row, "call"), r);
    hob_agui_step *s = &p->steps[p->nsteps - 1];
    if (r->cancelled || refused) return;
    s->verdict = HOB_VERDICT_ALLOW;
    s->answer = r->payload;
}

/* Each is read once: it can be long. */
static const hob_json **rows_of(hob_agui_plan *p, const hob_page *page, size_t *n) {
    *n = page ? hob_page_count(page) : 0;
    const hob_json **rows = hob_arena_alloc(p->arena, (*n + 1) * sizeof *rows);
    for (size_t i = 0; rows && i < *n; i++)
        if (hob_json_parse(p->arena, hob_page_row(page, i), NULL, &rows[i], NULL) < 0)
            rows[i] = NULL;
    return rows;
}

static hob_str call_of(const hob_json *row) {
    return hob_json_get_str(row, "call");
}

static int plan_answers(hob_agui_plan *p, const hob_json **asks, size_t n, hob_error *err) {
    hob_agui_resume r;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (!find_resume(p, call_of(asks[i]), &r)) continue;
        if (hob_json_get(asks[i], "question"))
            add_answer(p, asks[i], &r);
        else if ((rc = check_verdict(p, call_of(asks[i]), &r, err)) == 0)
            add_verdict(p, call_of(asks[i]), &r);
    }
    p->todo = p->nsteps ? HOB_AGUI_DO_ANSWER : HOB_AGUI_DO_ASK_AGAIN;
    return rc;
}

/* "No" is no reason to end it: it stays as it is. */
static void plan_pause(hob_agui_plan *p) {
    hob_agui_resume r;
    const hob_json *payload = NULL;
    if (!find_resume(p, HOB_STR(HOB_AGUI_PAUSED), &r)) return;
    if (r.payload.n) hob_json_parse(p->arena, r.payload, NULL, &payload, NULL);
    p->pause = r.cancelled                                    ? HOB_AGUI_PAUSE_GIVE_UP
               : hob_json_get_bool(payload, "approved", true) ? HOB_AGUI_PAUSE_GO_ON
                                                              : HOB_AGUI_PAUSE_STAY;
}

/* Entries that answer nothing: told, and passed over. */
static void warn_strays(hob_agui_plan *p, const hob_json **asks, size_t n) {
    hob_agui_resume r;
    for (size_t i = 0; hob_agui_input_resume(p->in, i, &r) == 0; i++) {
        bool there = hob_str_eqz(r.interrupt, HOB_AGUI_PAUSED);
        for (size_t k = 0; k < n && !there; k++) there = hob_str_eq(r.interrupt, call_of(asks[k]));
        if (!there) warn(p, "no approval waits for this answer", r.interrupt);
    }
}

/* ---- results of the client's tools ------------------------------------------------------------------------------------------ */

static bool is_role(const hob_agui_message *m, const char *role) {
    return hob_str_eqz(m->role, role);
}

/* What answers a call: the newest message that does. */
static hob_map *read_results(const hob_agui_plan *p) {
    hob_map *results = hob_map_create();
    hob_agui_message m;
    for (size_t i = hob_agui_input_message_count(p->in); i-- > 0;) {
        hob_agui_input_message(p->in, i, &m);
        if (is_role(&m, "tool") && m.tool_call.n && !hob_map_get(results, m.tool_call))
            hob_map_put(results, m.tool_call, (void *)(uintptr_t)(i + 1));
    }
    return results;
}

static hob_str content_of(hob_agui_plan *p, const hob_agui_message *m, bool failed) {
    const hob_json *content = NULL;
    hob_buf b;
    hob_jsonw w;
    hob_json_parse(p->arena, m->content, NULL, &content, NULL);
    hob_buf_init(&b, (size_t)64 << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_array(&w);
    if (failed) hob_agui_write_text_block(&w, m->error, m->id);
    if (!failed || m->text.n) hob_agui_write_blocks(&w, content, failed ? HOB_STR_NULL : m->id);
    hob_jsonw_array_end(&w);
    hob_str text = hob_arena_dup(p->arena, hob_buf_str(&b));
    hob_buf_finish(&b);
    return text;
}

static void plan_results(hob_agui_plan *p, const hob_json **pending, size_t n) {
    hob_map *results = read_results(p);
    hob_agui_message m;
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)(uintptr_t)hob_map_get(results, call_of(pending[i]));
        if (!at) continue;
        hob_agui_input_message(p->in, at - 1, &m);
        hob_agui_step *s = add_step(p);
        s->call = hob_arena_dup(p->arena, call_of(pending[i]));
        s->update = m.error.n ? HOB_UPDATE_FAILURE_HELD : HOB_UPDATE_RESULT_HELD;
        s->content = content_of(p, &m, m.error.n > 0);
    }
    hob_map_destroy(results);
}

/* Results of calls that the log does not have are passed over, unless the input has nothing else to say. */
static int check_strangers(hob_agui_plan *p, hob_error *err) {
    size_t n = hob_agui_input_message_count(p->in);
    hob_agui_message m;
    for (size_t i = 0; hob_agui_input_message(p->in, i, &m) == 0; i++) {
        if (!is_role(&m, "tool") || hob_map_get(p->calls, m.tool_call)) continue;
        if (i + 1 == n && !p->nsteps && p->todo == HOB_AGUI_DO_NOTHING)
            return hob_fail(err, HOB_EINVAL, 0,
                            "messages[%zu] is the result of the call \"%.*s\", which this thread "
                            "does not have",
                            i,
                            HOB_FMT(hob_str_first(m.tool_call, hob_utf8_prefix(m.tool_call, 100))));
        warn(p, "the thread has no such call; its result was left out", m.tool_call);
    }
    return 0;
}

/* ---- what users said --------------------------------------------------------------------------------------------------------- */

/* The last message of the client's that the log has, or a result of one of its calls; -1: none. */
static ptrdiff_t last_known(const hob_agui_plan *p, hob_plan_place *at) {
    hob_agui_message m;
    for (size_t i = hob_agui_input_message_count(p->in); i-- > 0;) {
        hob_agui_input_message(p->in, i, &m);
        const hob_plan_place *found = hob_map_get(p->known, m.id);
        if (!found && is_role(&m, "tool")) found = hob_map_get(p->calls, m.tool_call);
        if (!found) continue;
        *at = *found;
        return (ptrdiff_t)i;
    }
    return -1;
}

static void put_context(hob_agui_plan *p, hob_jsonw *w) {
    hob_agui_context c;
    hob_buf b;
    if (!hob_agui_input_context_count(p->in)) return;
    hob_buf_init(&b, (size_t)32 << 20);
    hob_buf_addz(&b, "Context from the application:");
    for (size_t i = 0; hob_agui_input_context(p->in, i, &c) == 0; i++) {
        hob_buf_addz(&b, "\n- ");
        hob_buf_add(&b, c.description);
        hob_buf_addz(&b, ": ");
        hob_buf_add(&b, c.value);
    }
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("text"));
    hob_jsonw_kstr(w, "text", hob_buf_str(&b));
    hob_jsonw_kbool(w, "hidden", true);
    hob_jsonw_object_end(w);
    hob_buf_finish(&b);
}

static bool skip_digits(hob_str *s) {
    size_t n = 0;
    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9') n++;
    *s = hob_str_skip(*s, n);
    return n > 0;
}

/* e12, m14, m14-1, m14.0:result: as the log names messages. */
static bool is_ours(hob_str id) {
    if (!id.n || (id.p[0] != 'e' && id.p[0] != 'm')) return false;
    hob_str rest = hob_str_skip(id, 1);
    if (!skip_digits(&rest)) return false;
    if (!rest.n) return true;
    bool second = rest.p[0] == '-' || rest.p[0] == '.';
    rest = hob_str_skip(rest, 1);
    return second && skip_digits(&rest) && (!rest.n || hob_str_eqz(rest, ":result"));
}

/* Does the client show what the log names so, but has not? It comes from another thread, another branch, a log that is
 * gone. New things would get the same names: the client has to be told what there is. */
static bool has_foreign(const hob_agui_plan *p) {
    hob_agui_message m;
    for (size_t i = 0; hob_agui_input_message(p->in, i, &m) == 0; i++)
        if (is_ours(m.id) && !hob_map_get(p->known, m.id)) return true;
    return false;
}

/* User messages from `from` on, as content blocks; how many there were. */
static size_t write_prompt(hob_agui_plan *p, size_t from, hob_buf *out) {
    size_t n = 0;
    hob_agui_message m;
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_array(&w);
    put_context(p, &w);
    for (size_t i = from; hob_agui_input_message(p->in, i, &m) == 0; i++) {
        const hob_json *content = NULL;
        if (is_role(&m, "system") || is_role(&m, "developer"))
            warn(p, "instructions come from the agent, not from the client; left out", m.id);
        if (!is_role(&m, "user")) continue;
        hob_json_parse(p->arena, m.content, NULL, &content, NULL);
        hob_agui_write_blocks(&w, content, is_ours(m.id) ? HOB_STR_NULL : m.id);
        n++;
    }
    hob_jsonw_array_end(&w);
    return n;
}

static int plan_prompt(hob_agui_plan *p, hob_error *err) {
    size_t count = hob_agui_input_message_count(p->in);
    hob_plan_place at = {HOB_STR_NULL, HOB_STR_NULL};
    ptrdiff_t known = last_known(p, &at);
    hob_agui_message last;
    bool again = known >= 0 && (size_t)known + 1 == count && !hob_agui_input_resume_count(p->in) &&
                 hob_agui_input_message(p->in, (size_t)known, &last) == 0 && is_role(&last, "user");
    hob_buf b;
    hob_buf_init(&b, (size_t)64 << 20);
    size_t n = write_prompt(p, again ? (size_t)known : (size_t)(known + 1), &b);
    p->content = hob_arena_dup(p->arena, hob_buf_str(&b));
    int rc = b.err ? hob_fail(err, HOB_ETOOBIG, 0, "the prompt is too large") : 0;
    hob_buf_finish(&b);
    if (rc < 0 || !n) return rc;
    p->todo = HOB_AGUI_DO_PROMPT;
    p->to = again ? at.before : at.entry;
    p->moves = known >= 0 && !hob_str_eq(p->to, p->last);
    p->lost = known < 0 && p->last.n;
    p->foreign = has_foreign(p);
    return 0;
}

/* Does the client show the end of the conversation? */
static bool is_behind(const hob_agui_plan *p) {
    hob_plan_place at = {HOB_STR_NULL, HOB_STR_NULL};
    return p->last.n && (last_known(p, &at) < 0 || !hob_str_eq(at.entry, p->last));
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------------ */

static void release_last(hob_agui_plan *p) {
    hob_agui_step *s = &p->steps[p->nsteps - 1];
    s->update = s->update == HOB_UPDATE_FAILURE_HELD ? HOB_UPDATE_FAILURE : HOB_UPDATE_RESULT;
}

/* What is said while an approval waits is not heard. */
static void warn_unheard(hob_agui_plan *p) {
    hob_agui_message m;
    size_t n = hob_agui_input_message_count(p->in);
    if (!n || hob_agui_input_message(p->in, n - 1, &m) < 0 || !is_role(&m, "user")) return;
    if (!hob_map_get(p->known, m.id))
        warn(p, "the run waits for an answer, so this was left out: say it afterwards", m.id);
}

/* What is said along with an answer, behind what the thread has. */
static int plan_words(hob_agui_plan *p, hob_error *err) {
    hob_plan_place at;
    ptrdiff_t known = last_known(p, &at);
    hob_buf b;
    if (known < 0) {
        warn_unheard(p);
        return 0;
    }
    hob_buf_init(&b, (size_t)64 << 20);
    if (write_prompt(p, (size_t)known + 1, &b))
        p->content = hob_arena_dup(p->arena, hob_buf_str(&b));
    int rc = b.err ? hob_fail(err, HOB_ETOOBIG, 0, "the prompt is too large") : 0;
    hob_buf_finish(&b);
    return rc;
}

static int plan(hob_agui_plan *p, const hob_page *history, const hob_page *confirmations,
                const hob_page *pending_calls, hob_error *err) {
    size_t nasks, npending;
    const hob_json **asks = rows_of(p, confirmations, &nasks);
    const hob_json **pending = rows_of(p, pending_calls, &npending);
    if (!asks || !pending) return hob_fail(err, HOB_ETOOBIG, 0, "too much waits at once");
    p->steps = hob_alloc((nasks + npending + 1) * sizeof *p->steps);
    int rc = hob_plan_read_history(p, history, err);
    if (rc < 0) return rc;
    plan_pause(p);
    check_state(p);
    warn_strays(p, asks, nasks);
    p->lost = is_behind(p);
    if (nasks) {
        rc = plan_answers(p, asks, nasks, err);
        if (rc == 0 && p->todo == HOB_AGUI_DO_ANSWER) return plan_words(p, err);
        warn_unheard(p);
        return rc;
    }
    plan_results(p, pending, npending);
    rc = plan_prompt(p, err);
    if (rc >= 0) rc = check_strangers(p, err);
    if (rc < 0 || p->todo == HOB_AGUI_DO_PROMPT || !p->nsteps) return rc;
    p->todo = HOB_AGUI_DO_UPDATE;
    release_last(p);
    return 0;
}

int hob_agui_plan_create(const hob_agui_input *in, const hob_page *history,
                         const hob_page *confirmations, const hob_page *pending_calls,
                         hob_agui_plan **out, hob_error *err) {
    hob_agui_plan *p = HOB_NEW(hob_agui_plan);
    p->arena = hob_arena_create(0);
    p->known = hob_map_create();
    p->calls = hob_map_create();
    p->in = in;
    int rc = plan(p, history, confirmations, pending_calls, err);
    if (rc < 0)
        hob_agui_plan_destroy(p);
    else
        *out = p;
    return rc;
}

void hob_agui_plan_destroy(hob_agui_plan *p) {
    if (!p) return;
    hob_map_destroy(p->known);
    hob_map_destroy(p->calls);
    hob_arena_destroy(p->arena);
    hob_free(p->steps);
    hob_free(p);
}

hob_agui_todo hob_agui_plan_todo(const hob_agui_plan *p) {
    return p->todo;
}

hob_agui_pause hob_agui_plan_pause(const hob_agui_plan *p) {
    return p->pause;
}

size_t hob_agui_plan_step_count(const hob_agui_plan *p) {
    return p->nsteps;
}

int hob_agui_plan_step(const hob_agui_plan *p, size_t i, hob_agui_step *out) {
    if (i >= p->nsteps) return HOB_ENOENT;
    *out = p->steps[i];
    return 0;
}

hob_str hob_agui_plan_content(const hob_agui_plan *p) {
    bool says = p->todo == HOB_AGUI_DO_PROMPT || p->todo == HOB_AGUI_DO_ANSWER;
    return says ? p->content : HOB_STR_NULL;
}

int hob_agui_plan_moves(const hob_agui_plan *p, hob_str *entry) {
    if (p->moves) *entry = p->to;
    return p->moves;
}

int hob_agui_plan_lost(const hob_agui_plan *p) {
    return p->foreign ? 2 : p->lost;
}

size_t hob_agui_plan_warning_count(const hob_agui_plan *p) {
    return p->nwarnings;
}

hob_str hob_agui_plan_warning(const hob_agui_plan *p, size_t i) {
    return i < p->nwarnings ? p->warnings[i] : HOB_STR_NULL;
}
