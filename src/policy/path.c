/*
 * path.c - path rules. Paths are compared as text, cleaned of "." and "..": what lies behind a link is
 * for the tool that follows it to ask about.
 *
 * Allowing: the whole path fits the pattern, relative to the workspace. Denying and asking: so does
 * any folder around it, in any case of letters, and a pattern without a slash is looked for at every
 * depth.
 */
#include "policy/rule.h"

#include "config/file.h"

#define PATH_LIMIT (HOB_PATH_CLEAN_MAX / 4)

static void drop_last(hob_buf *out, size_t keep) {
    while (out->n > keep && out->p[out->n - 1] != '/') out->n--;
    if (out->n > keep && out->n > 1) out->n--;
}

static int add_part(hob_buf *out, hob_str part, size_t keep) {
    if (part.n == 0 || hob_str_eqz(part, ".")) return HOB_OK;
    if (hob_str_eqz(part, "..")) {
        if (out->n == 0) return HOB_EINVAL; /* above a folder that is not known */
        drop_last(out, keep);
        return HOB_OK;
    }
    if (out->n > 0 && out->p[out->n - 1] != '/') hob_buf_addc(out, '/');
    return hob_buf_add(out, part);
}

static int add_parts(hob_buf *out, hob_str path, size_t keep) {
    hob_str rest = path, part;
    int code = HOB_OK;
    while (code == HOB_OK && hob_str_split(&rest, '/', &part)) code = add_part(out, part, keep);
    return code;
}

int hob_path_clean(hob_str path, hob_str cwd, hob_buf *out) {
    if (path.n > PATH_LIMIT || hob_str_chr(path, '\0') >= 0) return HOB_EINVAL;
    bool absolute = path.n > 0 && path.p[0] == '/';
    bool rooted = absolute || (cwd.n > 0 && cwd.p[0] == '/');
    if (rooted) hob_buf_addc(out, '/');
    size_t keep = out->n; /* "/.." is "/" */
    int code = rooted && !absolute ? add_parts(out, cwd, keep) : HOB_OK;
    if (code == HOB_OK) code = add_parts(out, path, keep);
    return code < 0 ? code : out->err;
}

void hob_path_move(hob_buf *path, const hob_rule_place *place) {
    hob_buf moved;
    for (; place; place = place->before) {
        if (!place->to.n || !hob_path_beneath(hob_buf_str(path), place->to)) continue;
        hob_buf_init(&moved, HOB_PATH_CLEAN_MAX);
        hob_buf_add(&moved, place->from);
        hob_buf_add(&moved, hob_str_skip(hob_buf_str(path), place->to.n));
        hob_buf_finish(path);
        *path = moved;
    }
}

/* ---- allowing ------------------------------------------------------------------------------- */

static bool glob_with(const char *before, hob_str pattern, const char *after, hob_str text,
                      unsigned flags) {
    char all[HOB_GLOB_MAX];
    size_t nb = strlen(before), na = strlen(after);
    memcpy(all, before, nb);
    memcpy(all + nb, pattern.p, pattern.n);
    memcpy(all + nb + pattern.n, after, na);
    return hob_glob_match(hob_str_n(all, nb + pattern.n + na), text, flags);
}

static bool fits(const hob_rule *r, hob_str path) {
    hob_str base = hob_str_z(r->base), pattern = hob_str_z(r->pattern);
    if (!hob_str_starts(path, base)) return false;
    bool folder = hob_str_ends(pattern, HOB_STR("/")); /* "src/" is everything in src */
    return glob_with("", pattern, folder ? "**" : "", hob_str_skip(path, base.n), HOB_GLOB_SLASH);
}

/* ---- denying and asking --------------------------------------------------------------------- */

#define LOOSE (HOB_GLOB_SLASH | HOB_GLOB_NOCASE)

/* The pattern fits the path or one of the folders around it. */
static bool fits_around(const char *before, hob_str pattern, hob_str path) {
    bool top = hob_str_eqz(pattern, "/");
    return glob_with(before, pattern, "", path, LOOSE) ||
           glob_with(before, pattern, top ? "**" : "/**", path, LOOSE);
}

static bool starts_nocase(hob_str s, hob_str prefix) {
    return s.n >= prefix.n && hob_str_ieq(hob_str_first(s, prefix.n), prefix);
}

static bool looks_like(const hob_rule *r, hob_str path) {
    hob_str base = hob_str_z(r->base), pattern = hob_str_z(r->pattern);
    while (pattern.n > 1 && pattern.p[pattern.n - 1] == '/') pattern.n--;
    bool anywhere = !r->anchored && (hob_str_chr(pattern, '/') < 0 || base.n == 0);
    if (anywhere) return fits_around("**/", pattern, path);
    return starts_nocase(path, base) && fits_around("", pattern, hob_str_skip(path, base.n));
}

bool hob_path_looks_like(hob_str pattern, hob_str path) {
    return fits_around("**/", pattern, path);
}

/* ---- either ----------------------------------------------------------------------------------- */

int hob_path_place(hob_str path, const hob_rule_place *place, hob_buf *out) {
    bool tilde = path.n > 0 && path.p[0] == '~';
    bool somebodys = tilde && path.n > 1 && path.p[1] != '/';
    if (tilde && (somebodys || place->home.n == 0)) return HOB_EINVAL;
    hob_str from = tilde ? place->home : place->cwd;
    hob_str rest = tilde ? hob_str_skip(path, 1) : path;
    while (tilde && rest.n > 0 && rest.p[0] == '/') rest = hob_str_skip(rest, 1);
    int code = hob_path_clean(rest, from, out);
    if (code < 0) return code;
    hob_path_move(out, place);
    return out->err;
}

hob_match hob_path_match(const hob_rule *r, hob_str path, const hob_rule_place *place) {
    bool allows = r->use == HOB_RULE_ALLOW;
    bool tilde = path.n > 0 && path.p[0] == '~';
    if (allows && tilde) return HOB_MATCH_NO; /* a name, or somebody's home: not for us to guess */
    hob_buf clean;
    hob_buf_init(&clean, HOB_PATH_CLEAN_MAX);
    hob_match m = allows ? HOB_MATCH_NO : HOB_MATCH_DOUBT;
    if (hob_path_place(path, place, &clean) == HOB_OK) {
        bool same = allows ? fits(r, hob_buf_str(&clean)) : looks_like(r, hob_buf_str(&clean));
        m = same ? HOB_MATCH_YES : HOB_MATCH_NO;
    }
    hob_buf_finish(&clean);
    return m;
}
