/*
 * definition.h - the inside of definitions: a text into a value, many values by name.
 *
 * Pure: texts come from config/discover.h by way of session/definitions.c, which is the only one that
 * reads files for them.
 */
#ifndef HOB_SRC_AGENT_DEFINITION_H
#define HOB_SRC_AGENT_DEFINITION_H

#include <hob/agent.h>
#include <hob/definitions.h>

#include "config/yaml.h"
#include "policy/policy.h"

#define HOB_DEFINITIONS_MAX 4096
#define HOB_DEFINITION_NAME_MAX 64
#define HOB_DEFINITION_DESCRIPTION_MAX 1024 /* characters, of a skill */
#define HOB_DEFINITION_LINE 256             /* bytes of a value that is one line */
#define HOB_DEFINITION_WORDS 256            /* in one list */
#define HOB_DEFINITION_REMARKS 16

/* ---- read.c: one text ------------------------------------------------------------------------ */
typedef struct hob_def_text {
    hob_definition_kind kind;
    hob_str stem; /* the file's name without its ending, or the folder of a SKILL.md */
    hob_str text; /* borrowed for the call only */
    bool yaml;    /* all of it is YAML, there is no front matter */
    hob_mode widest;
} hob_def_text;
/* Fills what a file can say; everything lies in the arena. HOB_EPARSE, HOB_ETOOBIG: the message and *line (0 = the
 * whole file) say what is wrong, without the file. */
int hob_definition_read(hob_arena *a, const hob_def_text *t, hob_definition *out, size_t *line,
                        hob_error *err);
/* Front matter and what follows it, which begins on *body_line. False: there is none (*front is NULL), or it has no
 * end. */
bool hob_front_matter_split(hob_str text, hob_str *front, hob_str *body, size_t *body_line);
bool hob_agent_name_valid(hob_str name, const char **why);
bool hob_skill_name_valid(hob_str name, const char **why);
bool hob_command_name_valid(hob_str name, const char **why);

/* ---- fields.c: values of the front matter ---------------------------------------------------- */
typedef struct hob_def_reader {
    hob_arena *a;
    hob_yaml front;
    hob_str body;
    size_t body_line;
    const hob_def_text *from;
    hob_definition *out;
    hob_str *remarks;
    size_t *line;
    hob_error *err;
} hob_def_reader;
/* Keys are compared without case, - and _: maxTurns is max-turns. HOB_EPARSE: it is there twice. */
int hob_def_find(hob_def_reader *r, const char *key, const hob_json **out);
int hob_def_get_text(hob_def_reader *r, const char *key, size_t max, hob_str *out);
int hob_def_get_line(hob_def_reader *r, const char *key, size_t max, hob_str *out);
int hob_def_get_words(hob_def_reader *r, const char *key, bool *said, hob_strs *out);
int hob_def_get_flag(hob_def_reader *r, const char *key, unsigned flag);
int hob_def_get_count(hob_def_reader *r, const char *key, int64_t *out);
/* What is not in the list: misspelt limits are refused, the rest is remarked on. */
int hob_def_check_keys(hob_def_reader *r, const char *const *known, size_t n);
/* Keys that say the same; "*" is the same as saying nothing. Sets HOB_DEFINITION_TOOLS. */
int hob_def_get_tools(hob_def_reader *r, const char *const *keys, size_t n);
int hob_def_keep_text(hob_def_reader *r, hob_str s);
size_t hob_def_line(hob_def_reader *r, const char *key); /* 0 = it is not there */
/* agent.c, skill.c: the rest of a definition, once the front matter is read. */
int hob_skill_read(hob_def_reader *r);
int hob_command_read(hob_def_reader *r);
int hob_def_refuse(hob_def_reader *r, const char *key, const char *fmt, ...) HOB_PRINTF(3, 4);
void hob_def_remark(hob_def_reader *r, size_t line, const char *fmt, ...) HOB_PRINTF(3, 4);

