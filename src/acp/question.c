/*
 * question.c - what the model asks the user, in the editor.
 *
 * Choices, and yes or no, are shown as the options of a permission request: every editor has those. Anything else needs an
 * editor that shows forms (elicitation). Its forms are objects of plain members, so an answer that is none is the one
 * member of such an object. What neither can show, the model is told.
 */
#include "acp/acp.h"

#include "base/choice.h"

#include <stdio.h>

enum { CHOICES_MAX = 32 };
#define ONLY "answer" /* the member of a form that is only one field */

/* ---- choices ------------------------------------------------------------------------------------ */

static bool is_type(const hob_json *schema, const char *type) {
    return hob_str_eqz(hob_json_get_str(schema, "type"), type);
}

static void write_option(hob_jsonw *w, const char *id, hob_str name, const char *kind) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "optionId", hob_str_z(id));
    hob_jsonw_kstr(w, "name", name);
    hob_jsonw_kstr(w, "kind", hob_str_z(kind));
    hob_jsonw_object_end(w);
}

void hob_acp_question_options(hob_jsonw *w, const hob_json *schema) {
    const hob_json *c = hob_json_first(hob_choices(schema));
    char id[32];
    for (int i = 0; c; c = hob_json_next(c), i++) {
        snprintf(id, sizeof id, "choice-%d", i);
        write_option(w, id, hob_choice_words(schema, c), "allow_once");
    }
    if (!hob_choices(schema)) {
        write_option(w, "true", HOB_STR("Yes"), "allow_once");
        write_option(w, "false", HOB_STR("No"), "allow_once");
    }
    write_option(w, "decline", HOB_STR("Do not answer"), "reject_once");
}

static bool take_option(const hob_json *schema, hob_str option, hob_buf *out) {
    int64_t i = 0;
    bool choice = hob_str_starts(option, HOB_STR("choice-")) &&
                  hob_str_int(hob_str_skip(option, 7), &i) >= 0 && i >= 0;
    bool word = hob_str_eqz(option, "true") || hob_str_eqz(option, "false");
    if (choice) {
        const hob_json *c = hob_json_at(hob_choices(schema), (size_t)i);
        hob_buf_add(out, hob_json_raw(hob_choice_value(schema, c)));
    } else if (word) {
        hob_buf_add(out, option);
    }
    return out->n > 0;
}

/* ---- forms --------------------------------------------------------------------------------------- */

static bool are_strings(const hob_json *schema) {
    const hob_json *c = hob_json_first(hob_choices(schema));
    for (; c; c = hob_json_next(c))
        if (!hob_json_is(hob_choice_value(schema, c), HOB_JSON_STRING)) return false;
    return true;
}

/* The type that the protocol has for it; NULL = none. */
static const char *type_of(const hob_json *schema) {
    static const char *const plain[] = {"string", "number", "integer", "boolean"};
    const hob_json *items = hob_json_get(schema, "items");
    if (!schema) return "string";
    if (hob_choices(schema)) return are_strings(schema) ? "string" : NULL;
    for (size_t i = 0; i < HOB_ARRAY_LEN(plain); i++)
        if (is_type(schema, plain[i])) return plain[i];
    bool several = is_type(schema, "array") && hob_choices(items) && are_strings(items);
    return several ? "array" : NULL;
}

static void write_choices(hob_jsonw *w, const hob_json *schema, const char *titled) {
    const hob_json *plain = hob_json_get(schema, "enum");
    const hob_json *c = hob_json_first(hob_choices_titled(schema));
    if (plain) hob_jsonw_kraw(w, "enum", hob_json_raw(plain));
    if (plain || !c) return;
    hob_jsonw_key(w, titled);
    hob_jsonw_array(w);
    for (; c; c = hob_json_next(c)) {
        hob_str value = hob_json_get_str(c, "const"), title = hob_json_get_str(c, "title");
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "const", value);
        hob_jsonw_kstr(w, "title", title.n ? title : value);
        hob_jsonw_object_end(w);
    }
    hob_jsonw_array_end(w);
}

