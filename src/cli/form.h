/*
 * form.h - a question of the model's to the user, answered line by line. What the schema asks for becomes a field, or,
 * if it is an object, one for each member; what is told here is the shape, the session says whether the answer fits.
 *
 *     hob_form_show(f, &out)        the question if it is the beginning, and the field that is next
 *     hob_form_take(f, line, &err)  its value
 */
#ifndef HOB_SRC_CLI_FORM_H
#define HOB_SRC_CLI_FORM_H

#include "base/json.h"

typedef struct hob_form hob_form;

hob_form *hob_form_create(hob_str question, hob_str schema); /* schema: JSON, or "" */
void hob_form_destroy(hob_form *f);                          /* NULL is fine */
/* All of it made visible, whatever it is made of. */
void hob_form_show(const hob_form *f, hob_buf *out);
void hob_form_hint(const hob_form *f, hob_buf *out); /* what can be typed now */
/* 1: that was the last one; 0: the next one is to be shown; HOB_EINVAL: the same one again. */
int hob_form_take(hob_form *f, hob_str line, hob_error *err);
hob_str hob_form_answer(const hob_form *f); /* JSON, after the last one */

#endif
