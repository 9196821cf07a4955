/*
 * content.c - what was said, in two vocabularies.
 */
#include "agui/content.h"

#include <stdio.h>

hob_str hob_agui_message_id(const hob_json *block) {
    return hob_json_get_str(block, "message_id");
}

bool hob_agui_hidden(const hob_json *block) {
    return hob_json_get_bool(block, "hidden", false);
}

static bool is(const hob_json *block, const char *type) {
    return hob_str_eqz(hob_json_get_str(block, "type"), type);
}

static void add_text(hob_buf *out, const hob_json *block) {
    hob_str typed = hob_json_get_str(block, "typed"); /* a command: what the user wrote */
    if (!is(block, "text") || hob_agui_hidden(block)) return;
    if (out->n) hob_buf_addc(out, '\n');
    hob_buf_add(out, typed.n ? typed : hob_json_get_str(block, "text"));
}

void hob_agui_text_of(const hob_json *blocks, hob_buf *out) {
    for (const hob_json *b = hob_json_first(blocks); b; b = hob_json_next(b)) add_text(out, b);
}

bool hob_agui_has_images(const hob_json *blocks) {
    for (const hob_json *b = hob_json_first(blocks); b; b = hob_json_next(b))
        if (is(b, "image")) return true;
    return false;
}

static void write_part(hob_jsonw *w, const hob_json *block) {
    bool image = is(block, "image");
    if ((!image && !is(block, "text")) || hob_agui_hidden(block)) return;
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", hob_json_get_str(block, "type"));
    if (image) {
        hob_jsonw_key(w, "source");
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "type", HOB_STR("data"));
        hob_jsonw_kstr(w, "value", hob_json_get_str(block, "data"));
        hob_jsonw_kstr(w, "mimeType", hob_json_get_str(block, "media_type"));
        hob_jsonw_object_end(w);
    } else {
        hob_jsonw_kstr(w, "text", hob_json_get_str(block, "text"));
    }
    hob_jsonw_object_end(w);
}

void hob_agui_write_content(hob_jsonw *w, const hob_json *blocks, hob_agui_dialect dialect) {
    if (dialect == HOB_AGUI_1_0 && hob_agui_has_images(blocks)) {
        hob_jsonw_array(w);
        for (const hob_json *b = hob_json_first(blocks); b; b = hob_json_next(b)) write_part(w, b);
        hob_jsonw_array_end(w);
        return;
    }
    hob_buf text;
    hob_buf_init(&text, (size_t)64 << 20);
    hob_agui_text_of(blocks, &text);
    hob_jsonw_str(w, hob_buf_str(&text));
    hob_buf_finish(&text);
}

/* ---- the other way ------------------------------------------------------------------------------------------ */

void hob_agui_write_text_block(hob_jsonw *w, hob_str text, hob_str id) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("text"));
    hob_jsonw_kstr(w, "text", text);
    hob_jsonw_kstr_opt(w, "message_id", id);
    hob_jsonw_object_end(w);
}

static bool is_shown(hob_str type) {
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(types); i++)
        if (hob_str_eqz(type, types[i])) return true;
    return false;
}

static void write_image(hob_jsonw *w, hob_str type, hob_str data, hob_str id) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("image"));
    hob_jsonw_kstr(w, "media_type", type);
    hob_jsonw_kstr(w, "data", data);
    hob_jsonw_kstr_opt(w, "message_id", id);
    hob_jsonw_object_end(w);
}

/* What cannot be used is said, so that the model knows that something was there. */
static void write_unusable(hob_jsonw *w, const hob_json *part, hob_str id) {
    char text[120];
    hob_str kind = hob_json_get_str(part, "type");
    snprintf(text, sizeof text, "[attachment left out: %.*s]",
             HOB_FMT(hob_str_first(kind, hob_utf8_prefix(kind, 40))));
    hob_agui_write_text_block(w, hob_str_z(text), id);
}

static void write_block(hob_jsonw *w, const hob_json *part, hob_str id) {
    const hob_json *source = hob_json_get(part, "source");
    bool older = is(part, "binary");
    hob_str type = hob_json_get_str(older ? part : source, "mimeType");
    hob_str data = older ? hob_json_get_str(part, "data") : hob_json_get_str(source, "value");
    bool here = older || hob_str_eqz(hob_json_get_str(source, "type"), "data");
    if (is(part, "text"))
        hob_agui_write_text_block(w, hob_json_get_str(part, "text"), id);
    else if (here && data.n && is_shown(type))
        write_image(w, type, data, id);
    else
        write_unusable(w, part, id);
}

void hob_agui_write_blocks(hob_jsonw *w, const hob_json *content, hob_str id) {
    if (!hob_json_is(content, HOB_JSON_ARRAY) || !hob_json_count(content)) {
        hob_agui_write_text_block(w, hob_json_str(content), id);
        return;
    }
    for (const hob_json *p = hob_json_first(content); p; p = hob_json_next(p)) {
        write_block(w, p, id);
        id = HOB_STR_NULL;
    }
}

/* ---- several messages in one ---------------------------------------------------------------------------------- */

int hob_agui_each_said(const hob_json *blocks, hob_str entry, hob_agui_said_fn fn, void *user) {
    const hob_json *b = hob_json_first(blocks);
    while (b && hob_agui_hidden(b)) b = hob_json_next(b);
    while (b) {
        hob_str id = hob_agui_message_id(b);
        const hob_json *end = hob_json_next(b);
        while (end && !hob_agui_message_id(end).n) end = hob_json_next(end);
        int rc = fn(id.n ? id : entry, b, end, user);
        if (rc < 0) return rc;
        b = end;
    }
    return 0;
}
