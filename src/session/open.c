/*
 * open.c - from options to a session: find it, own it, fold its log, fit its parts, decide about an unfinished run.
 *
 * One operation, a chain of callbacks on the loop:
 *     start -> [find] -> own -> load -> ready        (new, continue, open)
 *     start -> [find] -> load the original -> own the copy -> write it -> ready       (fork)
 */
#include "session/bare.h"
#include "session/crew.h"
#include "session/session.h"
#include "session/task.h"

#include <unistd.h>

typedef struct opening {
    hob_op op;
    const hob_session_opts *o;
    hob_session *s;
    char origin[129]; /* fork: where the copy comes from */
    hob_str prefix;   /* open: as given */
    int matches;
    hob_task *task;             /* a child's */
    const hob_inherited *given; /* by its parent */
    hob_opened_fn then;
    const hob_bare *bare; /* NULL = it is to work */
    hob_error memory;     /* why there is none; code HOB_OK = it is fine */
} opening;

static void on_kick(hob_timer *t) {
    hob_session *s = HOB_CONTAINER(t, hob_session, kick);
    hob_session_deliver(s);
    hob_session_perform(s);
}

/* ---- the end of the chain ----------------------------------------------------------------------------- */

/* What is owned by now is let go of by whoever opens: see hob_session_create. */
static void give_up(opening *op, int code, const hob_error *err) {
    hob_session *s = op->s;
    hob_error e = {.code = code};
    if (err) e = *err;
    s->let_go = true;
    if (s->epoch)
        op->op.user = s;
    else
        hob_session_free(s);
    hob_op_done(&op->op, code, &e);
}

int hob_session_take_up(hob_session *s, hob_on_unfinished want, hob_error *err) {
    bool pending = !hob_run_active(&s->run) && !s->run.settled;
    s->left_alone = hob_run_unfinished(&s->run);
    if (!s->left_alone)
        return pending ? hob_session_input(s, &(hob_input){.kind = HOB_INPUT_NEXT}, err) : HOB_OK;
    if (want == HOB_UNFINISHED_LEAVE) return HOB_OK;
    int rc = hob_session_say_settings(s, err);
    hob_input in = {.kind = want == HOB_UNFINISHED_RESUME ? HOB_INPUT_RESUME : HOB_INPUT_CANCEL,
                    .ending = HOB_ENDING_SETTLE};
    if (rc >= 0) rc = hob_session_repair_strangers(s, err);
    if (rc >= 0) rc = hob_session_input(s, &in, err);
    if (rc >= 0) s->left_alone = false;
    return rc;
}

static void ready(opening *op) {
    hob_session *s = op->s;
    hob_error err;
    hob_reader_begin(&s->reader, s->durable);
    hob_timer_init(&s->kick, s->rt->loop, on_kick);
    s->memory_error = &op->memory;
    int rc = hob_session_apply_options(s, op->o, &err);
    s->memory_error = NULL;
    if (rc >= 0) rc = hob_session_begin_state(s, NULL, op->o->state, &err);
    if (rc >= 0) rc = hob_session_take_up(s, op->o->on_unfinished, &err);
    if (rc < 0) {
        give_up(op, rc, &err);
        return;
    }
    s->given = NULL;
    hob_session_commit(s);
    hob_session_deliver(s);
    hob_session_rest(s);
    if (hob_session_parked(s)) hob_session_kick(s); /* what its children wait for */
    op->op.user = s;
    hob_session_op_after(s, &op->op);
}

/* ---- fork ------------------------------------------------------------------------------------------------- */

