/*
 * import_ids.c - lines of an export with the ids of the store they go into.
 *
 * What names a session or a run is known by its place: the envelope, and a few members of data. Everything else stays as
 * it is, byte for byte if nothing differs. Whose the session is becomes what the import says. A git worktree that the log
 * speaks of is on another machine: its member gets another name, so that nobody here looks after it.
 */
#include "session/import.h"

typedef struct rewriting {
    hob_import *im;
    const hob_import_part *p;
    hob_event_type type;
    bool differs;
    hob_jsonw w;
} rewriting;

/* The id here of a session of the file; another's stays. */
static hob_str session_here(rewriting *r, hob_str id) {
    uintptr_t number = (uintptr_t)hob_map_get(r->im->ids, id);
    if (!number) return id;
    hob_str here = hob_str_z(r->im->parts[number - 1].id);
    if (!hob_str_eq(here, id)) r->differs = true;
    return here;
}

/* The number of a run that is called as one of this session is, today or by an earlier version; 0 = it is not. */
static uint64_t number_of(hob_str session, hob_str run) {
    const uint64_t low = (UINT64_C(1) << 48) - 1;
    char today[64], earlier[64];
    int64_t n = 0;
    hob_run_id(session, 0, today);
    snprintf(earlier, sizeof earlier, "run-%012llx-0",
             (unsigned long long)(hob_str_hash(session) & low));
    const char *const like[] = {today, earlier};
    for (size_t i = 0; i < HOB_ARRAY_LEN(like); i++) {
        hob_str prefix = hob_str_first(hob_str_z(like[i]), strlen(like[i]) - 1);
        if (hob_str_starts(run, prefix) && hob_str_int(hob_str_skip(run, prefix.n), &n) >= 0)
            return n > 0 ? (uint64_t)n : 0;
    }
    return 0;
}

/* Ids of runs are unique in a store: what is not called after its session gets a name that is. */
static void run_here(rewriting *r, hob_str run, char out[160]) {
    const hob_import_part *p = r->p;
    const uint64_t beyond = UINT64_C(1) << 62; /* no event has such a number */
    uint64_t seq = number_of(p->from, run);
    if (seq && hob_str_eqz(p->from, p->id))
        snprintf(out, 160, "%.*s", HOB_FMT(run));
    else
        hob_run_id(hob_str_z(p->id), seq ? seq : (hob_str_hash(run) & (beyond - 1)) | beyond, out);
    if (!hob_str_eqz(run, out)) r->differs = true;
}

/* {"session":ID,…}: where it was copied from, or whom it works for. */
static void write_origin(rewriting *r, const hob_json *o) {
    hob_jsonw_object(&r->w);
    for (const hob_json *v = hob_json_first(o); v; v = hob_json_next(v)) {
        hob_jsonw_key_n(&r->w, hob_json_key(v));
        if (hob_str_eqz(hob_json_key(v), "session"))
            hob_jsonw_str(&r->w, session_here(r, hob_json_str(v)));
        else
            hob_jsonw_raw(&r->w, hob_json_raw(v));
    }
    hob_jsonw_object_end(&r->w);
}

static bool is_child_event(hob_event_type t) {
    return t == HOB_EVENT_CHILD_STARTED || t == HOB_EVENT_CHILD_FINISHED ||
           t == HOB_EVENT_CHILD_REUSED || t == HOB_EVENT_CHILD_REPORTED ||
           t == HOB_EVENT_CHILD_PLACED || t == HOB_EVENT_APPROVAL_REQUESTED ||
           t == HOB_EVENT_APPROVAL_RESOLVED;
}

static bool names_run(hob_event_type t, hob_str key) {
    if (t == HOB_EVENT_RUN_STARTED) return hob_str_eqz(key, "continues");
    return t == HOB_EVENT_BRANCH_MOVED && hob_str_eqz(key, "before");
}

