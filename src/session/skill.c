/*
 * skill.c - skills in a run: what the model is told of them, and the tool that loads one.
 *
 * The system prompt has names and descriptions; the text of a skill is read when the model asks for it. A skill that
 * names its tools takes the others away until the run ends (run/narrow.c). Files beside it can be read, not written:
 * hob_session_skill_folders gives their folders to the workspace.
 */
#include "session/session.h"

#include "config/discover.h"

enum { LIST_MAX = 8 << 10, DESCRIPTION_SHOWN = 250 };

/* ---- what is told ---------------------------------------------------------------------------------------- */

static bool is_offered(const hob_definition *x) {
    return !(x->flags & HOB_DEFINITION_USER_ONLY);
}

/* One line, and none that ends the list it stands in. */
static void add_line(hob_buf *out, const hob_definition *x) {
    hob_str s = hob_str_first(x->description, hob_utf8_prefix(x->description, DESCRIPTION_SHOWN));
    hob_buf_addf(out, "- %.*s: ", HOB_FMT(x->name));
    for (size_t i = 0; i < s.n; i++) {
        bool blank = (unsigned char)s.p[i] <= ' ';
        bool closes = s.p[i] == '/' && i && s.p[i - 1] == '<';
        if (closes) hob_buf_addc(out, '\\');
        hob_buf_addc(out, blank ? ' ' : s.p[i]);
    }
    hob_buf_addz(out, s.n < x->description.n ? "…\n" : "\n");
}

void hob_session_list_skills(hob_session *s, hob_buf *out) {
    hob_arena *a = hob_arena_create(0);
    hob_definition *all;
    size_t n = hob_definitions_all(s->definitions, HOB_DEFINITION_SKILL, a, &all), shown = 0;
    size_t limit = out->n + LIST_MAX, left = 0;
    for (size_t i = 0; i < n && hob_tools_find(s->tools, HOB_STR("skill")); i++) {
        if (!is_offered(&all[i])) continue;
        left += out->n > limit;
        if (out->n > limit) continue;
        if (!shown++)
            hob_buf_addz(out, "\n<skills>\nInstructions for particular work. When one fits the "
                              "task, load it with the skill tool before you begin.\n");
        add_line(out, &all[i]);
    }
    if (left) hob_buf_addf(out, "and %zu more that are not listed\n", left);
    if (shown) hob_buf_addz(out, "</skills>\n");
    hob_arena_destroy(a);
}

void hob_skill_write(const hob_definition *x, hob_str body, hob_buf *out) {
    hob_str folder = x->path;
    while (folder.n && folder.p[folder.n - 1] != '/') folder.n--;
    hob_buf_addf(out, "<skill name=\"%.*s\" folder=", HOB_FMT(x->name));
    hob_json_quote(out, hob_str_first(folder, folder.n ? folder.n - 1 : 0));
    hob_buf_addz(out, ">\n");
    hob_buf_add(out, body);
    hob_buf_addz(out, "\n</skill>\n");
}

void hob_definition_write_narrow(const hob_definition *x, hob_buf *out) {
    hob_arena *a = hob_arena_create(0);
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "by", hob_definition_narrow(x, a).who);
    hob_jsonw_key(&w, "tools");
    hob_jsonw_array(&w);
    for (size_t i = 0; i < x->tools.n; i++) hob_jsonw_str(&w, x->tools.at[i]);
    hob_jsonw_array_end(&w);
    hob_jsonw_object_end(&w);
    hob_arena_destroy(a);
}

/* ---- the tool ---------------------------------------------------------------------------------------------- */

typedef struct loading {
    hob_work work;
    hob_arena *arena;
    hob_definition x;
    hob_str workspace, arguments;
    hob_reply *reply;
} loading;

static void tell(loading *l, hob_str body) {
    hob_buf out, narrow;
    hob_buf_init(&out, HOB_EVENT_MAX / 4);
    hob_buf_init(&narrow, HOB_EVENT_MAX / 4);
    hob_skill_write(&l->x, body, &out);
    hob_buf_addz(&out, "Files that it names lie in its folder: read them by their whole path.\n");
    if (l->x.flags & HOB_DEFINITION_TOOLS) {
        hob_definition_write_narrow(&l->x, &narrow);
        hob_reply_narrow(l->reply, hob_buf_str(&narrow));
        hob_buf_addz(&out, "Until this run ends nothing but these tools may be used:");
        for (size_t i = 0; i < l->x.tools.n; i++)
            hob_buf_addf(&out, "%s %.*s", i ? "," : "", HOB_FMT(l->x.tools.at[i]));
        hob_buf_addz(&out, l->x.tools.n ? "\n" : " none\n");
    }
    hob_reply_text(l->reply, HOB_OUTCOME_OK, hob_buf_str(&out));
    hob_buf_finish(&out);
    hob_buf_finish(&narrow);
}

