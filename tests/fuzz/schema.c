/*
 * Input: a schema, a NUL, a value. Whatever they are, nothing breaks; the verdict does not depend on
 * whether somebody wants the words, the words are UTF-8, and a value fits itself as a constant.
 */
#include "tool/tool.h"

#include <stdlib.h>

static void check_value(const hob_schema *s, hob_arena *arena, hob_str text) {
    hob_error err = {.message = ""};
    const hob_json *v = NULL;
    if (hob_json_parse(arena, text, NULL, &v, NULL) < 0) return;
    int r = hob_schema_check(s, v, &err);
    if (r != hob_schema_check(s, v, NULL)) abort();
    if (r < 0 && !err.message[0]) abort();
}

/* {"const": V} accepts V, unless V is too deep or too big for a schema. */
static void check_constant(hob_arena *arena, hob_str text) {
    const hob_json *v = NULL;
    hob_schema *s = NULL;
    hob_buf schema;
    if (hob_json_parse(arena, text, NULL, &v, NULL) < 0) return;
    hob_buf_init(&schema, 1 << 20);
    hob_buf_addf(&schema, "{\"const\":%.*s}", HOB_FMT(text));
    if (hob_schema_create(hob_buf_str(&schema), &s, NULL) == HOB_OK &&
        hob_schema_check(s, v, NULL) < 0)
        abort();
    hob_schema_destroy(s);
    hob_buf_finish(&schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str value = hob_str_n((const char *)data, size), schema = HOB_STR("");
    hob_schema *s = NULL;
    if (size == 0 || !hob_str_split(&value, '\0', &schema)) return 0;
    hob_arena *arena = hob_arena_create(0);
    if (hob_schema_create(schema, &s, NULL) == HOB_OK) check_value(s, arena, value);
    hob_schema_destroy(s);
    check_constant(arena, value);
    hob_arena_destroy(arena);
    return 0;
}
