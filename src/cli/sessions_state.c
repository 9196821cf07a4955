/*
 * sessions_state.c - `hob sessions state`: the values that a session keeps, and those it shares with others.
 */
#include "cli/sessions.h"

enum { KEY_COLUMNS = 24, VALUE_COLUMNS = 200 };

static void print_json(hob_cli *cli, const hob_state *s) {
    hob_str key = HOB_STR_NULL, value;
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 256u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    while (hob_state_next(s, key, &key, &value)) {
        hob_jsonw_key_n(&w, key);
        hob_jsonw_raw(&w, value);
    }
    hob_jsonw_object_end(&w);
    hob_show_out(&cli->out, hob_buf_str(&b));
    hob_out_add(&cli->out, HOB_STR("\n"));
    hob_buf_finish(&b);
}

static void print_lines(hob_cli *cli, const hob_state *s) {
    hob_str key = HOB_STR_NULL, value;
    while (hob_state_next(s, key, &key, &value)) {
        hob_buf name, line;
        hob_buf_init(&name, 8192);
        hob_buf_init(&line, 8192);
        hob_show_line(&name, key, VALUE_COLUMNS);
        hob_show_line(&line, value, VALUE_COLUMNS);
        hob_out_addf(&cli->out, "%-*s %s\n", KEY_COLUMNS, hob_buf_z(&name), hob_buf_z(&line));
        hob_buf_finish(&name);
        hob_buf_finish(&line);
    }
}

int hob_sessions_state(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    hob_state *s;
    char *id = NULL;
    int code = hob_sessions_find_id(j, hob_sessions_word(j, 0), &id, err);
    if (code < 0) return code;
    code = hob_runtime_session_state(j->cli->rt, id, &s, err);
    hob_free(id);
    if (code < 0) return code;
    if (j->o->json)
        print_json(j->cli, s);
    else
        print_lines(j->cli, s);
    if (!j->o->json && !hob_state_count(s)) hob_tell_note(j->cli, "the session has no state");
    hob_state_destroy(s);
    return HOB_OK;
}