/* ---- workflow.c: agents made of agents --------------------------------------------------------- */
typedef struct hob_def_flow {
    bool any; /* it is more than a plain agent */
    hob_agent_kind kind;
    unsigned flags; /* HOB_AGENT_… */
    int64_t max_iterations;
    hob_str condition, output_key, output_schema;
    const hob_json *agents; /* names, or maps like the whole; NULL = none */
} hob_def_flow;
int hob_def_flow_read(hob_def_reader *r, hob_def_flow *out);
int hob_agent_read(hob_def_reader *r, hob_def_flow *flow); /* agent.c */
/* One that stands in another's file, or the source of one. */
int hob_definition_read_object(hob_arena *a, const hob_json *o, hob_definition *x,
                               hob_def_flow *flow, hob_error *err);

/* ---- template.c ------------------------------------------------------------------------------ */
int hob_template_expand(hob_str text, hob_str arguments, hob_buf *out);

/* ---- registry.c: all of them ------------------------------------------------------------------ */
typedef struct hob_def_entry {
    hob_definition x;
    hob_arena *arena;
    hob_str dir, workspace;
    unsigned batch;
} hob_def_entry;

typedef struct hob_def_list {
    hob_def_entry **at;
    size_t n, cap;
    hob_mode widest;
    unsigned batch;
} hob_def_list;
hob_def_list *hob_def_list_create(hob_mode widest);
void hob_def_list_destroy(hob_def_list *l);

typedef struct hob_def_file {
    hob_def_text text; /* `widest` is the registry's */
    hob_str path, dir;
    hob_str workspace; /* what the file has to stay in when it is read again; "" = nothing */
    hob_origin origin; /* FLAG is nearer than the rest */
    bool trusted;
    const char *why; /* it could not be read; NULL = it could */
} hob_def_file;
/* One folder on its way in: read into a list of its own, then put in place at once, so that nobody sees half of it.
 * In it the first of a name wins; of two folders the later. */
int hob_def_list_add(hob_def_list *stage, const hob_def_file *f, hob_error *err);
/* Takes everything from `stage`; what came from this folder before is forgotten. HOB_ETOOBIG: nothing changed. */
int hob_def_list_replace(hob_def_list *l, hob_definition_kind kind, hob_str dir,
                         hob_def_list *stage, hob_error *err);
int hob_def_list_add_workers(hob_def_list *l, const hob_definition *agents, size_t n,
                             hob_error *err);
const hob_definition *hob_def_list_find(const hob_def_list *l, hob_definition_kind kind,
                                        hob_str name);
const hob_definition *hob_def_list_at(const hob_def_list *l, size_t i);
hob_str hob_def_list_workspace_of(const hob_def_list *l, const hob_definition *x);
/* How many are live: of that kind and folder, or with dir "" in all. */
size_t hob_def_list_live(const hob_def_list *l, hob_definition_kind kind, hob_str dir);

/* ---- copy.c ------------------------------------------------------------------------------------ */
hob_strs hob_strs_dup(hob_arena *a, hob_strs from);
/* All of it lives in the arena. */
hob_definition hob_definition_copy(hob_arena *a, const hob_definition *x);
/* The live one of that name with everything it points to, in the arena; *workspace (may be NULL) is what its file has
 * to stay in. HOB_ENOENT. */
int hob_def_list_copy(const hob_def_list *l, hob_definition_kind kind, hob_str name, hob_arena *a,
                      hob_definition *out, hob_str *workspace);
/* All of a kind that are live, in the order of their names. */
size_t hob_def_list_all(const hob_def_list *l, hob_definition_kind kind, hob_arena *a,
                        hob_definition **out);
/* Why there is none of that name: not trusted, refused, or nothing like it; says what to do. HOB_ENOENT. */
int hob_def_list_missing(const hob_def_list *l, hob_definition_kind kind, hob_str name,
                         hob_error *err);
/* What it takes away from whoever uses it; borrows from x, `who` lies in the arena. */
hob_narrow hob_definition_narrow(const hob_definition *x, hob_arena *a);
/* The same for an agent of a workflow, or a workflow itself. */
hob_narrow hob_definition_narrow_part(const hob_definition *x, hob_arena *a);

#endif
