/*
 * definitions.c - from folders to definitions: config/ finds and reads the files, agent/ understands
 * them, and this is where the two meet.
 */
#include "agent/definition.h"
#include "config/config.h"
#include "config/discover.h"
#include "config/file.h"

#include <limits.h>
#include <stdio.h>

typedef struct reading {
    hob_definitions *d;
    hob_definition_kind kind;
    const char *dir, *workspace;
    hob_origin origin;
    bool trusted;
    hob_error *err;
} reading;

static int on_found(const hob_found *found, void *user) {
    reading *r = user;
    hob_def_file f = {
        .text = {.kind = r->kind, .stem = found->stem, .text = found->text, .yaml = found->yaml},
        .path = hob_str_z(found->path),
        .dir = hob_str_z(r->dir),
        .workspace = hob_str_z(r->workspace),
        .origin = r->origin,
        .trusted = r->trusted,
        .why = found->why};
    return hob_definitions_add(r->d, &f, r->err);
}

static int read_dir(reading *r) {
    hob_discover o = {.dir = r->dir,
                      .workspace = r->workspace,
                      .folders = r->kind == HOB_DEFINITION_SKILL,
                      .yaml = r->kind == HOB_DEFINITION_AGENT};
    hob_definitions_forget(r->d, r->kind, hob_str_z(r->dir));
    hob_definitions_batch(r->d);
    return hob_discover_dir(&o, on_found, r, r->err);
}

/* ---- what a host names -------------------------------------------------------------------------- */

static int register_dir(hob_definitions *d, hob_definition_kind kind, const char *dir,
                        hob_error *err) {
    if (!d || !dir || !*dir) return hob_fail(err, HOB_EINVAL, 0, "no folder was named");
    reading r = {.d = d, .kind = kind, .dir = dir, .origin = HOB_ORIGIN_FLAG, .err = err};
    int code = read_dir(&r);
    return code < 0 ? code : (int)hob_definitions_live(d, kind, hob_str_z(dir));
}

int hob_agents_register_dir(hob_definitions *d, const char *dir, hob_error *err) {
    return register_dir(d, HOB_DEFINITION_AGENT, dir, err);
}

int hob_skills_register_dir(hob_definitions *d, const char *dir, hob_error *err) {
    return register_dir(d, HOB_DEFINITION_SKILL, dir, err);
}

int hob_commands_register_dir(hob_definitions *d, const char *dir, hob_error *err) {
    return register_dir(d, HOB_DEFINITION_COMMAND, dir, err);
}

/* ---- what stands in the usual places ------------------------------------------------------------ */

static const struct {
    hob_definition_kind kind;
    const char *folder;
} kinds[] = {{HOB_DEFINITION_AGENT, "agents"},
             {HOB_DEFINITION_SKILL, "skills"},
             {HOB_DEFINITION_COMMAND, "commands"}};

static int read_root(reading *r, const char *root) {
    int code = HOB_OK;
    for (size_t i = 0; i < HOB_ARRAY_LEN(kinds) && code >= 0; i++) {
        char dir[PATH_MAX + 32];
        snprintf(dir, sizeof(dir), "%s/%s", root, kinds[i].folder);
        r->dir = dir;
        r->kind = kinds[i].kind;
        code = read_dir(r);
    }
    return code;
}

static int read_workspace(reading *r, const char *cwd) {
    static const char *const roots[] = {".claude", ".agents", ".hob"};
    char canonical[PATH_MAX];
    if (hob_path_canonical(cwd, canonical) < 0)
        return hob_fail(r->err, HOB_ENOENT, 0, "there is no folder %s", cwd);
    r->origin = HOB_ORIGIN_WORKSPACE;
    r->workspace = canonical;
    int code = HOB_OK;
    for (size_t i = 0; i < HOB_ARRAY_LEN(roots) && code >= 0; i++) {
        char root[PATH_MAX + 16];
        snprintf(root, sizeof(root), "%s/%s", canonical, roots[i]);
        code = read_root(r, root);
    }
    return code;
}

int hob_definitions_discover(hob_definitions *d, const hob_discover_opts *o, hob_error *err) {
    if (!d || !o || o->size < sizeof(*o))
        return hob_fail(err, HOB_EINVAL, 0, "hob_definitions_discover: no options");
    reading r = {.d = d, .origin = HOB_ORIGIN_USER, .trusted = o->trusted != 0, .err = err};
    hob_str user = o->config ? hob_config_dir(o->config) : HOB_STR_NULL;
    int code = HOB_OK;
    if (user.n && user.n < PATH_MAX) code = read_root(&r, user.p);
    if (code >= 0 && o->cwd) code = read_workspace(&r, o->cwd);
    return code < 0 ? code : (int)hob_definitions_live(d, HOB_DEFINITION_AGENT, HOB_STR_NULL);
}

/* ---- the text of one ---------------------------------------------------------------------------- */

/* The skill is read now: what was listed was its name and description only. */
static int read_skill(hob_definitions *d, const hob_definition *x, hob_buf *text, hob_str *body,
                      hob_error *err) {
    hob_str place = hob_definitions_workspace_of(d, x), front;
    size_t line;
    int code = hob_discover_read(x->path.p, place.n ? place.p : NULL, text, err);
    if (code < 0) return code;
    if (!hob_front_matter_split(hob_buf_str(text), &front, body, &line))
        return hob_fail(err, HOB_EPARSE, 0, "%s is not a skill any more", x->path.p);
    *body = hob_str_trim(*body);
    return HOB_OK;
}

int hob_definitions_expand(hob_definitions *d, hob_definition_kind kind, hob_str name,
                           hob_str arguments, hob_str *out, hob_error *err) {
    if (kind == HOB_DEFINITION_AGENT)
        return hob_fail(err, HOB_EINVAL, 0, "an agent is not a text to expand");
    const hob_definition *x = hob_definitions_find(d, kind, name);
    if (!x)
        return hob_fail(err, HOB_ENOENT, 0, "there is no %s %.*s",
                        kind == HOB_DEFINITION_SKILL ? "skill" : "command", HOB_FMT(name));
    hob_buf text, *expanded = hob_definitions_scratch(d);
    hob_str body = x->text;
    hob_buf_init(&text, HOB_DISCOVER_FILE_MAX + 1);
    int code = kind == HOB_DEFINITION_SKILL ? read_skill(d, x, &text, &body, err) : HOB_OK;
    if (code == HOB_OK && hob_template_expand(body, arguments, expanded) < 0)
        code = hob_fail(err, HOB_ETOOBIG, 0, "%.*s with its arguments is too large", HOB_FMT(name));
    if (code == HOB_OK) *out = hob_buf_str(expanded);
    hob_buf_finish(&text);
    return code;
}
