/*
 * choice.h - values that a JSON Schema lets one choose from: {"enum":[…]}, or {"oneOf":[{"const":…,"title":…},…]}, for
 * which anyOf is as good. For whoever shows a question to a person.
 */
#ifndef HOB_SRC_BASE_CHOICE_H
#define HOB_SRC_BASE_CHOICE_H

#include "base/json.h"

const hob_json *hob_choices(const hob_json *schema);        /* an array; NULL = it has none */
const hob_json *hob_choices_titled(const hob_json *schema); /* the same, if each may have a title */
/* Of one of these: what the answer is, and how it is called. */
const hob_json *hob_choice_value(const hob_json *schema, const hob_json *choice);
hob_str hob_choice_words(const hob_json *schema, const hob_json *choice);

#endif