/* Whose it is, here. */
static void write_owner(rewriting *r, hob_str key, const char *name, hob_str was) {
    hob_jsonw_key_n(&r->w, key);
    hob_jsonw_str(&r->w, hob_str_z(name));
    if (!hob_str_eqz(was, name)) r->differs = true;
}

static void write_member(rewriting *r, const hob_json *v) {
    hob_str key = hob_json_key(v);
    bool opened = r->type == HOB_EVENT_SESSION_OPENED;
    char run[160];
    bool app = opened && hob_str_eqz(key, "app_name");
    if (app || (opened && hob_str_eqz(key, "user_id"))) {
        write_owner(r, key, app ? r->im->app : r->im->user, hob_json_str(v));
        return;
    }
    if (is_child_event(r->type) && hob_str_eqz(key, "worktree")) {
        r->differs = true;
        key = HOB_STR("worktree_elsewhere");
    }
    hob_jsonw_key_n(&r->w, key);
    if (opened && (hob_str_eqz(key, "forked_from") || hob_str_eqz(key, "parent"))) {
        write_origin(r, v);
    } else if (is_child_event(r->type) && hob_str_eqz(key, "child")) {
        hob_jsonw_str(&r->w, session_here(r, hob_json_str(v)));
    } else if (names_run(r->type, key)) {
        run_here(r, hob_json_str(v), run);
        hob_jsonw_str(&r->w, hob_str_z(run));
    } else {
        hob_jsonw_raw(&r->w, hob_json_raw(v));
    }
}

static void write_data(rewriting *r, const hob_json *data) {
    hob_jsonw_object(&r->w);
    for (const hob_json *v = hob_json_first(data); v; v = hob_json_next(v)) write_member(r, v);
    bool opened = r->type == HOB_EVENT_SESSION_OPENED;
    if (opened && !hob_json_get(data, "app_name"))
        write_owner(r, HOB_STR("app_name"), r->im->app, HOB_STR_NULL);
    if (opened && !hob_json_get(data, "user_id"))
        write_owner(r, HOB_STR("user_id"), r->im->user, HOB_STR_NULL);
    hob_jsonw_object_end(&r->w);
}

static void write_event(rewriting *r, const hob_json *o) {
    char run[160];
    hob_jsonw_object(&r->w);
    for (const hob_json *v = hob_json_first(o); v; v = hob_json_next(v)) {
        hob_str key = hob_json_key(v);
        hob_jsonw_key_n(&r->w, key);
        if (hob_str_eqz(key, "session_id")) {
            hob_jsonw_str(&r->w, session_here(r, hob_json_str(v)));
        } else if (hob_str_eqz(key, "run_id") || hob_str_eqz(key, "parent_run")) {
            run_here(r, hob_json_str(v), run);
            hob_jsonw_str(&r->w, hob_str_z(run));
        } else if (hob_str_eqz(key, "data")) {
            write_data(r, v);
        } else {
            hob_jsonw_raw(&r->w, hob_json_raw(v));
        }
    }
    hob_jsonw_object_end(&r->w);
}

int hob_import_rewrite(hob_import *im, const hob_import_part *p, hob_str *line, hob_error *err) {
    rewriting r = {.im = im, .p = p};
    const hob_json *o;
    hob_buf b;
    hob_arena_reset(im->scratch);
    int rc = hob_json_parse(im->scratch, *line, NULL, &o, err);
    if (rc < 0) return rc;
    r.type = hob_event_type_from(hob_json_get_str(o, "type"));
    hob_buf_init(&b, HOB_EVENT_LINE_MAX);
    hob_jsonw_init(&r.w, &b);
    write_event(&r, o);
    if (b.err) rc = hob_fail(err, HOB_ETOOBIG, 0, "an event is over 64 MiB with its new ids");
    if (rc >= 0 && r.differs) *line = hob_arena_dup(im->arena, hob_buf_str(&b));
    hob_buf_finish(&b);
    return rc;
}
