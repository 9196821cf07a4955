/*
 * strict.c - which of two values is the stricter. When in doubt, neither is: a partial order, so that
 * a workspace never widens anything and a policy is never widened.
 */
#include "config/merge.h"

static int rank(const hob_setting *s, const char *const *words) {
    for (int i = 0; words[i]; i++) {
        hob_str json = hob_setting_json(s); /* "word", with its quotes */
        if (json.n >= 2 && hob_str_eqz(hob_str_n(json.p + 1, json.n - 2), words[i])) return i;
    }
    return -1;
}

static bool mode_stricter(const hob_setting *now, const hob_setting *wanted) {
    static const char *const strictest_first[] = {"plan", "ask", "accept-edits", "yolo", NULL};
    int a = rank(now, strictest_first), b = rank(wanted, strictest_first);
    return a >= 0 && b >= 0 && b <= a;
}

/* "auto" may find less than landlock, or more: the two cannot be compared. */
static bool level_stricter(const hob_setting *now, const hob_setting *wanted) {
    static const char *const words[] = {"full", "auto", "landlock", "off", NULL};
    int a = rank(now, words), b = rank(wanted, words);
    if (a < 0 || b < 0) return false;
    return a == b || b == 0 || a == 3;
}

/* false, or the same. */
static bool bool_stricter(const hob_setting *now, const hob_setting *wanted) {
    return hob_str_eqz(hob_setting_json(wanted), "false") ||
           hob_str_eq(hob_setting_json(now), hob_setting_json(wanted));
}

static const hob_json *value_of(const hob_setting *s, hob_arena *a) {
    const hob_json *v = NULL;
    return hob_json_parse(a, hob_setting_json(s), NULL, &v, NULL) < 0 ? NULL : v;
}

static bool is_null(const hob_setting *s) {
    return hob_str_eqz(hob_setting_json(s), "null");
}

static bool number_stricter(const hob_setting *now, const hob_setting *wanted, hob_arena *a) {
    if (is_null(now)) return true;
    if (is_null(wanted)) return false;
    const hob_json *v = value_of(wanted, a), *limit = value_of(now, a);
    return v && limit && hob_json_double(v) <= hob_json_double(limit);
}

static hob_str plain_folder(hob_str path) {
    while (path.n > 2 && hob_str_starts(path, HOB_STR("./"))) path = hob_str_skip(path, 2);
    while (path.n > 1 && path.p[path.n - 1] == '/') path.n--;
    return path;
}

static bool contains(const hob_json *list, hob_str path) {
    for (const hob_json *v = hob_json_first(list); v; v = hob_json_next(v)) {
        if (hob_str_eq(plain_folder(hob_json_str(v)), plain_folder(path))) return true;
    }
    return false;
}

static bool paths_stricter(const hob_setting *now, const hob_setting *wanted, hob_arena *a) {
    const hob_json *have = value_of(now, a), *list = value_of(wanted, a);
    if (!have || !list) return false;
    for (const hob_json *v = hob_json_first(list); v; v = hob_json_next(v)) {
        if (!contains(have, hob_json_str(v))) return false;
    }
    return true;
}

bool hob_known_stricter(const hob_known *k, const hob_setting *now, const hob_setting *wanted) {
    if (!now || now->object)
        return k->bound == HOB_BOUND_LOWER; /* no limit so far; all others have a default */
    hob_arena *a = hob_arena_create(HOB_CONFIG_MAX_FILE * 8);
    bool stricter = false;
    switch (k->bound) {
    case HOB_BOUND_NONE:
    case HOB_BOUND_MODEL:
    case HOB_BOUND_TRUST:
    case HOB_BOUND_RULES:
    case HOB_BOUND_GRANTS: break; /* not a matter of order */
    case HOB_BOUND_MODE: stricter = mode_stricter(now, wanted); break;
    case HOB_BOUND_LEVEL: stricter = level_stricter(now, wanted); break;
    case HOB_BOUND_FALSE: stricter = bool_stricter(now, wanted); break;
    case HOB_BOUND_PATHS: stricter = paths_stricter(now, wanted, a); break;
    case HOB_BOUND_LOWER: stricter = number_stricter(now, wanted, a); break;
    }
    hob_arena_destroy(a);
    return stricter;
}
