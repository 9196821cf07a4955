/*
 * sessions_tree.c - `hob sessions tree`: a session and those that worked for it.
 */
#include "cli/sessions.h"

enum { DEPTH_MAX = 64, TITLE_COLUMNS = 60 };

static void print_row(hob_cli *cli, const hob_json *r, int depth) {
    hob_buf b;
    hob_buf_init(&b, 8192);
    hob_show_line(&b, hob_json_get_str(r, "title"), TITLE_COLUMNS);
    hob_out_addf(&cli->out, "%*s%.*s  %.*s  %s\n", depth * 2, "",
                 HOB_FMT(hob_json_get_str(r, "id")), HOB_FMT(hob_row_state(r, "state")),
                 hob_buf_z(&b));
    hob_buf_finish(&b);
}

static int print_tree(hob_cli *cli, hob_str row, int depth, bool json, hob_error *err);

/* The oldest first: pages come with the newest first. */
static int print_children(hob_cli *cli, const char *id, int depth, bool json, hob_error *err) {
    hob_page_opts q = HOB_PAGE_OPTS_INIT;
    hob_page *page = NULL;
    q.parent = id;
    q.limit = 1000;
    int code = hob_runtime_sessions(cli->rt, &q, &page, err);
    if (code < 0) return code;
    for (size_t i = hob_page_count(page); i-- > 0 && code >= 0;)
        code = print_tree(cli, hob_page_row(page, i), depth, json, err);
    hob_page_destroy(page);
    return code;
}

static int print_tree(hob_cli *cli, hob_str row, int depth, bool json, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *r = NULL;
    int code = hob_json_parse(a, row, NULL, &r, err);
    if (code >= 0 && json) {
        hob_show_out(&cli->out, row);
        hob_out_add(&cli->out, HOB_STR("\n"));
    } else if (code >= 0) {
        print_row(cli, r, depth);
    }
    if (code >= 0 && depth < DEPTH_MAX) {
        char *id = hob_dupz(hob_json_get_str(r, "id"));
        code = print_children(cli, id, depth + 1, json, err);
        hob_free(id);
    }
    hob_arena_destroy(a);
    return code;
}

int hob_sessions_tree(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    hob_page *page = NULL;
    int code = hob_sessions_find(j, hob_sessions_word(j, 0), &page, err);
    if (code < 0) return code;
    code = print_tree(j->cli, hob_page_row(page, 0), 0, j->o->json, err);
    hob_page_destroy(page);
    return code;
}
