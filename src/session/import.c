/*
 * import.c - the lines of an export, read and judged. See import.h.
 */
#include "session/import.h"

enum { PARTS_FIRST = 4, LINES_FIRST = 64 };

int hob_import_create(hob_runtime *rt, const hob_tenant *into, hob_import **out, hob_error *err) {
    hob_str app, user;
    int rc = hob_tenant_take(into, &app, &user, err);
    if (rc < 0) return rc;
    hob_import *im = HOB_NEW(hob_import);
    im->rt = rt;
    im->app = hob_dupz(app.n ? app : HOB_STR("hob"));
    im->user = hob_dupz(user.n ? user : HOB_STR("local"));
    im->arena = hob_arena_create(0);
    im->scratch = hob_arena_create(0);
    im->ids = hob_map_create();
    *out = im;
    return HOB_OK;
}

void hob_import_destroy(hob_import *im) {
    if (!im) return;
    for (size_t i = 0; i < im->nparts; i++) {
        hob_view_destroy(im->parts[i].view);
        hob_run_finish(&im->parts[i].run);
        hob_free(im->parts[i].lines);
        hob_free(im->parts[i].shelf);
    }
    hob_free(im->parts);
    hob_map_destroy(im->ids);
    hob_arena_destroy(im->arena);
    hob_arena_destroy(im->scratch);
    hob_free(im->app);
    hob_free(im->user);
    hob_free(im);
}

/* ---- the kinds of lines ------------------------------------------------------------------------------------ */

static int read_head(hob_import *im, const hob_json *o, hob_error *err) {
    if (!hob_str_eqz(hob_json_get_str(o, "type"), "hob_export"))
        return hob_fail(err, HOB_EPARSE, 0, "this is no export of a session");
    int64_t v = hob_json_get_int(o, "v", 0);
    if (v != HOB_EXPORT_VERSION)
        return hob_fail(err, HOB_EVERSION, 0, "an export of form %lld; this hob knows form %d",
                        (long long)v, HOB_EXPORT_VERSION);
    im->stage = HOB_IMPORT_BODY;
    return HOB_OK;
}

static hob_import_part *current(hob_import *im) {
    return im->nparts ? &im->parts[im->nparts - 1] : NULL;
}

static bool is_whole(const hob_import_part *p) {
    return !p || (int64_t)p->n >= p->wanted;
}

static hob_import_part *add_part(hob_import *im, hob_str id) {
    if (im->nparts == im->cap) {
        im->cap = im->cap ? im->cap * 2 : PARTS_FIRST;
        im->parts = hob_realloc(im->parts, im->cap * sizeof *im->parts);
    }
    hob_import_part *p = &im->parts[im->nparts++];
    *p = (hob_import_part){.from = hob_arena_dup(im->arena, id), .view = hob_view_create()};
    hob_run_init(&p->run, p->from);
    hob_map_put(im->ids, p->from, (void *)(uintptr_t)im->nparts);
    return p;
}

static int read_session(hob_import *im, const hob_json *o, hob_error *err) {
    hob_str id = hob_json_get_str(o, "id"), parent = hob_json_get_str(o, "parent");
    int64_t events = hob_json_get_int(o, "events", -1);
    if (!hob_id_valid(id))
        return hob_fail(err, HOB_EPARSE, 0, "the session has no id that can be one");
    if (hob_map_get(im->ids, id))
        return hob_fail(err, HOB_EPARSE, 0, "session %.*s is there twice", HOB_FMT(id));
    if (parent.n ? !hob_map_get(im->ids, parent) : im->nparts > 0)
        return hob_fail(err, HOB_EPARSE, 0,
                        "session %.*s works for none of those before it; an export is one session "
                        "with its sub-agents",
                        HOB_FMT(id));
    if (events < 1 || events > HOB_IMPORT_EVENTS - im->events)
        return hob_fail(err, HOB_EPARSE, 0, "session %.*s has %lld events: 1 to %d in all",
                        HOB_FMT(id), (long long)events, HOB_IMPORT_EVENTS);
    if (im->nparts == HOB_IMPORT_SESSIONS)
        return hob_fail(err, HOB_ETOOBIG, 0, "more than %d sessions", HOB_IMPORT_SESSIONS);
    hob_import_part *p = add_part(im, id);
    p->parent = hob_arena_dup(im->arena, parent);
    p->wanted = events;
    im->events += events;
    return HOB_OK;
}

