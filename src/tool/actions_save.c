/*
 * actions_save.c - artifacts that a tool gives with its answer: kept until the store has said which versions they are.
 */
#include "log/artifact.h"
#include "tool/tool.h"

#include <stdio.h>

/* ---- one of them ------------------------------------------------------------------------------ */

hob_save *hob_save_ref(hob_save *s) {
    atomic_fetch_add(&s->refs, 1);
    return s;
}

void hob_save_unref(hob_save *s) {
    if (s && atomic_fetch_sub(&s->refs, 1) == 1) hob_free(s);
}

static hob_str put(char **at, hob_str s) {
    char *to = *at;
    if (s.n) memcpy(to, s.p, s.n);
    *at += s.n;
    return hob_str_n(to, s.n);
}

/* The options of a host, whichever version its header had. */
static int take(hob_artifact_item *to, const hob_artifact_item *given, hob_error *err) {
    const char *from = (const char *)given;
    bool known = given->size >= sizeof given->size;
    for (size_t i = sizeof *to; known && i < given->size; i++) known = !from[i];
    if (!known)
        return hob_fail(err, HOB_EINVAL, 0,
                        "the artifact has no size (use _INIT), or says something that only a newer "
                        "libhob understands");
    memcpy(to, given, HOB_MIN(given->size, sizeof *to));
    return HOB_OK;
}

int hob_save_create(const hob_artifact_item *given, hob_save **out, hob_error *err) {
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    int rc = take(&item, given, err);
    hob_str mime = hob_str_z(item.mime ? item.mime : "application/octet-stream");
    if (rc >= 0) rc = hob_artifact_check_name(item.name, err);
    if (rc >= 0) rc = hob_artifact_check_mime(mime, err);
    if (rc >= 0) rc = hob_artifact_check_meta(item.meta, err);
    if (rc >= 0) rc = hob_artifact_check_size(item.bytes.n, err);
    if (rc < 0) return rc;
    size_t n = item.name.n + mime.n + item.meta.n + item.bytes.n;
    hob_save *s = hob_realloc(NULL, sizeof *s + n);
    char *at = (char *)(s + 1);
    *s = (hob_save){.name = put(&at, item.name),
                    .mime = put(&at, mime),
                    .meta = put(&at, item.meta),
                    .bytes = put(&at, item.bytes)};
    atomic_init(&s->refs, 1);
    *out = s;
    return HOB_OK;
}

/* ---- those of a call -------------------------------------------------------------------------- */

void hob_actions_drop_saves(hob_actions *a) {
    for (size_t i = 0; i < a->nsaves; i++) hob_save_unref(a->saves[i]);
    hob_free(a->saves);
    a->saves = NULL;
    a->nsaves = a->saved_bytes = 0;
}

static void push(hob_actions *a, hob_save *s) {
    a->saves = hob_realloc(a->saves, (a->nsaves + 1) * sizeof(hob_save *));
    a->saves[a->nsaves++] = s;
    a->saved_bytes += s->bytes.n;
}

void hob_actions_add_saves(hob_actions *a, const hob_actions *later) {
    for (size_t i = 0; i < later->nsaves; i++) push(a, hob_save_ref(later->saves[i]));
}

void hob_actions_number_saves(hob_actions *a, const int64_t *versions) {
    char number[24];
    for (size_t i = 0; i < a->nsaves; i++) {
        int n = snprintf(number, sizeof number, "%lld", (long long)versions[i]);
        hob_state_assign(&a->artifacts, a->saves[i]->name, hob_str_n(number, (size_t)n));
    }
}

static int check_room(const hob_actions *a, const hob_save *s, hob_error *err) {
    if (a->no_saves)
        return hob_fail(err, HOB_ENOSYS, 0,
                        "an artifact is saved with the result of a call: do it in a tool, or in "
                        "before_tool and after_tool");
    if (a->nsaves < HOB_ACTIONS_SAVES_MAX && a->saved_bytes + s->bytes.n <= HOB_ACTIONS_SAVES_BYTES)
        return HOB_OK;
    return hob_fail(err, HOB_ETOOBIG, 0, "one call may save %d artifacts and %d bytes of them",
                    HOB_ACTIONS_SAVES_MAX, HOB_ACTIONS_SAVES_BYTES);
}

int hob_reply_artifact_save(hob_reply *r, const hob_artifact_item *item, hob_error *err) {
    hob_actions *a = hob_reply_actions(r);
    hob_save *s;
    int rc = hob_save_create(item, &s, err);
    if (rc < 0) return rc;
    pthread_mutex_lock(&a->lock);
    rc = check_room(a, s, err);
    if (rc >= 0) push(a, hob_save_ref(s));
    pthread_mutex_unlock(&a->lock);
    hob_save_unref(s);
    return rc;
}
