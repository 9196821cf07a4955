/*
 * registry.c - the tools of a session, in the order they were added.
 */
#include "tool/schema_node.h"

#define MAX_TOOLS 1024
#define MAX_NAME 64
#define MAX_DESCRIPTION (64 * 1024)
#define MAX_TEXT (16 * 1024 * 1024) /* descriptions and schemas of all tools */
#define MAX_JSON (8 * MAX_TEXT)     /* the same, should every byte need an escape */
#define MAX_ARGS (64 * 1024 * 1024)
#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}"

typedef struct entry {
    hob_tool tool;      /* first: a hob_tool of ours is an entry */
    hob_schema *schema; /* NULL after hob_tools_rest() */
    hob_list link;
    bool marked;
    bool lasting; /* its texts are constants */
    bool guest;
} entry;

struct hob_tools {
    hob_list entries;
    hob_map *by_name;
    uint64_t version;
    hob_policy *narrowed; /* says which of them there are; NULL = all */
    size_t text;          /* bytes of descriptions and schemas */
    hob_buf json;         /* of version json_version */
    uint64_t json_version;
};

hob_tools *hob_tools_create(void) {
    hob_tools *t = HOB_NEW(hob_tools);
    hob_list_init(&t->entries);
    t->by_name = hob_map_create();
    t->version = 1;
    hob_buf_init(&t->json, MAX_JSON);
    return t;
}

static size_t text_of(const hob_tool *tool) {
    return strlen(tool->description) + (tool->schema ? strlen(tool->schema) : 0);
}

static void free_entry(entry *e) {
    hob_schema_destroy(e->schema);
    if (!e->lasting) {
        hob_free((char *)e->tool.name);
        hob_free((char *)e->tool.description);
        hob_free((char *)e->tool.schema);
    }
    hob_free(e);
}

void hob_tools_destroy(hob_tools *t) {
    if (!t) return;
    HOB_LIST_EACH_SAFE (it, &t->entries) {
        free_entry(HOB_CONTAINER(it, entry, link));
    }
    hob_map_destroy(t->by_name);
    hob_policy_destroy(t->narrowed);
    hob_buf_finish(&t->json);
    hob_free(t);
}

const hob_tool *hob_tools_at(const hob_tools *t, size_t i) {
    HOB_LIST_EACH (it, &t->entries)
        if (!i--) return &HOB_CONTAINER(it, entry, link)->tool;
    return NULL;
}

/* ---- adding -------------------------------------------------------------------------------- */

static bool name_fits(const char *name) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t n = name ? strlen(name) : 0;
    return n >= 1 && n <= MAX_NAME && strspn(name, allowed) == n;
}

/* The first version of the struct had none. */
static unsigned flags_of(const hob_tool *tool) {
    return tool->size > offsetof(hob_tool, flags) ? tool->flags : 0;
}

static int check(const hob_tools *t, const hob_tool *tool, hob_error *err) {
    const unsigned known =
        HOB_TOOL_PARALLEL | HOB_TOOL_LONG_RUNNING | HOB_TOOL_QUESTION | HOB_TOOL_HIDDEN;
    if (!name_fits(tool->name))
        return hob_fail(err, HOB_EINVAL, 0,
                        "'%.80s' is no name for a tool: 1 to %d letters, digits, '_' or '-'",
                        tool->name ? tool->name : "", MAX_NAME);
    if (tool->size < offsetof(hob_tool, flags) || !tool->run)
        return hob_fail(err, HOB_EINVAL, 0, "the tool %s has no run function, or no HOB_TOOL_INIT",
                        tool->name);
    if (!tool->description || strlen(tool->description) > MAX_DESCRIPTION)
        return hob_fail(err, HOB_EINVAL, 0, "the tool %s needs a description of at most %d bytes",
                        tool->name, MAX_DESCRIPTION);
    if (tool->timeout_ms < 0 || tool->class_ > HOB_TOOL_READ_ONLY || flags_of(tool) & ~known)
        return hob_fail(err, HOB_EINVAL, 0, "the tool %s has a wrong time-out, class or flag",
                        tool->name);
    if (hob_map_get(t->by_name, hob_str_z(tool->name)))
        return hob_fail(err, HOB_EEXIST, 0, "there is a tool named %s already", tool->name);
    if (hob_map_count(t->by_name) >= MAX_TOOLS || t->text + text_of(tool) > MAX_TEXT)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "no room for the tool %s: at most %d tools with %d MiB of text", tool->name,
                        MAX_TOOLS, MAX_TEXT >> 20);
    return HOB_OK;
}