static void on_copy_owned(int code, const hob_error *err, const hob_store_session *row,
                          void *user) {
    opening *op = user;
    hob_session *s = op->s;
    hob_error e;
    s->inflight--;
    if (code < 0) {
        give_up(op, code, err);
        return;
    }
    s->epoch = row->epoch;
    s->fresh = true;
    hob_view *original = s->view;
    if (s->crew) hob_crew_reset(s->crew);             /* a copy begins with nobody at work */
    int rc = hob_session_apply_options(s, op->o, &e); /* what the original used counts here, too */
    s->forked_seq = original->last_seq;
    if (!s->forked_ts) s->forked_ts = original->last_ts;
    s->view = hob_view_create();
    hob_run_finish(&s->run);
    hob_run_init(&s->run, hob_str_z(s->id));
    s->durable = s->submitted = 0;
    s->result_seq = 0;
    hob_timer_init(&s->kick, s->rt->loop, on_kick);
    if (rc >= 0) rc = hob_session_say_settings(s, &e);
    if (rc >= 0) rc = hob_session_copy(s, original->history, &e);
    if (rc >= 0) rc = hob_session_say_copied(s, original, &e);
    hob_overlay_apply(&original->state, HOB_SCOPE_APP | HOB_SCOPE_USER, &s->view->state);
    if (rc >= 0) rc = hob_session_begin_state(s, &original->state, op->o->state, &e);
    hob_view_destroy(original);
    if (rc < 0) {
        give_up(op, rc, &e);
        return;
    }
    hob_session_commit(s);
    hob_reader_begin(&s->reader, s->view->last_seq);
    op->op.user = s;
    hob_session_op_after(s, &op->op);
}

static void new_id(hob_session *s, const char *wish) {
    if (wish)
        snprintf(s->id, sizeof s->id, "%s", wish);
    else
        hob_uuid7_new(hob_loop_clock(s->rt->loop), s->id);
}

/* The log says that it is one: then it is folded again with it. Whether that agent is there is asked later. */
static bool load_again(opening *op, hob_str from, hob_loaded_fn then) {
    hob_session *s = op->s;
    if (s->crew || op->o->agent_name || !s->view->agent.n || s->given) return false;
    if (hob_session_form_crew(s, op->o->definitions, s->view->agent, NULL) < 0 || !s->crew)
        return false;
    hob_session_load(s, from, then, op);
    return true;
}

/* Who makes a session says whose it is; who opens one need not. */
static void set_tenant(const hob_session *s, hob_store_session *row) {
    row->app = s->app_name ? hob_str_z(s->app_name) : HOB_STR("hob");
    row->user = s->user_id ? hob_str_z(s->user_id) : HOB_STR("local");
}

static void on_gone_back(hob_session *s, int code, const hob_error *err, void *user) {
    opening *op = user;
    hob_store_session row;
    if (code < 0) {
        give_up(op, code, err);
        return;
    }
    snprintf(s->forked_from, sizeof s->forked_from, "%s", op->origin);
    if (!s->cwd && s->view->cwd.n) s->cwd = hob_dupz(s->view->cwd);
    new_id(s, op->bare ? op->bare->id : NULL);
    row = (hob_store_session){
        .id = hob_str_z(s->id), .cwd = hob_str_z(s->cwd), .state = HOB_STR("idle")};
    row.parent = hob_str_z(s->forked_from);
    set_tenant(s, &row);
    row.created_ms = row.updated_ms = hob_session_now(s);
    hob_list_push(&s->rt->sessions, &s->link);
    s->inflight++;
    s->store->ops->own(s->store, hob_str_z(s->id), HOB_OWN_CREATE, &row, on_copy_owned, op);
}

static void on_original(hob_session *s, int code, const hob_error *err, void *user) {
    opening *op = user;
    const char *entry = op->bare ? op->bare->entry : NULL;
    hob_str from = hob_str_z(op->origin);
    hob_error e;
    if (code >= 0 && load_again(op, from, on_original)) return;
    if (code < 0 || !entry)
        on_gone_back(s, code, err, op);
    else if ((code = hob_session_go_back(s, from, entry, on_gone_back, op, &e)) < 0)
        give_up(op, code, &e);
}

/* ---- own and load --------------------------------------------------------------------------------------------- */

static void on_loaded(hob_session *s, int code, const hob_error *err, void *user) {
    opening *op = user;
    if (code < 0)
        give_up(op, code, err);
    else if (!load_again(op, hob_str_z(s->id), on_loaded))
        ready(op);
}

