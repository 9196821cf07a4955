/*
 * options.c - what the user can choose in the editor: the permission mode, the model, how much it thinks; and the
 * commands that a prompt may begin with.
 *
 * The mode is told twice, as the protocol has it: as one of `modes`, and as an option among others, for editors that
 * know options.
 */
#include "acp/acp.h"

#include "session/session.h"

#define MODELS_MAX 200

typedef struct choice {
    const char *id, *name, *description;
} choice;

static const choice modes[] = {
    {"ask", "Ask", "Reads freely; asks before it writes or runs something"},
    {"accept-edits", "Accept edits",
     "Writes in the workspace without asking; asks before it runs something"},
    {"plan", "Plan", "Reads only"},
    {"yolo", "Yolo", "Asks nothing; rules that deny still hold"},
};

static const choice levels[] = {
    {"off", "Off", NULL},       {"minimal", "Minimal", NULL}, {"low", "Low", NULL},
    {"medium", "Medium", NULL}, {"high", "High", NULL},       {"xhigh", "Extra high", NULL},
};

/* ---- how it stands --------------------------------------------------------------------------- */

static void info(hob_acp_session *s, const char *key, char *out, size_t cap) {
    hob_page *page = NULL;
    out[0] = 0;
    if (hob_session_info(s->s, &page, NULL) < 0) return;
    hob_json_field(hob_page_row(page, 0), key, out, cap);
    hob_page_destroy(page);
}

bool hob_acp_is_paused(hob_acp_session *s) {
    char word[8];
    info(s, "paused", word, sizeof word);
    return !strcmp(word, "true");
}

int64_t hob_acp_context(hob_acp_session *s) {
    return s->s->model.context;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_choice(hob_jsonw *w, const char *id_key, const choice *c) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, id_key, hob_str_z(c->id));
    hob_jsonw_kstr(w, "name", hob_str_z(c->name));
    if (c->description) hob_jsonw_kstr(w, "description", hob_str_z(c->description));
    hob_jsonw_object_end(w);
}

static void write_modes(hob_jsonw *w, const char *current) {
    hob_jsonw_key(w, "modes");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "currentModeId", hob_str_z(current));
    hob_jsonw_key(w, "availableModes");
    hob_jsonw_array(w);
    for (size_t i = 0; i < HOB_ARRAY_LEN(modes); i++) write_choice(w, "id", &modes[i]);
    hob_jsonw_array_end(w);
    hob_jsonw_object_end(w);
}

/* Up to its list of options. */
static void begin_option(hob_jsonw *w, const choice *o, const char *category, const char *current) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "id", hob_str_z(o->id));
    hob_jsonw_kstr(w, "name", hob_str_z(o->name));
    hob_jsonw_kstr(w, "category", hob_str_z(category));
    hob_jsonw_kstr(w, "type", HOB_STR("select"));
    hob_jsonw_kstr(w, "currentValue", hob_str_z(current));
    hob_jsonw_key(w, "options");
    hob_jsonw_array(w);
}

static void end_option(hob_jsonw *w) {
    hob_jsonw_array_end(w);
    hob_jsonw_object_end(w);
}

/* Those that can be used now. The one in use is among them, whatever it is. */
static void write_models(hob_acp_session *s, hob_jsonw *w, const char *current) {
    char name[512], key[8];
    hob_page *page = NULL;
    bool found = false;
    begin_option(w, &(choice){"model", "Model", NULL}, "model", current);
    if (hob_runtime_models(s->rt, &page, NULL) >= 0)
        for (size_t i = 0; i < HOB_MIN(hob_page_count(page), (size_t)MODELS_MAX); i++) {
            hob_str row = hob_page_row(page, i);
            bool usable = hob_json_field(row, "key", key, sizeof key) > 0 && !strcmp(key, "true");
            if (hob_json_field(row, "name", name, sizeof name) <= 0) continue;
            if (!usable && strcmp(name, current)) continue;
            found = found || !strcmp(name, current);
            write_choice(w, "value", &(choice){name, name, NULL});
        }
    if (!found) write_choice(w, "value", &(choice){current, current, NULL});
    hob_page_destroy(page);
    end_option(w);
}

static void write_levels(hob_jsonw *w, const char *current) {
    bool found = false;
    begin_option(w, &(choice){"thinking", "Thinking", NULL}, "thought_level", current);
    for (size_t i = 0; i < HOB_ARRAY_LEN(levels); i++) {
        found = found || !strcmp(levels[i].id, current);
        write_choice(w, "value", &levels[i]);
    }
    if (!found) write_choice(w, "value", &(choice){current, "As the model does", NULL});
    end_option(w);
}