/* Arguments are an object, to providers as to us. */
static int read_schema(const char *name, hob_str text, hob_schema **out, hob_error *err) {
    hob_error why = {.message = ""};
    hob_schema *s = NULL;
    int r = hob_schema_create(text, &s, &why);
    if (r < 0) return hob_fail(err, r, 0, "the tool %s: %s", name, why.message);
    if (s->root->types == HOB_SCHEMA_OBJECT) {
        *out = s;
        return HOB_OK;
    }
    hob_schema_destroy(s);
    return hob_fail(err, HOB_EINVAL, 0, "the tool %s: its schema must say \"type\": \"object\"",
                    name);
}

static void copy_texts(entry *e) {
    e->tool.name = hob_dupz(hob_str_z(e->tool.name));
    e->tool.description = hob_dupz(hob_str_z(e->tool.description));
    e->tool.schema = hob_dupz(hob_str_z(e->tool.schema));
}

static int add(hob_tools *t, const hob_tool *tool, bool lasting, hob_error *err) {
    hob_schema *schema = NULL;
    int r = check(t, tool, err);
    if (r < 0) return r;
    const char *text = tool->schema ? tool->schema : NO_ARGUMENTS;
    r = read_schema(tool->name, hob_str_z(text), &schema, err);
    if (r < 0) return r;
    entry *e = HOB_NEW(entry);
    memcpy(&e->tool, tool, HOB_MIN(tool->size, sizeof e->tool));
    e->tool.size = sizeof(hob_tool);
    e->tool.schema = text;
    e->lasting = lasting;
    if (!lasting) copy_texts(e);
    e->schema = schema;
    t->text += text_of(&e->tool);
    hob_list_push(&t->entries, &e->link);
    hob_map_put(t->by_name, hob_str_z(e->tool.name), e);
    t->version++;
    return HOB_OK;
}

int hob_tools_add(hob_tools *t, const hob_tool *tool, hob_error *err) {
    return add(t, tool, false, err);
}

int hob_tools_add_lasting(hob_tools *t, const hob_tool *tool, hob_error *err) {
    return add(t, tool, true, err);
}

int hob_tools_add_guest(hob_tools *t, const hob_tool *tool, hob_error *err) {
    int r = add(t, tool, false, err);
    if (r < 0) return r;
    entry *e = hob_map_get(t->by_name, hob_str_z(tool->name));
    e->guest = true;
    return HOB_OK;
}

int hob_tools_remove(hob_tools *t, hob_str name) {
    entry *e = hob_map_take(t->by_name, name);
    if (!e) return HOB_ENOENT;
    hob_list_remove(&e->link);
    t->text -= text_of(&e->tool);
    free_entry(e);
    t->version++;
    return HOB_OK;
}

void hob_tools_drop_guests(hob_tools *t) {
    HOB_LIST_EACH_SAFE (it, &t->entries) {
        const entry *e = HOB_CONTAINER(it, entry, link);
        if (e->guest) hob_tools_remove(t, hob_str_z(e->tool.name));
    }
}

/* ---- looking ------------------------------------------------------------------------------- */

static bool is_offered(const hob_tools *t, hob_str name) {
    return !t->narrowed || hob_policy_offers(t->narrowed, name);
}

const hob_tool *hob_tools_find(const hob_tools *t, hob_str name) {
    entry *e = hob_map_get(t->by_name, name);
    return e && is_offered(t, name) ? &e->tool : NULL;
}