static void own(opening *op, int flags);
static void search(opening *op, hob_str cursor);

static void on_owned(int code, const hob_error *err, const hob_store_session *row, void *user) {
    opening *op = user;
    hob_session *s = op->s;
    s->inflight--;
    if (code == HOB_ENOENT && op->task) { /* announced by a process that got no further */
        hob_list_remove(&s->link);
        own(op, HOB_OWN_CREATE);
        return;
    }
    if (code == HOB_ENOENT && op->prefix.n && !op->matches) { /* perhaps it begins like this */
        hob_list_remove(&s->link);
        s->id[0] = 0;
        search(op, HOB_STR_NULL);
        return;
    }
    if (code < 0) {
        give_up(op, code, err);
        return;
    }
    s->epoch = row->epoch;
    if (!s->cwd && row->cwd.n) s->cwd = hob_dupz(row->cwd);
    hob_session_load(s, hob_str_z(s->id), on_loaded, op);
}

static const hob_session *open_already(const hob_session *s) {
    HOB_LIST_EACH (it, &s->rt->sessions) {
        const hob_session *other = HOB_CONTAINER(it, hob_session, link);
        if (other != s && other->store == s->store && !strcmp(other->id, s->id)) return other;
    }
    return NULL;
}

static bool differ(const char *wanted, const char *is) {
    return wanted && is && strcmp(wanted, is) != 0;
}

/* Whose it is not, is told nothing of it. */
static int say_open(const hob_session *s, const hob_session *other, hob_error *err) {
    if (differ(s->app_name, other->app_name) || differ(s->user_id, other->user_id))
        return hob_session_say_matches(hob_str_z(s->id), 0, err);
    return hob_fail(err, HOB_EBUSY, 0, "session %s is open in this program (pid %d) already", s->id,
                    (int)getpid());
}

/* The store lets its own process own twice: two of us on one log is for us to prevent. */
static void own(opening *op, int flags) {
    hob_session *s = op->s;
    const hob_session *other = open_already(s);
    hob_error err;
    if (other) {
        give_up(op, say_open(s, other, &err), &err);
        return;
    }
    hob_list_push(&s->rt->sessions, &s->link);
    hob_clock *c = hob_loop_clock(s->rt->loop);
    hob_store_session row = {
        .id = hob_str_z(s->id), .cwd = hob_str_z(s->cwd), .state = HOB_STR("idle")};
    row.created_ms = row.updated_ms = c->wall_ms(c);
    if (op->given) {
        row.parent = hob_str_z(op->given->parent->id);
        row.child = 1;
    }
    row.app = hob_str_z(s->app_name);
    row.user = hob_str_z(s->user_id);
    if (flags & HOB_OWN_CREATE) set_tenant(s, &row);
    s->fresh = flags & HOB_OWN_CREATE;
    s->inflight++;
    s->store->ops->own(s->store, hob_str_z(s->id), flags, &row, on_owned, op);
}

/* The id is known: take it, or copy it. */
static void found(opening *op, hob_str id) {
    hob_session *s = op->s;
    if (op->o->flags & HOB_SESSION_FORK) {
        if (id.p != op->origin) snprintf(op->origin, sizeof op->origin, "%.*s", HOB_FMT(id));
        hob_session_load(s, hob_str_z(op->origin), on_original, op);
        return;
    }
    snprintf(s->id, sizeof s->id, "%.*s", HOB_FMT(id));
    own(op, 0);
}

/* ---- find -------------------------------------------------------------------------------------------------------- */

static void find_newest(opening *op, hob_str cursor);

static void limit_to_tenant(const hob_session *s, hob_store_query *q) {
    q->app = hob_str_z(s->app_name);
    if (s->user_id && !s->app_name) q->app = HOB_STR("hob");
    q->user = hob_str_z(s->user_id);
}

