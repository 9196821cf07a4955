/*
 * json_number.h - the text of a JSON number as a machine number and back, whatever the locale.
 */
#ifndef HOB_SRC_JSON_NUMBER_H
#define HOB_SRC_JSON_NUMBER_H

#include "base/base.h"

#define HOB_NUMBER_TEXT 32

/* `text` is a well-formed JSON number. 1.0 and 1e3 are integers; HOB_EINVAL if it is none or does
 * not fit. */
int hob_number_int(hob_str text, int64_t *out);
double hob_number_double(hob_str text); /* nearest; infinite when out of range */
/* The shortest text that reads back as v, which is finite. Returns its length. */
size_t hob_number_format(double v, char out[HOB_NUMBER_TEXT]);

#endif