static int read_end(hob_import *im, const hob_json *o, hob_error *err) {
    int64_t sessions = hob_json_get_int(o, "sessions", -1);
    int64_t events = hob_json_get_int(o, "events", -1);
    int64_t artifacts = hob_json_get_int(o, "artifacts", 0);
    if (im->artifacts != artifacts)
        return hob_fail(err, HOB_EPARSE, 0,
                        "it should end after %lld artifacts, and there were %lld: something is "
                        "missing",
                        (long long)artifacts, (long long)im->artifacts);
    if (!im->nparts || sessions != (int64_t)im->nparts || events != im->events)
        return hob_fail(err, HOB_EPARSE, 0,
                        "it should end after %lld sessions with %lld events, and there were %zu "
                        "with %lld: something is missing",
                        (long long)sessions, (long long)events, im->nparts, (long long)im->events);
    im->stage = HOB_IMPORT_ENDED;
    return HOB_OK;
}

/* ---- events -------------------------------------------------------------------------------------------------- */

void hob_import_keep(hob_import *im, hob_import_part *p, hob_str line) {
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : LINES_FIRST;
        p->lines = hob_realloc(p->lines, p->cap * sizeof *p->lines);
    }
    p->lines[p->n++] = hob_arena_dup(im->arena, line);
}

static int check_event(const hob_import_part *p, const hob_event *e, hob_error *err) {
    if (e->seq != p->n + 1)
        return hob_fail(err, HOB_EPARSE, 0, "event %llu of session %.*s stands where %zu should",
                        (unsigned long long)e->seq, HOB_FMT(p->from), p->n + 1);
    if (!hob_str_eq(e->session_id, p->from))
        return hob_fail(err, HOB_EPARSE, 0, "an event of session %.*s among those of %.*s",
                        HOB_FMT(e->session_id), HOB_FMT(p->from));
    if ((e->type == HOB_EVENT_SESSION_OPENED) != (p->n == 0))
        return hob_fail(err, HOB_EPARSE, 0, "a log begins with session_opened, and has it once");
    if (e->type && !hob_event_type_durable(e->type))
        return hob_fail(err, HOB_EPARSE, 0, "%.*s is never stored", HOB_FMT(e->name));
    if (e->run_id.n && !hob_id_valid(e->run_id))
        return hob_fail(err, HOB_EPARSE, 0, "the run of the event has no id that can be one");
    hob_clock *c = hob_clock_real();
    if (e->ts > c->wall_ms(c) + HOB_IMPORT_DAY_MS)
        return hob_fail(err, HOB_EPARSE, 0, "event %llu is of the future",
                        (unsigned long long)e->seq);
    char entry[24];
    snprintf(entry, sizeof entry, "e%llu", (unsigned long long)e->seq);
    if (e->entry.n && !hob_str_eqz(e->entry, entry))
        return hob_fail(err, HOB_EPARSE, 0, "event %llu is the entry %s, not %.*s",
                        (unsigned long long)e->seq, entry, HOB_FMT(e->entry));
    return HOB_OK;
}

/* Whatever opens the session later folds it the same way. */
static int fold(hob_import_part *p, const hob_event *e, const hob_json *data, hob_error *err) {
    int rc = hob_view_apply(p->view, e, data, err);
    return rc < 0 ? rc : hob_run_apply(&p->run, e, data, err);
}

