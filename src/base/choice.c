#include "base/choice.h"

const hob_json *hob_choices_titled(const hob_json *schema) {
    const hob_json *all = hob_json_get(schema, "oneOf");
    if (hob_json_get(schema, "enum")) return NULL;
    if (!all) all = hob_json_get(schema, "anyOf");
    for (const hob_json *v = hob_json_first(all); v; v = hob_json_next(v))
        if (!hob_json_get(v, "const")) return NULL;
    return all;
}

const hob_json *hob_choices(const hob_json *schema) {
    const hob_json *all = hob_json_get(schema, "enum");
    return all ? all : hob_choices_titled(schema);
}

const hob_json *hob_choice_value(const hob_json *schema, const hob_json *choice) {
    return hob_json_get(schema, "enum") ? choice : hob_json_get(choice, "const");
}

hob_str hob_choice_words(const hob_json *schema, const hob_json *choice) {
    const hob_json *v = hob_choice_value(schema, choice);
    hob_str title = v == choice ? HOB_STR_NULL : hob_json_get_str(choice, "title");
    if (title.n) return title;
    return hob_json_is(v, HOB_JSON_STRING) ? hob_json_str(v) : hob_json_raw(v);
}