void hob_tools_narrow(hob_tools *t, hob_policy *p) {
    hob_policy_ref(p);
    hob_policy_destroy(t->narrowed);
    t->narrowed = p;
    t->version++;
}

void hob_tools_mark(hob_tools *t, hob_str name) {
    entry *e = hob_map_get(t->by_name, name);
    if (e) e->marked = true;
}

bool hob_tools_marked(const hob_tool *tool) {
    return HOB_CONTAINER(tool, entry, tool)->marked;
}

bool hob_tools_shown(const hob_tools *t, const hob_tool *tool) {
    return is_offered(t, hob_str_z(tool->name)) && !(tool->flags & HOB_TOOL_HIDDEN);
}

uint64_t hob_tools_version(const hob_tools *t) {
    return t->version;
}

static void write_tool(hob_jsonw *w, const hob_tool *tool) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "name", hob_str_z(tool->name));
    hob_jsonw_kstr(w, "description", hob_str_z(tool->description));
    hob_jsonw_kraw(w, "schema", hob_str_trim(hob_str_z(tool->schema)));
    hob_jsonw_object_end(w);
}

hob_str hob_tools_json(hob_tools *t) {
    if (t->json_version == t->version) return hob_buf_str(&t->json);
    hob_jsonw w;
    hob_buf_reset(&t->json);
    hob_jsonw_init(&w, &t->json);
    hob_jsonw_array(&w);
    HOB_LIST_EACH (it, &t->entries) {
        const hob_tool *tool = &HOB_CONTAINER(it, entry, link)->tool;
        if (hob_tools_shown(t, tool)) write_tool(&w, tool);
    }
    hob_jsonw_array_end(&w);
    t->json_version = t->version;
    return hob_buf_str(&t->json);
}

const char *hob_tools_nearest(const hob_tools *t, hob_str name) {
    const char *names[MAX_TOOLS];
    size_t n = 0;
    HOB_LIST_EACH (it, &t->entries) {
        const hob_tool *tool = &HOB_CONTAINER(it, entry, link)->tool;
        if (hob_tools_shown(t, tool)) names[n++] = tool->name;
    }
    return hob_str_nearest(name, names, n);
}

void hob_tools_rest(hob_tools *t) {
    hob_buf_finish(&t->json);
    hob_buf_init(&t->json, MAX_JSON);
    t->json_version = 0;
    HOB_LIST_EACH (it, &t->entries) {
        entry *e = HOB_CONTAINER(it, entry, link);
        hob_schema_destroy(e->schema);
        e->schema = NULL;
    }
}

/* ---- arguments ----------------------------------------------------------------------------- */

/* Some providers send nothing at all for "no arguments". */
static int check_args(entry *e, hob_arena *arena, hob_str args, hob_error *err) {
    hob_json_opts opts = {.max_bytes = MAX_ARGS, .max_depth = 128};
    hob_error why = {.message = ""};
    const hob_json *v = NULL;
    if (hob_str_trim(args).n == 0) args = HOB_STR("{}");
    if (hob_json_parse(arena, args, &opts, &v, &why) < 0)
        return hob_fail(err, HOB_EINVAL, 0, "the arguments of %s are not valid JSON: %s",
                        e->tool.name, why.message);
    if (!e->schema) {
        int r = read_schema(e->tool.name, hob_str_z(e->tool.schema), &e->schema, err);
        if (r < 0) return r;
    }
    if (hob_schema_check(e->schema, v, &why) < 0)
        return hob_fail(err, HOB_EINVAL, 0, "wrong arguments for %s: %s", e->tool.name,
                        why.message);
    return HOB_OK;
}

int hob_tools_check(const hob_tools *t, const hob_tool *tool, hob_str args, hob_error *err) {
    (void)t;
    hob_arena *arena = hob_arena_create(0);
    int r = check_args(HOB_CONTAINER(tool, entry, tool), arena, args, err);
    hob_arena_destroy(arena);
    return r;
}