static int read_event(hob_import *im, hob_str line, hob_error *err) {
    hob_import_part *p = current(im);
    const hob_json *data;
    hob_event *e;
    if (!p) return hob_fail(err, HOB_EPARSE, 0, "an event before the line of its session");
    if (is_whole(p))
        return hob_fail(err, HOB_EPARSE, 0, "session %.*s has more events than its line says",
                        HOB_FMT(p->from));
    int rc = hob_event_read(line, im->scratch, &e, &data, err);
    if (rc < 0) return rc;
    rc = check_event(p, e, err);
    if (rc >= 0) rc = fold(p, e, data, err);
    if (rc >= 0) hob_import_keep(im, p, line);
    hob_event_unref(e);
    return rc;
}

/* ---- a log comes to rest -------------------------------------------------------------------------------------- */

static int say(hob_import *im, hob_import_part *p, hob_draft *d, hob_error *err) {
    hob_event *e;
    int rc = hob_event_encode(d, p->from, p->n + 1, p->view->last_ts, &e, err);
    hob_draft_finish(d);
    if (rc < 0) return rc;
    const hob_json *data = hob_event_parse(e, im->scratch);
    rc = fold(p, e, data, err);
    if (rc >= 0) hob_import_keep(im, p, e->json);
    im->events++;
    hob_event_unref(e);
    return rc;
}

/* {"KEY":"VALUE"} and, with a reason, why. */
static int say_word(hob_import *im, hob_import_part *p, hob_event_type type, const char *key,
                    const char *value, hob_error *err) {
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, type);
    if (type == HOB_EVENT_RUN_STARTED) hob_run_id(p->from, p->n + 1, p->run.id);
    if (type != HOB_EVENT_CONFIG_CHANGED) d.run_id = hob_str_z(p->run.id);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, key, hob_str_z(value));
    if (type == HOB_EVENT_RUN_FINISHED) hob_jsonw_kstr(&w, "reason", HOB_STR("imported"));
    hob_jsonw_object_end(&w);
    return say(im, p, &d, err);
}

static int end_children(hob_import *im, hob_import_part *p, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = 0; i < p->view->kids.n && rc >= 0; i++) {
        const hob_kid *k = p->view->kids.at[i];
        hob_draft d;
        hob_jsonw w;
        if (!k->open) continue;
        hob_draft_init(&d, HOB_EVENT_CHILD_FINISHED);
        hob_jsonw_init(&w, &d.data);
        hob_jsonw_object(&w);
        hob_jsonw_kstr(&w, "child", hob_str_z(k->id));
        hob_jsonw_kstr(&w, "agent", hob_str_z(k->agent));
        hob_jsonw_kstr(&w, "status", HOB_STR("cancelled"));
        hob_jsonw_kstr(&w, "reason", HOB_STR("imported"));
        hob_jsonw_object_end(&w);
        rc = say(im, p, &d, err);
    }
    return rc;
}

static int end_run(hob_import *im, hob_import_part *p, hob_error *err) {
    int rc = HOB_OK;
    if (p->run.unfinished) rc = say_word(im, p, HOB_EVENT_RUN_STARTED, "origin", "resume", err);
    if (rc >= 0 && hob_run_active(&p->run))
        rc = say_word(im, p, HOB_EVENT_RUN_FINISHED, "status", "cancelled", err);
    if (rc >= 0 && (p->run.steer.n || p->run.follow.n))
        rc = say_word(im, p, HOB_EVENT_QUEUE_RETURNED, "reason", "imported", err);
    if (rc >= 0 && !p->run.settled)
        rc = say_word(im, p, HOB_EVENT_SETTLED, "status", "cancelled", err);
    return rc;
}

static bool is_at_rest(const hob_import_part *p) {
    hob_effect effects[HOB_EFFECTS_MAX];
    for (size_t i = 0; i < p->view->kids.n; i++)
        if (p->view->kids.at[i]->open) return false;
    return !hob_run_active(&p->run) && !hob_run_unfinished(&p->run) && !p->run.steer.n &&
           !p->run.follow.n && !p->run.next_prompt.content && !hob_run_pending(&p->run, effects);
}

