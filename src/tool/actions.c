/*
 * actions.c - what a tool asks for besides its answer: changes of state, and how the work is to go on. Gathered with the
 * reply, from any thread, until it is answered.
 */
#include "log/artifact.h"
#include "tool/tool.h"

#include <stdio.h>

enum { AGENT_MAX = 256 };

void hob_actions_init(hob_actions *a) {
    *a = (hob_actions){.transfer = NULL};
    pthread_mutex_init(&a->lock, NULL);
}

void hob_actions_finish(hob_actions *a) {
    hob_state_finish(&a->changes);
    hob_state_finish(&a->artifacts);
    hob_actions_drop_saves(a);
    hob_free(a->transfer);
    hob_free(a->narrow);
    pthread_mutex_destroy(&a->lock);
}

/* What the later one says, if it says something. */
static void replace(char **text, const char *later) {
    if (!later) return;
    hob_free(*text);
    *text = hob_dupz(hob_str_z(later));
}

void hob_actions_add(hob_actions *a, const hob_actions *later) {
    hob_overlay_merge(&a->changes, &later->changes);
    hob_overlay_merge(&a->artifacts, &later->artifacts);
    hob_actions_add_saves(a, later);
    a->escalate = a->escalate || later->escalate;
    a->skip_summarization = a->skip_summarization || later->skip_summarization;
    replace(&a->transfer, later->transfer);
    replace(&a->narrow, later->narrow);
}

bool hob_actions_any(const hob_actions *a) {
    return a->changes.count || a->artifacts.count || a->nsaves || a->transfer || a->narrow ||
           a->escalate || a->skip_summarization;
}

void hob_actions_write(const hob_actions *a, hob_jsonw *w) {
    hob_jsonw_object(w);
    hob_overlay_write(&a->changes, "state_delta", w);
    if (a->artifacts.count) {
        hob_jsonw_key(w, "artifact_delta");
        hob_state_write(&a->artifacts, HOB_SCOPE_ALL, w);
    }
    if (a->transfer) hob_jsonw_kstr(w, "transfer", hob_str_z(a->transfer));
    if (a->narrow) hob_jsonw_kraw(w, "narrow", hob_str_z(a->narrow));
    if (a->escalate) hob_jsonw_kbool(w, "escalate", true);
    if (a->skip_summarization) hob_jsonw_kbool(w, "skip_summarization", true);
    hob_jsonw_object_end(w);
}

/* ---- from any thread ------------------------------------------------------------------------ */

/* The ceiling of one call; what a session's state may hold is checked where that is known. */
static int add_change(hob_actions *a, const hob_change *c, hob_error *err) {
    hob_state with;
    hob_state_copy(&with, &a->changes);
    hob_overlay_add(&with, c);
    if (with.bytes > HOB_ACTIONS_BYTES_MAX || with.count > HOB_ACTIONS_KEYS_MAX) {
        hob_state_finish(&with);
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "one call may change %d keys and %d bytes of state: keep large values "
                        "elsewhere",
                        HOB_ACTIONS_KEYS_MAX, HOB_ACTIONS_BYTES_MAX);
    }
    hob_state_finish(&a->changes);
    a->changes = with;
    return HOB_OK;
}

int hob_reply_state(hob_reply *r, hob_str delta, hob_str removed, hob_error *err) {
    hob_actions *a = hob_reply_actions(r);
    hob_arena *arena = hob_arena_create(0);
    hob_change c;
    int rc = hob_change_init(&c, arena, delta, removed, err);
    if (rc >= 0) {
        pthread_mutex_lock(&a->lock);
        rc = add_change(a, &c, err);
        pthread_mutex_unlock(&a->lock);
        hob_change_finish(&c);
    }
    hob_arena_destroy(arena);
    return rc;
}

int hob_reply_artifact(hob_reply *r, hob_str name, int64_t version, hob_error *err) {
    hob_actions *a = hob_reply_actions(r);
    char number[24];
    int rc = hob_artifact_check_name(name, err);
    if (rc < 0) return rc;
    if (version < 0) return hob_fail(err, HOB_EINVAL, 0, "versions of an artifact begin at 0");
    int n = snprintf(number, sizeof number, "%lld", (long long)version);
    pthread_mutex_lock(&a->lock);
    if (a->artifacts.count < HOB_ACTIONS_KEYS_MAX)
        hob_state_assign(&a->artifacts, name, hob_str_n(number, (size_t)n));
    else
        rc = hob_fail(err, HOB_ETOOBIG, 0, "one call may name %d artifacts", HOB_ACTIONS_KEYS_MAX);
    pthread_mutex_unlock(&a->lock);
    return rc;
}

int hob_reply_transfer(hob_reply *r, hob_str agent, hob_error *err) {
    hob_actions *a = hob_reply_actions(r);
    if (!agent.n || agent.n > AGENT_MAX || memchr(agent.p, 0, agent.n) || !hob_utf8_valid(agent))
        return hob_fail(err, HOB_EINVAL, 0, "name the agent that is to go on: 1 to %d bytes",
                        AGENT_MAX);
    pthread_mutex_lock(&a->lock);
    hob_free(a->transfer);
    a->transfer = hob_dupz(agent);
    pthread_mutex_unlock(&a->lock);
    return HOB_OK;
}

void hob_reply_narrow(hob_reply *r, hob_str json) {
    hob_actions *a = hob_reply_actions(r);
    pthread_mutex_lock(&a->lock);
    hob_free(a->narrow);
    a->narrow = hob_dupz(json);
    pthread_mutex_unlock(&a->lock);
}

static void mark(hob_reply *r, bool escalate) {
    hob_actions *a = hob_reply_actions(r);
    pthread_mutex_lock(&a->lock);
    *(escalate ? &a->escalate : &a->skip_summarization) = true;
    pthread_mutex_unlock(&a->lock);
}

void hob_reply_escalate(hob_reply *r) {
    mark(r, true);
}

void hob_reply_skip_summarization(hob_reply *r) {
    mark(r, false);
}
