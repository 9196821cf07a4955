/*
 * sessions_search.c - `hob sessions search`: messages and titles with these words.
 */
#include "cli/sessions.h"

/* Where it stands on one line, what it says on the next. */
static void print_hit(hob_cli *cli, hob_str row) {
    const hob_json *r = NULL;
    hob_arena *a = hob_arena_create(0);
    hob_buf title, snippet;
    hob_buf_init(&title, 8192);
    hob_buf_init(&snippet, 8192);
    if (hob_json_parse(a, row, NULL, &r, NULL) >= 0) {
        hob_show_line(&title, hob_json_get_str(r, "title"), 60);
        hob_show_line(&snippet, hob_json_get_str(r, "snippet"), 250);
        hob_out_addf(&cli->out, "%.*s  %.*s  %.*s  %s\n", HOB_FMT(hob_json_get_str(r, "session")),
                     HOB_FMT(hob_str_first(hob_json_get_str(r, "time"), 16)),
                     HOB_FMT(hob_json_get_str(r, "role")), hob_buf_z(&title));
        if (!hob_str_eqz(hob_json_get_str(r, "role"), "title"))
            hob_out_addf(&cli->out, "    %s\n", hob_buf_z(&snippet));
    }
    hob_buf_finish(&title);
    hob_buf_finish(&snippet);
    hob_arena_destroy(a);
}

static void print_page(hob_sessions_job *j, const hob_page *page) {
    if (j->o->json) {
        hob_page_print_json(j->cli, page);
        return;
    }
    for (size_t i = 0; i < hob_page_count(page); i++) print_hit(j->cli, hob_page_row(page, i));
    if (!hob_page_count(page)) hob_tell_note(j->cli, "no message or title has all of these words");
    hob_page_print_next(j->cli, page, "sessions search ...");
}

int hob_sessions_search(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    hob_search_opts o = HOB_SEARCH_OPTS_INIT;
    hob_page *page = NULL;
    hob_buf words;
    hob_buf_init(&words, 1u << 20);
    hob_words_join(&words, j->words, 0);
    o.query = hob_buf_z(&words);
    o.of = &j->of;
    o.cursor = j->o->cursor;
    o.limit = (size_t)j->o->limit;
    int code = hob_runtime_search(j->cli->rt, &o, &page, err);
    hob_buf_finish(&words);
    if (code < 0) return code;
    print_page(j, page);
    hob_page_destroy(page);
    return HOB_OK;
}