static void write_config(hob_acp_session *s, hob_jsonw *w, const char *mode) {
    char model[512] = "", level[32] = "";
    hob_session_model(s->s, model, sizeof model);
    hob_session_thinking(s->s, level, sizeof level);
    hob_jsonw_key(w, "configOptions");
    hob_jsonw_array(w);
    begin_option(w, &(choice){"mode", "Mode", NULL}, "mode", mode);
    for (size_t i = 0; i < HOB_ARRAY_LEN(modes); i++) write_choice(w, "value", &modes[i]);
    end_option(w);
    write_models(s, w, model);
    write_levels(w, level);
    hob_jsonw_array_end(w);
}

void hob_acp_write_options(hob_acp_session *s, hob_jsonw *w) {
    char mode[32];
    info(s, "permission_mode", mode, sizeof mode);
    write_modes(w, mode);
    write_config(s, w, mode);
}

/* ---- telling --------------------------------------------------------------------------------- */

void hob_acp_send_options(hob_acp_session *s) {
    char mode[32];
    hob_acp_update u;
    info(s, "permission_mode", mode, sizeof mode);
    hob_acp_update_begin(&u, s, "config_option_update");
    write_config(s, &u.w, mode);
    hob_acp_update_end(&u);
}

void hob_acp_send_mode(hob_acp_session *s, hob_str mode) {
    hob_acp_update u;
    hob_acp_update_begin(&u, s, "current_mode_update");
    hob_jsonw_kstr(&u.w, "currentModeId", mode);
    hob_acp_update_end(&u);
}

static void write_command(hob_jsonw *w, hob_str row) {
    const hob_json *r = NULL;
    hob_arena *a = hob_arena_create(0);
    if (hob_json_parse(a, row, NULL, &r, NULL) >= 0) {
        hob_str name = hob_json_get_str(r, "name");
        /* "/name ARGUMENTS" */
        hob_str usage = hob_str_trim(hob_str_skip(hob_json_get_str(r, "usage"), name.n + 1));
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "name", name);
        hob_jsonw_kstr(w, "description", hob_json_get_str(r, "description"));
        if (usage.n) {
            hob_jsonw_key(w, "input");
            hob_jsonw_object(w);
            hob_jsonw_kstr(w, "hint", usage);
            hob_jsonw_object_end(w);
        }
        hob_jsonw_object_end(w);
    }
    hob_arena_destroy(a);
}

void hob_acp_send_commands(hob_acp_session *s) {
    hob_page *page = NULL;
    hob_acp_update u;
    if (hob_session_commands(s->s, &page, NULL) < 0) return;
    hob_acp_update_begin(&u, s, "available_commands_update");
    hob_jsonw_key(&u.w, "availableCommands");
    hob_jsonw_array(&u.w);
    for (size_t i = 0; i < hob_page_count(page); i++) write_command(&u.w, hob_page_row(page, i));
    hob_jsonw_array_end(&u.w);
    hob_acp_update_end(&u);
    hob_page_destroy(page);
}

/* ---- choosing -------------------------------------------------------------------------------- */

static int set(hob_acp_session *s, hob_str option, hob_str value, hob_error *err) {
    char *v = hob_dupz(value);
    int code;
    if (hob_str_eqz(option, "mode"))
        code = hob_session_set_permission_mode(s->s, v, err);
    else if (hob_str_eqz(option, "model"))
        code = hob_session_set_model(s->s, v, err);
    else if (hob_str_eqz(option, "thinking"))
        code = hob_session_set_thinking(s->s, v, err);
    else
        code = hob_fail(err, HOB_EINVAL, 0, "there is no option '%.*s': mode, model, thinking",
                        HOB_FMT(hob_str_first(option, hob_utf8_prefix(option, 60))));
    hob_free(v);
    return code;
}

int hob_acp_set_mode(hob_acp_request *q, hob_error *err) {
    int code = set(q->s, HOB_STR("mode"), hob_json_get_str(q->params, "modeId"), err);
    if (code >= 0) hob_acp_result(q->acp, q->id, HOB_STR("{}"));
    return code;
}

int hob_acp_set_option(hob_acp_request *q, hob_error *err) {
    char mode[32];
    hob_buf b;
    hob_jsonw w;
    int code = set(q->s, hob_json_get_str(q->params, "configId"),
                   hob_json_get_str(q->params, "value"), err);
    if (code < 0) return code;
    info(q->s, "permission_mode", mode, sizeof mode);
    hob_buf_init(&b, 4u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    write_config(q->s, &w, mode);
    hob_jsonw_object_end(&w);
    hob_acp_result(q->acp, q->id, hob_buf_str(&b));
    hob_buf_finish(&b);
    return HOB_OK;
}
