/*
 * yaml.h - the part of YAML that people write at the top of their Markdown, as hob_json values.
 *
 * Block and flow lists and maps, plain, quoted, | and > scalars. Refused with their line: anchors,
 * aliases, tags, directives, a second document, keys that are not scalars, a key given twice. Plain
 * true, false, null, ~ and JSON numbers are what they look like; everything else is a string.
 */
#ifndef HOB_SRC_CONFIG_YAML_H
#define HOB_SRC_CONFIG_YAML_H

#include "base/json.h"

#define HOB_YAML_MAX (64u << 10) /* bytes of source */
#define HOB_YAML_DEPTH 8         /* containers in one another */
#define HOB_YAML_NODES 4096      /* values in all */
#define HOB_YAML_KEYS 64         /* of the outermost map */

typedef struct hob_yaml {
    const hob_json *root;           /* an object, in the arena; {} for a blank text */
    size_t n, lines[HOB_YAML_KEYS]; /* where each member of root stands */
} hob_yaml;

/* Lines are counted from `first_line`. On failure (HOB_EPARSE, HOB_ETOOBIG) *line is where it is. */
int hob_yaml_parse(hob_arena *a, hob_str text, size_t first_line, hob_yaml *out, size_t *line,
                   hob_error *err);
size_t hob_yaml_line(const hob_yaml *y, const char *key); /* 0 if there is no such key */

#endif
