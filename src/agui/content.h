/*
 * content.h - content blocks of the log and content of AG-UI messages, each as the other. Pure.
 */
#ifndef HOB_SRC_AGUI_CONTENT_H
#define HOB_SRC_AGUI_CONTENT_H

#include <hob/agui_input.h>

#include "base/json.h"

enum { HOB_AGUI_MADE_ID = 160 }; /* room for an id that is made of the log's */

/* Texts joined by line breaks; blocks that the client is not to see are left out. */
void hob_agui_text_of(const hob_json *blocks, hob_buf *out);
/* One value: a string, or an array of parts if there are images and the dialect has them. */
void hob_agui_write_content(hob_jsonw *w, const hob_json *blocks, hob_agui_dialect dialect);
bool hob_agui_has_images(const hob_json *blocks);
/* The id that a client gave, or "". */
hob_str hob_agui_message_id(const hob_json *block);
/* A block that is for the model only. */
bool hob_agui_hidden(const hob_json *block);

/* An AG-UI message's content as blocks, members of the array that w is in. The first carries `id`. */
void hob_agui_write_blocks(hob_jsonw *w, const hob_json *content, hob_str id);
void hob_agui_write_text_block(hob_jsonw *w, hob_str text, hob_str id);

/* A user's words in the log are one message or several, as ids of clients say. Calls fn for each; `id` lives until it
 * returns. `entry` names those without an id. */
typedef int (*hob_agui_said_fn)(hob_str id, const hob_json *first, const hob_json *end, void *user);
int hob_agui_each_said(const hob_json *blocks, hob_str entry, hob_agui_said_fn fn, void *user);

#endif
