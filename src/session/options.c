/*
 * options.c - what a host may ask for. An option that is not understood is refused: it would be ignored otherwise.
 */
#include "session/session.h"

int hob_take_options(void *to, size_t n, const void *given, size_t size, hob_error *err) {
    const char *from = given;
    if (size < sizeof size)
        return hob_fail(err, HOB_EINVAL, 0, "the options have no size: use _INIT");
    for (size_t i = n; i < size; i++)
        if (from[i])
            return hob_fail(err, HOB_EINVAL, 0,
                            "the options say something that only a newer libhob understands");
    memcpy(to, given, HOB_MIN(size, n));
    return HOB_OK;
}

static int check_words(const hob_session_opts *o, hob_error *err) {
    const unsigned known = HOB_SESSION_NO_BUILTIN_TOOLS | HOB_SESSION_CONTEXT_FILES |
                           HOB_SESSION_STEER_AFTER_BATCH | HOB_SESSION_STEER_ALL |
                           HOB_SESSION_FORK | HOB_SESSION_NO_DELEGATION | HOB_SESSION_NO_MEMORY |
                           HOB_SESSION_KEEP_MODE | HOB_SESSION_KEEP_LIMITS;
    bool stored = o->choice == HOB_SESSION_OPEN || o->choice == HOB_SESSION_CONTINUE;
    if (o->choice > HOB_SESSION_IN_MEMORY)
        return hob_fail(err, HOB_EINVAL, 0, "there is no choice %d", (int)o->choice);
    if (o->approver > HOB_APPROVER_HOST)
        return hob_fail(err, HOB_EINVAL, 0, "there is no approver %d", (int)o->approver);
    if (o->on_unfinished > HOB_UNFINISHED_LEAVE)
        return hob_fail(err, HOB_EINVAL, 0, "there is no on_unfinished %d", (int)o->on_unfinished);
    if (o->flags & ~known)
        return hob_fail(err, HOB_EINVAL, 0, "unknown flags: %#x", o->flags & ~known);
    if ((o->flags & HOB_SESSION_FORK) && !stored)
        return hob_fail(err, HOB_EINVAL, 0,
                        "HOB_SESSION_FORK copies a session: open or continue one");
    return HOB_OK;
}

static int check_limits(const hob_session_opts *o, hob_error *err) {
    const char *wrong = o->max_turns < 0          ? "max_turns"
                        : o->max_tokens < 0       ? "max_tokens"
                        : o->max_tool_calls < 0   ? "max_tool_calls"
                        : o->timeout_ms < 0       ? "timeout_ms"
                        : !(o->max_cost_usd >= 0) ? "max_cost_usd"
                                                  : NULL;
    return wrong ? hob_fail(err, HOB_EINVAL, 0, "%s must not be negative; 0 = no limit", wrong)
                 : HOB_OK;
}

static int check_folders(const hob_session_opts *o, hob_error *err) {
    if (o->cwd && o->cwd[0] != '/')
        return hob_fail(err, HOB_EINVAL, 0, "cwd must be absolute: %s", o->cwd);
    for (size_t i = 0; o->add_dirs && o->add_dirs[i]; i++)
        if (o->add_dirs[i][0] != '/')
            return hob_fail(err, HOB_EINVAL, 0, "add_dirs must be absolute: %s", o->add_dirs[i]);
    return HOB_OK;
}

/* The beginning of an id may end where no id does. */
static bool is_beginning(const char *id) {
    char longer[130];
    return snprintf(longer, sizeof longer, "%s0", id) < (int)sizeof longer &&
           hob_id_valid(hob_str_z(longer));
}

static int check_id(const hob_session_opts *o, hob_error *err) {
    hob_str key = hob_str_z(o->key);
    if (key.n > 128 || !hob_utf8_valid(key))
        return hob_fail(err, HOB_EINVAL, 0, "the key of a session has at most 128 bytes of UTF-8");
    if (o->choice == HOB_SESSION_OPEN && (!o->id || !*o->id))
        return hob_fail(err, HOB_EINVAL, 0, "which session? give its id");
    if (o->choice == HOB_SESSION_CONTINUE && o->id)
        return hob_fail(err, HOB_EINVAL, 0, "id %s: continuing takes the newest, not an id", o->id);
    bool whole = o->id && hob_id_valid(hob_str_z(o->id));
    if (o->id && !whole && !(o->choice == HOB_SESSION_OPEN && is_beginning(o->id)))
        return hob_fail(err, HOB_EINVAL, 0,
                        "%s is no session id: letters, digits, . _ - only, at most 128", o->id);
    return HOB_OK;
}

/* What is given is checked; what is not has a default. */
static int check_name(const char *kind, hob_str name, hob_error *err) {
    if (!name.n && !name.p) return HOB_OK;
    int rc = hob_identity_check(kind, name, err);
    if (rc >= 0 && !hob_utf8_valid(name))
        rc = hob_fail(err, HOB_EINVAL, 0, "%s is not UTF-8", kind);
    return rc;
}

static int check_state(const hob_session_opts *o, hob_error *err) {
    bool old = o->choice == HOB_SESSION_OPEN || o->choice == HOB_SESSION_CONTINUE;
    hob_change c;
    if (!o->state.n) return HOB_OK;
    if (old && !(o->flags & HOB_SESSION_FORK))
        return hob_fail(err, HOB_EINVAL, 0,
                        "a session that exists has a state: change it when it is open");
    hob_arena *a = hob_arena_create(0);
    int rc = hob_change_init(&c, a, o->state, HOB_STR_NULL, err);
    if (rc >= 0) hob_change_finish(&c);
    hob_arena_destroy(a);
    return rc;
}

static int check_identity(const hob_session_opts *o, hob_error *err) {
    int rc = check_name("app_name", o->app_name, err);
    if (rc >= 0) rc = check_name("user_id", o->user_id, err);
    return rc;
}

int hob_session_check_options(const hob_session_opts *o, hob_error *err) {
    int rc = check_words(o, err);
    if (rc >= 0) rc = check_limits(o, err);
    if (rc >= 0) rc = check_folders(o, err);
    if (rc >= 0) rc = check_identity(o, err);
    if (rc >= 0) rc = check_id(o, err);
    if (rc >= 0) rc = check_state(o, err);
    return rc;
}