/* One that was opened and never used, here or in another process, is nothing to continue. */
static void on_newest(int code, const hob_error *err, const hob_store_session *rows, size_t n,
                      hob_str next, void *user) {
    opening *op = user;
    hob_error e;
    size_t i = 0;
    op->s->inflight--;
    while (code >= 0 && i < n && !rows[i].last_seq) i++;
    if (code >= 0 && i == n && next.n) {
        find_newest(op, next);
        return;
    }
    if (code >= 0 && i == n) {
        err = &e;
        code = hob_fail(&e, HOB_ENOENT, 0, "there is no session of %s yet: start one with a prompt",
                        op->s->cwd ? op->s->cwd : "this folder");
    }
    if (code < 0)
        give_up(op, code, err);
    else
        found(op, rows[i].id);
}

static void find_newest(opening *op, hob_str cursor) {
    hob_store_query q = {.cwd = hob_str_z(op->s->cwd), .cursor = cursor, .limit = 10};
    limit_to_tenant(op->s, &q);
    op->s->inflight++;
    op->s->store->ops->sessions(op->s->store, &q, on_newest, op);
}

static void on_candidates(int code, const hob_error *err, const hob_store_session *rows, size_t n,
                          hob_str next, void *user) {
    opening *op = user;
    hob_error e;
    op->s->inflight--;
    for (size_t i = 0; code >= 0 && i < n; i++) {
        if (!hob_str_starts(rows[i].id, op->prefix)) continue;
        if (!op->matches++) snprintf(op->origin, sizeof op->origin, "%.*s", HOB_FMT(rows[i].id));
    }
    if (code >= 0 && next.n) {
        search(op, next);
        return;
    }
    if (code >= 0 && op->matches != 1) {
        err = &e;
        code = hob_session_say_matches(op->prefix, op->matches, &e);
    }
    if (code < 0)
        give_up(op, code, err);
    else
        found(op, hob_str_z(op->origin));
}

static void search(opening *op, hob_str cursor) {
    hob_store_query q = {.cursor = cursor, .limit = 1000, .all = 1};
    limit_to_tenant(op->s, &q);
    op->s->inflight++;
    op->s->store->ops->sessions(op->s->store, &q, on_candidates, op);
}

static void on_exact(int code, const hob_error *err, const hob_store_session *row, void *user) {
    opening *op = user;
    (void)row;
    op->s->inflight--;
    if (code == HOB_ENOENT)
        search(op, HOB_STR_NULL);
    else if (code < 0)
        give_up(op, code, err);
    else
        found(op, op->prefix);
}

/* What can be a whole id is taken, or read, as one; only the beginning of one is searched for. */
static void look_up(opening *op) {
    op->prefix = hob_str_z(op->o->id);
    if (!hob_id_valid(op->prefix)) {
        search(op, HOB_STR_NULL);
        return;
    }
    if (!(op->o->flags & HOB_SESSION_FORK)) {
        found(op, op->prefix);
        return;
    }
    op->s->inflight++;
    hob_store_session of = {.app = hob_str_z(op->s->app_name), .user = hob_str_z(op->s->user_id)};
    op->s->store->ops->own(op->s->store, op->prefix, HOB_OWN_READ, &of, on_exact, op);
}

/* A model over HTTP will want libcurl: it is loaded on the pool while the session is opened. */
static void preload(const opening *op) {
    hob_runtime *rt = op->op.rt;
    hob_str hint = op->o->model ? hob_str_z(op->o->model) : hob_config_str(rt->config, "model");
    hob_model_info info;
    if (hob_models_resolve(rt->models, hint, &info, NULL) < 0 || info.script.n) return;
    hob_http_preload(rt->http);
}

static void take_words(hob_session *s, const hob_session_opts *o) {
    if (o->cwd) s->cwd = hob_dupz(hob_str_z(o->cwd));
    if (o->app_name.n) s->app_name = hob_dupz(o->app_name);
    if (o->user_id.n) s->user_id = hob_dupz(o->user_id);
    if (o->choice == HOB_SESSION_NEW) s->key = hob_str_z(o->key); /* until that is said */
}

