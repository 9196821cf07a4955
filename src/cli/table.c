/*
 * table.c - rows of a page as a table, or as JSON lines.
 */
#include "cli/cli.h"

#define CELL_COLUMNS 80
#define GAP 2

void hob_table_init(hob_table *t, size_t columns) {
    *t = (hob_table){.columns = columns};
}

void hob_table_finish(hob_table *t) {
    for (size_t i = 0; i < t->cells.n; i++) hob_free((void *)(uintptr_t)t->cells.at[i]);
    hob_words_finish(&t->cells);
}

void hob_table_add(hob_table *t, hob_str cell) {
    hob_buf b;
    hob_buf_init(&b, 4096);
    hob_show_line(&b, cell, CELL_COLUMNS);
    hob_words_add(&t->cells, hob_dupz(hob_buf_str(&b)));
    hob_buf_finish(&b);
}

static size_t width_of(const char *cell) {
    hob_str s = hob_str_z(cell);
    size_t at = 0, n = 0;
    for (; at < s.n; n++) hob_utf8_next(s, &at);
    return n;
}

static size_t column_width(const hob_table *t, size_t column) {
    size_t widest = 0;
    for (size_t i = column; i < t->cells.n; i += t->columns)
        widest = HOB_MAX(widest, width_of(t->cells.at[i]));
    return widest;
}

void hob_table_print(const hob_table *t, hob_out *o) {
    for (size_t i = 0; i < t->cells.n; i++) {
        size_t column = i % t->columns;
        bool last = column + 1 == t->columns;
        hob_out_add(o, hob_str_z(t->cells.at[i]));
        size_t pad = last ? 0 : column_width(t, column) - width_of(t->cells.at[i]) + GAP;
        hob_out_addf(o, "%*s%s", (int)pad, "", last ? "\n" : "");
    }
}

void hob_page_print_table(hob_cli *cli, const hob_page *p, const hob_columns *c) {
    hob_table t;
    hob_table_init(&t, c->n);
    for (size_t i = 0; i < c->n; i++) hob_table_add(&t, hob_str_z(c->heads[i]));
    for (size_t i = 0; i < hob_page_count(p); i++) {
        const hob_json *row = NULL;
        hob_arena *a = hob_arena_create(0);
        if (hob_json_parse(a, hob_page_row(p, i), NULL, &row, NULL) >= 0) c->add(&t, row);
        hob_arena_destroy(a);
    }
    hob_table_print(&t, &cli->out);
    hob_table_finish(&t);
}

/* What runs and belongs to nobody was left by a process that died. */
hob_str hob_row_state(const hob_json *row, const char *key) {
    hob_str state = hob_json_get_str(row, key);
    bool left = hob_str_eqz(state, "running") && !hob_json_get_str(row, "owner").n;
    return left ? HOB_STR("unfinished") : state;
}

void hob_cli_print_field(hob_cli *cli, const char *key, hob_str value) {
    hob_buf b;
    hob_buf_init(&b, 8192);
    hob_show_line(&b, value, 200);
    hob_out_addf(&cli->out, "%-11s %s\n", key, hob_buf_z(&b));
    hob_buf_finish(&b);
}

void hob_page_print_json(hob_cli *cli, const hob_page *p) {
    hob_str next = hob_page_next(p);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_show_out(&cli->out, hob_page_row(p, i));
        hob_out_add(&cli->out, HOB_STR("\n"));
    }
    if (!next.n) return;
    hob_buf b;
    hob_buf_init(&b, 4096);
    hob_json_quote(&b, next);
    hob_out_addf(&cli->out, "{\"type\":\"next\",\"cursor\":%s}\n", hob_buf_z(&b));
    hob_buf_finish(&b);
}

void hob_page_print_next(hob_cli *cli, const hob_page *p, const char *command) {
    hob_str next = hob_page_next(p);
    if (next.n)
        hob_tell_note(cli, "there are more: hob %s --cursor '%.*s'", command, HOB_FMT(next));
}
