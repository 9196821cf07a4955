/*
 * json_equal.h - are two JSON values the same? By value: the spelling of a number or a string does not matter, nor the order
 * of an object's members, of which the last of a name counts. The work grows with the bytes, however many members there are.
 */
#ifndef HOB_SRC_JSON_EQUAL_H
#define HOB_SRC_JSON_EQUAL_H

#include "base/json.h"

bool hob_json_equal(const hob_json *a, const hob_json *b); /* NULL equals nothing */
int hob_json_compare_numbers(const hob_json *a,
                             const hob_json *b); /* as strcmp; exact for int64_t */

#endif