static void start(hob_op *o) {
    opening *op = HOB_CONTAINER(o, opening, op);
    hob_session *s = op->s = hob_session_new(o->rt);
    hob_error err;
    int rc = HOB_OK;
    take_words(s, op->o);
    if (op->o->team) s->crew = hob_crew_create(s, op->o->team);
    s->given = s->line = op->given;
    s->bare = op->bare != NULL;
    if (op->given) s->depth = op->given->depth;
    if (!s->bare) preload(op);
    s->store = op->given ? op->given->parent->store : o->rt->store;
    if (!s->crew)
        rc = hob_session_form_crew(s, op->o->definitions, hob_str_z(op->o->agent_name), &err);
    if (rc >= 0 && op->o->choice == HOB_SESSION_IN_MEMORY)
        rc = hob_runtime_memory(o->rt, &s->store, &err);
    if (rc < 0) {
        give_up(op, rc, &err);
        return;
    }
    switch (op->o->choice) {
    case HOB_SESSION_NEW:
    case HOB_SESSION_IN_MEMORY:
        new_id(s, op->o->id);
        own(op, HOB_OWN_CREATE);
        break;
    case HOB_SESSION_CONTINUE: find_newest(op, HOB_STR_NULL); break;
    case HOB_SESSION_OPEN: look_up(op); break;
    }
}

/* ---- public --------------------------------------------------------------------------------------------------------- */

int hob_session_create(hob_runtime *rt, const hob_session_opts *given, hob_session **out,
                       hob_error *err) {
    return hob_session_create_for(rt, given, NULL, out, err);
}

int hob_session_create_bare(hob_runtime *rt, const hob_session_opts *o, const hob_bare *b,
                            hob_session **out, hob_error *err) {
    opening op = {.op = {.start = start}, .o = o, .bare = b};
    int rc = hob_session_check_options(o, err);
    if (rc >= 0) rc = hob_op_run(rt, &op.op, err);
    if (rc >= 0)
        *out = op.op.user;
    else
        hob_session_detach(op.op.user);
    return rc;
}

int hob_session_create_for(hob_runtime *rt, const hob_session_opts *given, const hob_inherited *in,
                           hob_session **out, hob_error *err) {
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    opening op = {.op = {.start = start}, .o = &o, .given = in};
    int rc = given ? hob_take_options(&o, sizeof o, given, given->size, err) : HOB_OK;
    if (rc >= 0) rc = hob_session_check_options(&o, err);
    if (rc >= 0) hob_memory_probe(rt, &op.memory);
    if (rc >= 0) rc = hob_op_run(rt, &op.op, err);
    if (rc >= 0)
        *out = op.op.user;
    else
        hob_session_detach(op.op.user); /* all or nothing */
    return rc;
}

/* ---- children ------------------------------------------------------------------------------------------------------- */

static void tell(opening *op, hob_session *s, int code) {
    op->then(op->task, s, code, code < 0 ? &op->op.err : NULL);
    hob_free(op);
}

static void on_left_over(void *user) {
    opening *op = user;
    tell(op, NULL, op->op.rc);
}

static void on_opened(hob_op *o) {
    opening *op = HOB_CONTAINER(o, opening, op);
    if (o->rc < 0 && o->user)
        hob_session_let_go(o->user, on_left_over, op);
    else
        tell(op, o->user, o->rc);
}

void hob_session_open_child(hob_task *t, hob_opened_fn then) {
    opening *op = HOB_NEW(opening);
    *op = (opening){.o = &t->given.opts, .task = t, .given = &t->given, .then = then};
    hob_op_prepare(t->parent->rt, &op->op, on_opened);
    hob_session *s = op->s = hob_session_new(t->parent->rt);
    s->store = t->parent->store;
    s->task = t;
    s->given = s->line = &t->given;
    s->bare = t->parent->bare;
    s->depth = t->given.depth;
    take_words(s, op->o);
    new_id(s, t->id);
    hob_error err;
    int rc = hob_session_form_crew(s, op->o->definitions, HOB_STR_NULL, &err);
    if (rc < 0)
        give_up(op, rc, &err);
    else
        own(op, t->known ? 0 : HOB_OWN_CREATE);
}
