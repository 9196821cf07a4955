/*
 * Exports of sessions that somebody made up: judged line by line, stored, and used.
 *
 * Beyond not crashing: a refusal says something; what is accepted is at rest, can be opened, and its own export is
 * accepted again.
 */
#include <assert.h>

#include <hob/stored.h>

#include "base/json.h"

enum { LINES_MAX = 300 };

static hob_runtime *runtime(void) {
    static hob_runtime *rt;
    hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
    o.store = "memory";
    o.loop = HOB_LOOP_HOST;
    int rc = rt ? HOB_OK : hob_runtime_create(&o, &rt, NULL);
    assert(rc >= 0);
    return rt;
}

static hob_page *import(hob_str text) {
    hob_import *im;
    hob_page *page = NULL;
    hob_str line;
    hob_error err = {.code = HOB_OK};
    int rc = hob_import_create(runtime(), NULL, &im, &err);
    for (int i = 0; i < LINES_MAX && rc >= 0 && text.n && hob_str_split(&text, '\n', &line); i++)
        rc = hob_import_line(im, line, &err);
    if (rc >= 0) rc = hob_import_commit(im, &page, &err);
    assert(rc >= 0 || err.message[0]);
    hob_import_destroy(im);
    return page;
}

static int put_line(hob_str line, void *user) {
    hob_buf_add(user, line);
    hob_buf_addc(user, '\n');
    return 0;
}

static void id_of(const hob_page *p, size_t i, char id[160]) {
    int n = hob_json_field(hob_page_row(p, i), "id", id, 160);
    assert(n > 0);
}

static void assert_at_rest(const char *id) {
    hob_page *row = NULL;
    char state[32];
    int rc = hob_runtime_find_session(runtime(), id, &row, NULL);
    assert(rc >= 0);
    rc = hob_json_field(hob_page_row(row, 0), "state", state, sizeof state);
    assert(rc > 0 && !strcmp(state, "idle"));
    hob_page_destroy(row);
    rc = hob_runtime_rename_session(runtime(), id, NULL, HOB_STR("opened"), NULL);
    assert(rc >= 0);
}

static void use(const hob_page *p) {
    char id[160];
    hob_buf text;
    for (size_t i = 0; i < hob_page_count(p); i++) {
        id_of(p, i, id);
        assert_at_rest(id);
    }
    id_of(p, 0, id);
    hob_buf_init(&text, 64u << 20);
    int rc = hob_runtime_export_session(runtime(), id, NULL, put_line, &text, NULL);
    assert(rc >= 0);
    hob_page *again = import(hob_buf_str(&text));
    hob_buf_finish(&text);
    if (!again) return; /* more lines than are looked at here */
    id_of(again, 0, id);
    rc = hob_runtime_remove_session(runtime(), id, NULL);
    assert(rc >= 0);
    hob_page_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char id[160];
    hob_page *p = import(hob_str_n((const char *)data, size));
    if (!p) return 0;
    use(p);
    id_of(p, 0, id);
    int rc = hob_runtime_remove_session(runtime(), id, NULL);
    assert(rc >= 0);
    hob_page_destroy(p);
    return 0;
}
