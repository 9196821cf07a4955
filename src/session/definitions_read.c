/*
 * definitions_read.c - from folders to definitions: config/ finds and reads the files, agent/ understands
 * them, and this is where the two meet.
 */
#include "session/definitions.h"

#include "config/config.h"
#include "config/discover.h"
#include "config/file.h"

#include <limits.h>
#include <stdio.h>

typedef struct reading {
    hob_definitions *d;
    hob_def_list *stage;
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
    return hob_def_list_add(r->stage, &f, r->err);
}

static int read_dir(reading *r) {
    hob_discover o = {.dir = r->dir,
                      .workspace = r->workspace,
                      .folders = r->kind == HOB_DEFINITION_SKILL,
                      .yaml = r->kind == HOB_DEFINITION_AGENT};
    r->stage = hob_def_list_create(hob_definitions_widest(r->d));
    int code = hob_discover_dir(&o, on_found, r, r->err);
    if (code >= 0)
        code = hob_definitions_replace(r->d, r->kind, hob_str_z(r->dir), r->stage, r->err);
    hob_def_list_destroy(r->stage);
    return code;
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

/* ---- what stands in the configuration ------------------------------------------------------------ */

/* Without escapes that YAML does not know: a surrogate pair becomes its character, for one. */
static void write_plain(hob_jsonw *w, const hob_json *v) {
    bool object = hob_json_is(v, HOB_JSON_OBJECT), array = hob_json_is(v, HOB_JSON_ARRAY);
    if (hob_json_is(v, HOB_JSON_STRING)) hob_jsonw_str(w, hob_json_str(v));
    if (object) hob_jsonw_object(w);
    if (array) hob_jsonw_array(w);
    if (!object && !array && !hob_json_is(v, HOB_JSON_STRING)) hob_jsonw_raw(w, hob_json_raw(v));
    for (const hob_json *m = object || array ? hob_json_first(v) : NULL; m; m = hob_json_next(m)) {
        if (object) hob_jsonw_key_n(w, hob_json_key(m));
        write_plain(w, m);
    }
    if (object) hob_jsonw_object_end(w);
    if (array) hob_jsonw_array_end(w);
}

/* As a file would say it: its key is its name. */
static void write_agent(const hob_json *agent, hob_buf *out) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    if (!hob_json_get(agent, "name")) hob_jsonw_kstr(&w, "name", hob_json_key(agent));
    for (const hob_json *m = hob_json_first(agent); m; m = hob_json_next(m)) {
        hob_jsonw_key_n(&w, hob_json_key(m));
        write_plain(&w, m);
    }
    hob_jsonw_object_end(&w);
}

static const char *name_differs(const hob_json *agent) {
    const hob_json *name = hob_json_get(agent, "name");
    bool same = !name || hob_str_eq(hob_json_str(name), hob_json_key(agent));
    return same ? NULL : "its name is another than its key";
}

static int add_configured(reading *r, const hob_config *c, const hob_json *agent) {
    hob_buf path, text;
    hob_str source = HOB_STR_NULL;
    hob_buf_init(&path, 4096);
    hob_buf_init(&text, HOB_DISCOVER_FILE_MAX);
    hob_buf_addf(&path, "agents.%.*s", HOB_FMT(hob_json_key(agent)));
    bool workspace = hob_config_origin(c, hob_buf_z(&path), &source) == HOB_ORIGIN_WORKSPACE;
    write_agent(agent, &text);
    hob_def_file f = {.text = {.kind = HOB_DEFINITION_AGENT,
                               .stem = hob_json_key(agent),
                               .text = hob_buf_str(&text),
                               .yaml = true},
                      .path = source,
                      .dir = hob_str_z(r->dir),
                      .origin = r->origin,
                      .trusted = r->trusted,
                      .why = text.err ? "is too large" : name_differs(agent)};
    bool wanted = workspace == (r->origin == HOB_ORIGIN_WORKSPACE);
    int code = wanted ? hob_def_list_add(r->stage, &f, r->err) : HOB_OK;
    hob_buf_finish(&path);
    hob_buf_finish(&text);
    return code;
}

/* The user's and administrator's, or the workspace's; as one folder each, behind that of files. */
static int read_configured(reading *r, const hob_config *c) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *all = NULL;
    hob_str json = c ? hob_config_get(c, "agents") : HOB_STR_NULL;
    int code = json.n ? hob_json_parse(a, json, NULL, &all, r->err) : HOB_OK;
    r->kind = HOB_DEFINITION_AGENT;
    r->dir = r->origin == HOB_ORIGIN_WORKSPACE ? "agents of the workspace's configuration"
                                               : "agents of the configuration";
    r->stage = hob_def_list_create(hob_definitions_widest(r->d));
    for (const hob_json *x = hob_json_first(all); x && code >= 0; x = hob_json_next(x))
        code = add_configured(r, c, x);
    if (code >= 0)
        code = hob_definitions_replace(r->d, r->kind, hob_str_z(r->dir), r->stage, r->err);
    hob_def_list_destroy(r->stage);
    hob_arena_destroy(a);
    return code;
}

int hob_definitions_discover(hob_definitions *d, const hob_discover_opts *o, hob_error *err) {
    if (!d || !o || o->size < sizeof(*o))
        return hob_fail(err, HOB_EINVAL, 0, "hob_definitions_discover: no options");
    reading r = {.d = d, .origin = HOB_ORIGIN_USER, .trusted = o->trusted != 0, .err = err};
    hob_str user = o->config ? hob_config_dir(o->config) : HOB_STR_NULL;
    int code = HOB_OK;
    if (user.n && user.n < PATH_MAX) code = read_root(&r, user.p);
    if (code >= 0) code = read_configured(&r, o->config);
    if (code >= 0 && o->cwd) code = read_workspace(&r, o->cwd);
    if (code >= 0 && o->cwd) code = read_configured(&r, o->config);
    return code < 0 ? code : (int)hob_definitions_live(d, HOB_DEFINITION_AGENT, HOB_STR_NULL);
}

/* ---- the text of one ---------------------------------------------------------------------------- */

/* What was listed was its name and description only. */
int hob_skill_text(const hob_definition *x, hob_str workspace, hob_buf *text, hob_str *body,
                   hob_error *err) {
    hob_str front;
    size_t line;
    int code = hob_discover_read(x->path.p, workspace.n ? workspace.p : NULL, text, err);
    if (code < 0) return code;
    if (!hob_front_matter_split(hob_buf_str(text), &front, body, &line))
        return hob_fail(err, HOB_EPARSE, 0, "%s is not a skill any more", x->path.p);
    *body = hob_str_trim(*body);
    return HOB_OK;
}
