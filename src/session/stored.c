/*
 * stored.c - hob/stored.h: sessions that are stored, changed without being used.
 */
#include "session/bare.h"
#include "session/session.h"

/* ---- one session, opened bare ---------------------------------------------------------------------------- */

int hob_session_open_bare(hob_runtime *rt, const char *id, const hob_tenant *of, const hob_bare *b,
                          hob_session **out, hob_error *err) {
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    hob_str app, user;
    int rc = hob_tenant_take(of, &app, &user, err);
    if (rc < 0) return rc;
    o.choice = HOB_SESSION_OPEN;
    o.id = id;
    o.on_unfinished = HOB_UNFINISHED_LEAVE;
    if (app.n) o.app_name = app;
    if (user.n) o.user_id = user;
    if (b->copies) o.flags = HOB_SESSION_FORK;
    return hob_session_create_bare(rt, &o, b, out, err);
}

int hob_runtime_rename_session(hob_runtime *rt, const char *session, const hob_tenant *of,
                               hob_str title, hob_error *err) {
    hob_session *s;
    int rc = hob_session_open_bare(rt, session, of, &(hob_bare){.copies = false}, &s, err);
    if (rc < 0) return rc;
    rc = hob_session_set_title(s, title, err);
    hob_session_detach(s);
    return rc;
}

int hob_runtime_fork_session(hob_runtime *rt, const hob_fork_opts *given, hob_page **out,
                             hob_error *err) {
    hob_fork_opts o = HOB_FORK_OPTS_INIT;
    hob_session *s;
    char id[129];
    int rc = hob_take_options(&o, sizeof o, given, given->size, err);
    if (rc >= 0 && o.id && !hob_id_valid(hob_str_z(o.id)))
        rc = hob_fail(err, HOB_EINVAL, 0, "%.160s is no session id: letters, digits, . _ - only",
                      o.id);
    hob_bare b = {.entry = o.entry, .id = o.id, .copies = true};
    if (rc >= 0) rc = hob_session_open_bare(rt, o.session, o.of, &b, &s, err);
    if (rc < 0) return rc;
    hob_session_id(s, id, sizeof id);
    hob_session_detach(s);
    return hob_runtime_find_session(rt, id, out, err);
}

/* ---- a run that nobody works on ---------------------------------------------------------------------------- */

enum { DEPTH_MAX = 64, LAST_EVENTS = 64 };

static int settle(hob_runtime *rt, const char *id, const hob_tenant *of, hob_error *err) {
    hob_session *s;
    int rc = hob_session_open_bare(rt, id, of, &(hob_bare){.copies = false}, &s, err);
    if (rc < 0) return rc;
    rc = hob_session_cancel_and_settle(s, HOB_QUEUED_RETURN, -1, err);
    hob_session_detach(s);
    return rc;
}

/* The row says that it is under way, and of whom. */
static bool is_left(hob_str row) {
    char state[32], owner[8];
    if (hob_json_field(row, "state", state, sizeof state) < 0) return false;
    return strcmp(state, "idle") != 0 && hob_json_field(row, "owner", owner, sizeof owner) < 0;
}

/* Those that a parent which is at its end could not reach: what it knows of them is said by now. */
static int settle_children(hob_runtime *rt, const char *id, int depth, hob_error *err) {
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    hob_page *page;
    q.parent = id;
    q.limit = 1000;
    if (depth == DEPTH_MAX) return HOB_OK;
    int rc = hob_runtime_sessions(rt, &q, &page, err);
    if (rc < 0) return rc;
    for (size_t i = 0; i < hob_page_count(page) && rc >= 0; i++) {
        char child[160];
        hob_str row = hob_page_row(page, i);
        if (hob_json_field(row, "id", child, sizeof child) < 0) continue;
        if (is_left(row)) rc = settle(rt, child, NULL, err);
        if (rc >= 0) rc = settle_children(rt, child, depth + 1, err);
    }
    hob_page_destroy(page);
    return rc;
}

/* What its row says of a run. */
typedef struct run_row {
    char session[160], status[64];
    uint64_t first, last; /* events; 0 = not known */
} run_row;

static uint64_t place(hob_str row, const char *key) {
    char text[32];
    int64_t seq = 0;
    if (hob_json_field(row, key, text, sizeof text) > 0) hob_str_int(hob_str_z(text), &seq);
    return (uint64_t)HOB_MAX(seq, 0);
}

static int read_run(hob_str row, run_row *out) {
    out->first = place(row, "first_seq");
    out->last = place(row, "last_seq");
    int rc = hob_json_field(row, "session", out->session, sizeof out->session);
    return rc < 0 ? rc : hob_json_field(row, "status", out->status, sizeof out->status);
}

static int find_run(hob_runtime *rt, const char *run, const hob_tenant *of, run_row *out,
                    hob_error *err) {
    hob_page *page;
    int rc = hob_runtime_find_run(rt, run, of, &page, err);
    if (rc < 0) return rc;
    rc = read_run(hob_page_row(page, 0), out);
    hob_page_destroy(page);
    return rc;
}

int hob_runtime_cancel_run(hob_runtime *rt, const char *run, const hob_tenant *of, hob_error *err) {
    run_row r;
    int rc = find_run(rt, run, of, &r, err);
    if (rc < 0) return rc;
    if (strcmp(r.status, "running") != 0 && strcmp(r.status, "parked") != 0)
        return hob_fail(err, HOB_EIDLE, 0, "run %.160s is over (%s): there is nothing to cancel",
                        run, r.status);
    rc = settle(rt, r.session, of, err);
    return rc < 0 ? rc : settle_children(rt, r.session, 0, err);
}