static int narrow_mode(hob_import *im, hob_import_part *p, hob_error *err) {
    hob_mode mode;
    if (!p->view->permission_mode.n) return HOB_OK;
    if (hob_mode_from(p->view->permission_mode, &mode) >= 0 &&
        (mode == HOB_MODE_ASK || mode == HOB_MODE_PLAN))
        return HOB_OK;
    return say_word(im, p, HOB_EVENT_CONFIG_CHANGED, "permission_mode", "ask", err);
}

static int lay_to_rest(hob_import *im, hob_import_part *p, hob_error *err) {
    bool began = p->run.last_status[0] || p->run.id[0];
    int rc = end_children(im, p, err);
    if (rc >= 0 && (began || hob_run_active(&p->run))) rc = end_run(im, p, err);
    if (rc >= 0) rc = narrow_mode(im, p, err);
    if (rc >= 0 && (!is_at_rest(p) || (began && !p->run.settled)))
        rc = hob_fail(err, HOB_EPARSE, 0, "the log of session %.*s does not come to an end",
                      HOB_FMT(p->from));
    return rc;
}

/* ---- a line -------------------------------------------------------------------------------------------------- */

static int read_body(hob_import *im, hob_str line, const hob_json *o, hob_error *err) {
    hob_str type = hob_json_get_str(o, "type");
    bool session = hob_str_eqz(type, "session"), end = hob_str_eqz(type, "end");
    bool artifact = hob_str_eqz(type, "artifact") && im->nparts;
    hob_import_part *p = current(im);
    if (im->missing && hob_str_eqz(type, "more")) return hob_import_read_more(im, p, o, err);
    if (im->missing)
        return hob_fail(err, HOB_EPARSE, 0, "%zu bytes of the artifact before it are missing",
                        im->missing);
    if (!session && !end && !artifact) return read_event(im, line, err);
    if (!is_whole(p))
        return hob_fail(err, HOB_EPARSE, 0, "session %.*s has %zu of its %lld events",
                        HOB_FMT(p->from), p->n, (long long)p->wanted);
    if (artifact) return hob_import_read_artifact(im, p, o, err);
    return session ? read_session(im, o, err) : read_end(im, o, err);
}

static int read_line(hob_import *im, hob_str line, hob_error *err) {
    const hob_json *o;
    im->bytes += line.n;
    if (line.n > HOB_EVENT_LINE_MAX || im->bytes > HOB_IMPORT_BYTES)
        return hob_fail(err, HOB_ETOOBIG, 0, "an import is at most 1 GiB, and a line 64 MiB");
    hob_arena_reset(im->scratch);
    int rc = hob_json_parse(im->scratch, line, NULL, &o, err);
    if (rc >= 0 && !hob_json_is(o, HOB_JSON_OBJECT))
        rc = hob_fail(err, HOB_EPARSE, 0, "an object is expected");
    if (rc < 0) return rc;
    switch (im->stage) {
    case HOB_IMPORT_HEAD: return read_head(im, o, err);
    case HOB_IMPORT_BODY: return read_body(im, line, o, err);
    case HOB_IMPORT_ENDED: return hob_fail(err, HOB_EPARSE, 0, "there is more after the end");
    case HOB_IMPORT_FAILED: break;
    }
    return hob_fail(err, HOB_EINVAL, 0, "a line before this one was wrong: begin again");
}

/* Rest comes when all of a session's own lines are there: later ones may still name its children. */
static int rest_all(hob_import *im, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = 0; i < im->nparts && rc >= 0; i++) {
        hob_arena_reset(im->scratch);
        rc = lay_to_rest(im, &im->parts[i], err);
    }
    return rc;
}

int hob_import_line(hob_import *im, hob_str line, hob_error *err) {
    hob_error why = {.code = HOB_OK};
    im->line++;
    if (!hob_str_trim(line).n) return HOB_OK;
    int rc = read_line(im, hob_str_trim(line), &why);
    if (rc >= 0 && im->stage == HOB_IMPORT_ENDED) rc = rest_all(im, &why);
    if (rc >= 0) return HOB_OK;
    im->stage = HOB_IMPORT_FAILED;
    return hob_fail(err, rc, why.sub, "line %lld: %.400s", (long long)im->line, why.message);
}