/* On a worker. */
static void load(hob_work *w) {
    loading *l = HOB_CONTAINER(w, loading, work);
    hob_buf text, expanded;
    hob_str body;
    hob_error err;
    hob_buf_init(&text, HOB_DISCOVER_FILE_MAX + 1);
    hob_buf_init(&expanded, 4u << 20);
    int rc = hob_skill_text(&l->x, l->workspace, &text, &body, &err);
    if (rc >= 0 && hob_template_expand(body, l->arguments, &expanded) < 0)
        rc = hob_fail(&err, HOB_ETOOBIG, 0, "the skill with its arguments is too large");
    if (rc < 0)
        hob_reply_text(l->reply, HOB_OUTCOME_ERROR, hob_str_z(err.message));
    else
        tell(l, hob_buf_str(&expanded));
    hob_buf_finish(&text);
    hob_buf_finish(&expanded);
}

static void loaded(hob_work *w) {
    loading *l = HOB_CONTAINER(w, loading, work);
    if (w->dropped)
        hob_reply_text(l->reply, HOB_OUTCOME_CANCELLED, HOB_STR("cancelled before it began"));
    hob_arena_destroy(l->arena);
    hob_free(l);
}

/* Finds it for the call, or says why not. */
static int find(hob_session *s, const hob_tool_call *call, loading *l, hob_error *err) {
    const hob_strand *st = hob_session_strand_of(s, call->call);
    const hob_json *args;
    int rc = hob_json_parse(l->arena, hob_arena_dup(l->arena, call->args), NULL, &args, err);
    if (rc < 0) return rc;
    hob_str name = hob_json_get_str(args, "name");
    l->arguments = hob_json_get_str(args, "arguments");
    rc = hob_definitions_copy(s->definitions, HOB_DEFINITION_SKILL, name, l->arena, &l->x,
                              &l->workspace);
    if (rc < 0) return hob_definitions_missing(s->definitions, HOB_DEFINITION_SKILL, name, err);
    if (!is_offered(&l->x))
        return hob_fail(err, HOB_EACCES, 0, "the skill %.*s is for the user to start",
                        HOB_FMT(name));
    if (st && st->run->nnarrows == HOB_NARROWS_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "this run has loaded %d skills that name their tools",
                        HOB_NARROWS_MAX);
    return HOB_OK;
}

static void run_tool(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_session *s = user;
    hob_error err;
    loading *l = HOB_NEW(loading);
    l->arena = hob_arena_create(0);
    l->reply = reply;
    l->work.work = load;
    l->work.done = loaded;
    int rc = find(s, call, l, &err);
    if (rc >= 0 && (rc = hob_pool_submit(s->rt->pool, s->rt->loop, &l->work)) < 0)
        hob_fail(&err, rc, 0, "too much is going on at once; try again");
    if (rc >= 0) return;
    hob_reply_text(reply, HOB_OUTCOME_ERROR, hob_str_z(err.message));
    hob_arena_destroy(l->arena);
    hob_free(l);
}

static bool any_offered(hob_session *s) {
    hob_arena *a = hob_arena_create(0);
    hob_definition *all;
    size_t n = hob_definitions_all(s->definitions, HOB_DEFINITION_SKILL, a, &all);
    bool any = false;
    for (size_t i = 0; i < n; i++) any = any || is_offered(&all[i]);
    hob_arena_destroy(a);
    return any;
}

int hob_session_offer_skills(hob_session *s, hob_error *err) {
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":"
        "\"the skill's name\"},\"arguments\":{\"type\":\"string\",\"description\":"
        "\"what it is to be applied to\"}},\"required\":[\"name\"],\"additionalProperties\":false}";
    const hob_tool tool = {
        .size = sizeof tool,
        .name = "skill",
        .description = "Loads a skill: instructions for particular work. The answer is its text.",
        .schema = schema,
        .class_ = HOB_TOOL_READ_ONLY,
        .run = run_tool,
        .user = s};
    if (s->skills_offered || (s->flags & HOB_SESSION_NO_BUILTIN_TOOLS) || !any_offered(s))
        return HOB_OK;
    s->skills_offered = true;
    int rc = hob_tools_add(s->tools, &tool, err);
    return rc == HOB_EEXIST ? HOB_OK : rc; /* the host has one of its own */
}

/* ---- their files -------------------------------------------------------------------------------------------- */

size_t hob_session_skill_folders(hob_session *s, hob_arena *a, hob_str *out, size_t cap) {
    hob_definition *all;
    size_t n = hob_definitions_all(s->definitions, HOB_DEFINITION_SKILL, a, &all), found = 0;
    for (size_t i = 0; i < n && found < cap; i++) {
        hob_str dir = all[i].path; /* …/skills/NAME/SKILL.md */
        for (int up = 0; up < 2 && dir.n; up++) {
            const char *slash = memrchr(dir.p, '/', dir.n);
            dir.n = slash ? (size_t)(slash - dir.p) : 0;
        }
        bool there = false;
        for (size_t k = 0; k < found; k++) there = there || hob_str_eq(out[k], dir);
        if (dir.n && dir.p[0] == '/' && !there) out[found++] = dir;
    }
    return found;
}