/* ---- the events of a run ------------------------------------------------------------------------------------ */

/* What is looked for, and how far it is. */
typedef struct gathering {
    hob_str run;
    uint64_t first, seq; /* its first event, 0 = not known; the last one that was looked at */
    size_t limit;
    hob_page *found;
    bool over; /* another run has begun */
} gathering;

static int gather(gathering *g, const hob_page *from, hob_error *err) {
    for (size_t i = 0; i < hob_page_count(from); i++) {
        hob_event *e;
        if (hob_page_count(g->found) == g->limit || g->over) return HOB_OK;
        int rc = hob_event_decode(hob_page_row(from, i), &e, err);
        if (rc < 0) return rc;
        bool its = hob_str_eq(e->run_id, g->run);
        g->over = !its && g->first && e->type == HOB_EVENT_RUN_STARTED;
        if (its) hob_page_add(g->found, e->json);
        g->seq = e->seq;
        hob_event_unref(e);
    }
    return HOB_OK;
}

int hob_runtime_run_events(hob_runtime *rt, const char *run, uint64_t after, size_t limit,
                           hob_page **out, hob_error *err) {
    run_row r;
    bool more = true;
    char next[24];
    int rc = find_run(rt, run, NULL, &r, err);
    if (rc < 0) return rc;
    gathering g = {.run = hob_str_z(run), .first = r.first, .limit = limit ? limit : 1000};
    g.seq = r.first ? HOB_MAX(after, r.first - 1) : after;
    g.found = hob_page_create();
    while (rc >= 0 && more && hob_page_count(g.found) < g.limit) {
        hob_page *page;
        rc = hob_runtime_events(rt, r.session, g.seq, 0, &page, err);
        if (rc < 0) break;
        rc = gather(&g, page, err);
        more = !g.over && (hob_page_next(page).n || hob_page_count(g.found) == g.limit);
        hob_page_destroy(page);
    }
    snprintf(next, sizeof next, "%llu", (unsigned long long)g.seq);
    if (more) hob_page_set_next(g.found, hob_str_z(next));
    if (rc < 0)
        hob_page_destroy(g.found);
    else
        *out = g.found;
    return rc;
}

/* ---- what became of it ---------------------------------------------------------------------------------------- */

/* The last of these events that is somebody's last word is the answer. */
static void add_answer(hob_buf *to, const hob_page *events) {
    bool found = false;
    for (size_t i = hob_page_count(events); i-- > 0 && !found;) {
        hob_event *e;
        if (hob_event_decode(hob_page_row(events, i), &e, NULL) < 0) return;
        int n = hob_event_is_final(e) ? hob_event_text(e, NULL, 0) : -1;
        found = n >= 0;
        if (found) {
            char *text = hob_alloc((size_t)n + 1);
            hob_event_text(e, text, (size_t)n + 1);
            hob_buf_addz(to, "\"text\":");
            hob_json_quote(to, hob_str_n(text, (size_t)n));
            hob_buf_addc(to, ',');
            hob_free(text);
        }
        hob_event_unref(e);
    }
}

/* Both are objects, and never empty ones. */
static void add_result(hob_page *to, hob_str row, const hob_page *events, hob_str said) {
    hob_buf b;
    hob_buf_init(&b, HOB_EVENT_MAX * 3u);
    hob_buf_add(&b, hob_str_first(row, row.n - 1));
    hob_buf_addz(&b, ",\"result\":{");
    add_answer(&b, events);
    hob_buf_add(&b, hob_str_skip(said, 1));
    hob_buf_addc(&b, '}');
    hob_page_add(to, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* Its row as it is, or with what its last events say. */
static int show_run(hob_runtime *rt, hob_str row, hob_page *to, hob_error *err) {
    run_row r;
    hob_page *page;
    hob_event *end;
    int rc = read_run(row, &r);
    if (rc < 0) return hob_fail(err, HOB_ESTORE, 0, "the row of a run cannot be read");
    if (!r.last) {
        hob_page_add(to, row);
        return HOB_OK;
    }
    uint64_t n_its = r.first ? r.last - r.first + 1 : 1; /* begun when that was not noted yet */
    uint64_t from = r.last - HOB_MIN(n_its, LAST_EVENTS);
    rc = hob_runtime_events(rt, r.session, from, (size_t)(r.last - from), &page, err);
    if (rc < 0) return rc;
    size_t n = hob_page_count(page);
    rc = n ? hob_event_decode(hob_page_row(page, n - 1), &end, err)
           : hob_fail(err, HOB_ESTORE, 0, "the end of the run is not stored");
    if (rc >= 0) {
        add_result(to, row, page, hob_event_data(end));
        hob_event_unref(end);
    }
    hob_page_destroy(page);
    return rc;
}

int hob_runtime_run_result(hob_runtime *rt, const char *run, const hob_tenant *of, hob_page **out,
                           hob_error *err) {
    hob_page *row;
    int rc = hob_runtime_find_run(rt, run, of, &row, err);
    if (rc < 0) return rc;
    hob_page *page = hob_page_create();
    rc = show_run(rt, hob_page_row(row, 0), page, err);
    hob_page_destroy(row);
    if (rc < 0)
        hob_page_destroy(page);
    else
        *out = page;
    return rc;
}
