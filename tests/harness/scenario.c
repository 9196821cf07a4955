/*
 * Runs the files of tests/scenario: what a script makes of a prompt, as a whole log, with exit code and budget.
 *
 * A scenario is data (JSON with comments):
 *   about    what it shows                       files    {name: content} put into the folder first
 *   script   the scripted model                  args     arguments of hob; -m is added
 *   stdin    what it reads, if anything          exit     the exit code
 *   log      every durable event in one line     has      texts that must be in the result
 *   after    {name: content} files afterwards    budget   {"events": n}: at most so many durable events
 */
#include "support/check.h"
#include "support/cli.h"
#include "support/describe.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const known[] = {"about", "files", "script", "args",  "stdin",
                                    "exit",  "log",   "has",    "after", "budget"};

static void check_keys(const char *name, const hob_json *sc) {
    for (const hob_json *m = hob_json_first(sc); m; m = hob_json_next(m)) {
        bool found = false;
        for (size_t i = 0; i < HOB_ARRAY_LEN(known); i++)
            found = found || hob_str_eqz(hob_json_key(m), known[i]);
        if (!found) fail_msg("%s: unknown key %.*s", name, HOB_FMT(hob_json_key(m)));
    }
}

static void write_files(hob_test_cli *c, const hob_json *files) {
    for (const hob_json *f = hob_json_first(files); f; f = hob_json_next(f)) {
        char *name = hob_dupz(hob_json_key(f));
        hob_test_file(&c->folder, name, hob_json_str(f));
        hob_free(name);
    }
}

static int run(hob_test_cli *c, const hob_json *sc) {
    const char *argv[32] = {"-m", "scripted:script.json"};
    size_t n = 2;
    char *owned[28], *input = hob_dupz(hob_json_get_str(sc, "stdin"));
    for (const hob_json *a = hob_json_first(hob_json_get(sc, "args")); a && n < 30;
         a = hob_json_next(a), n++)
        argv[n] = owned[n - 2] = hob_dupz(hob_json_str(a));
    int code = hob_test_hob(c, *input ? input : NULL, argv);
    for (size_t i = 2; i < n; i++) hob_free(owned[i - 2]);
    hob_free(input);
    return code;
}

static void golden(const hob_json *log, hob_buf *out) {
    for (const hob_json *l = hob_json_first(log); l; l = hob_json_next(l)) {
        hob_buf_add(out, hob_json_str(l));
        hob_buf_addc(out, '\n');
    }
}

static int64_t actual(hob_test_cli *c, hob_buf *out) {
    int64_t n = 0;
    for (size_t i = 0; i < hob_test_lines(c); i++) {
        const hob_json *e = hob_test_line(c, (ptrdiff_t)i);
        if (!hob_json_get(e, "seq")) continue;
        hob_test_describe(e, out);
        hob_buf_addc(out, '\n');
        n++;
    }
    return n;
}

static void compare(hob_test_cli *c, const char *name, const hob_json *sc) {
    hob_buf want, got;
    hob_buf_init(&want, 1u << 20);
    hob_buf_init(&got, 1u << 20);
    golden(hob_json_get(sc, "log"), &want);
    int64_t events = actual(c, &got),
            most = hob_json_get_int(hob_json_get(sc, "budget"), "events", 1000000);
    if (hob_json_get(sc, "log") && !hob_str_eq(hob_buf_str(&want), hob_buf_str(&got)))
        fail_msg("%s:\n--- expected\n%s--- got\n%s", name, hob_buf_z(&want), hob_buf_z(&got));
    if (events > most)
        fail_msg("%s: %lld events, budget %lld", name, (long long)events, (long long)most);
    hob_buf_finish(&want);
    hob_buf_finish(&got);
}

static void check_after(hob_test_cli *c, const char *name, const hob_json *sc) {
    for (const hob_json *h = hob_json_first(hob_json_get(sc, "has")); h; h = hob_json_next(h))
        if (hob_str_find(hob_buf_str(&c->out), hob_json_str(h)) < 0)
            fail_msg("%s: '%.*s' is not in %s", name, HOB_FMT(hob_json_str(h)), hob_buf_z(&c->out));
    for (const hob_json *f = hob_json_first(hob_json_get(sc, "after")); f; f = hob_json_next(f)) {
        char *file = hob_dupz(hob_json_key(f));
        hob_str content = hob_test_content(&c->folder, file);
        if (!hob_str_eq(content, hob_json_str(f)))
            fail_msg("%s: %s is '%.*s'", name, file, HOB_FMT(content));
        hob_free(file);
    }
}

static void play(const char *name) {
    void *state;
    char path[512];
    hob_error err;
    const hob_json *sc;
    hob_arena *a = hob_arena_create(0);
    hob_test_cli_setup(&state);
    hob_test_cli *c = state;
    snprintf(path, sizeof path, "%s/tests/scenario/%s", HOB_SOURCE_DIR, name);
    hob_buf text;
    hob_buf_init(&text, 1u << 20);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int ch; (ch = fgetc(f)) != EOF;) hob_buf_addc(&text, (char)ch);
    fclose(f);
    if (hob_json_parse(a, hob_buf_str(&text), &(hob_json_opts){.comments = true}, &sc, &err) < 0)
        fail_msg("%s: %s", name, err.message);
    check_keys(name, sc);
    write_files(c, hob_json_get(sc, "files"));
    hob_test_file(&c->folder, "script.json", hob_json_raw(hob_json_get(sc, "script")));
    int code = run(c, sc);
    if (code != hob_json_get_int(sc, "exit", 0))
        fail_msg("%s: exit %d\n%s\n%s", name, code, hob_buf_z(&c->out), hob_buf_z(&c->err));
    compare(c, name, sc);
    check_after(c, name, sc);
    hob_buf_finish(&text);
    hob_arena_destroy(a);
    hob_test_cli_teardown(&state);
}

static void test_harness_scenario__all(void **state) {
    struct dirent **list;
    int n = scandir(HOB_SOURCE_DIR "/tests/scenario", &list, NULL, alphasort), played = 0;
    (void)state;
    for (int i = 0; i < n; i++) {
        if (hob_str_ends(hob_str_z(list[i]->d_name), hob_str_z(".json"))) {
            print_message("%s\n", list[i]->d_name);
            play(list[i]->d_name);
            played++;
        }
        free(list[i]);
    }
    free(list);
    assert_true(played >= 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_harness_scenario__all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