static void write_member(hob_jsonw *w, const hob_json *schema) {
    static const char *const same[] = {"title",     "description", "default",  "minimum", "maximum",
                                       "minLength", "maxLength",   "minItems", "maxItems"};
    const hob_json *v, *items = hob_json_get(schema, "items");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", hob_str_z(type_of(schema)));
    for (size_t i = 0; i < HOB_ARRAY_LEN(same); i++)
        if ((v = hob_json_get(schema, same[i]))) hob_jsonw_kraw(w, same[i], hob_json_raw(v));
    write_choices(w, schema, "oneOf");
    if (items) {
        hob_jsonw_key(w, "items");
        hob_jsonw_object(w);
        if (hob_json_get(items, "enum")) hob_jsonw_kstr(w, "type", HOB_STR("string"));
        write_choices(w, items, "anyOf");
        hob_jsonw_object_end(w);
    }
    hob_jsonw_object_end(w);
}

static const hob_json *members_of(const hob_json *schema) {
    return is_type(schema, "object") ? hob_json_get(schema, "properties") : NULL;
}

static void write_fields(hob_jsonw *w, const hob_json *schema) {
    const hob_json *all = members_of(schema), *required = hob_json_get(schema, "required");
    hob_jsonw_kstr(w, "type", HOB_STR("object"));
    hob_jsonw_key(w, "properties");
    hob_jsonw_object(w);
    for (const hob_json *m = hob_json_first(all); m; m = hob_json_next(m)) {
        hob_jsonw_key_n(w, hob_json_key(m));
        write_member(w, m);
    }
    if (!all) hob_jsonw_key(w, ONLY);
    if (!all) write_member(w, schema);
    hob_jsonw_object_end(w);
    if (all && required) hob_jsonw_kraw(w, "required", hob_json_raw(required));
    if (!all) hob_jsonw_kraw(w, "required", HOB_STR("[\"" ONLY "\"]"));
}

void hob_acp_question_form(hob_acp_session *s, const hob_json *d, hob_buf *params) {
    hob_jsonw w;
    hob_jsonw_init(&w, params);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "sessionId", hob_str_z(s->id));
    hob_jsonw_kstr(&w, "toolCallId", hob_json_get_str(d, "call"));
    hob_jsonw_kstr(&w, "mode", HOB_STR("form"));
    hob_jsonw_kstr(&w, "message", hob_json_get_str(d, "question"));
    hob_jsonw_key(&w, "requestedSchema");
    hob_jsonw_object(&w);
    write_fields(&w, hob_json_get(d, "schema"));
    hob_jsonw_object_end(&w);
    hob_jsonw_object_end(&w);
}

/* ---- between the two --------------------------------------------------------------------------------- */

hob_acp_way hob_acp_question_way(const hob_acp_session *s, const hob_json *schema) {
    const hob_json *all = members_of(schema), *choices = hob_choices(schema);
    if (is_type(schema, "boolean") && !choices) return HOB_ACP_OPTIONS;
    if (choices && hob_json_count(choices) <= CHOICES_MAX) return HOB_ACP_OPTIONS;
    bool plain = all || type_of(schema);
    for (const hob_json *m = hob_json_first(all); m; m = hob_json_next(m))
        plain = plain && type_of(m);
    return plain && s->acp->client.forms ? HOB_ACP_FORM : HOB_ACP_NO_WAY;
}

bool hob_acp_question_answer(const hob_json *schema, const hob_json *result, hob_buf *out) {
    const hob_json *outcome = hob_json_get(result, "outcome");
    const hob_json *content = hob_json_get(result, "content");
    if (outcome) return take_option(schema, hob_json_get_str(outcome, "optionId"), out);
    if (!hob_str_eqz(hob_json_get_str(result, "action"), "accept")) return false;
    if (!members_of(schema)) content = hob_json_get(content, ONLY);
    hob_buf_add(out, hob_json_raw(content));
    return out->n > 0;
}
