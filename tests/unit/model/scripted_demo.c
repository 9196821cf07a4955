/* The script of `hob demo`, followed with real files and real commands: it ends with the bug fixed. */
#include "support/talk.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEMO HOB_SOURCE_DIR "/examples/demo/"

typedef struct desk {
    talk t;
    char folder[64];
    char path[128];   /* what the agent did, a letter a call: r w b, B for a killed one */
    int bash, killed; /* commands so far; which of them is killed, from 1 */
} desk;

static void slurp(FILE *f, hob_buf *out) {
    hob_buf_init(out, 1u << 20);
    int c;
    while ((c = fgetc(f)) != EOF) hob_buf_addc(out, (char)c);
    hob_buf_addc(out, '\0');
}

static void read_file(const char *folder, const char *name, hob_buf *out) {
    char path[1000];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("cannot open %s", path);
    slurp(f, out);
    fclose(f);
}

static void write_file(const char *folder, const char *name, hob_str text) {
    char path[1000];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    fclose(f);
}

static void desk_init(desk *d, int killed) {
    static const char *const names[] = {"stats.c", "stats_test.sh"};
    hob_buf b;
    *d = (desk){.folder = "/tmp/hob-test-XXXXXX", .killed = killed};
    assert_non_null(mkdtemp(d->folder));
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++) {
        read_file(DEMO, names[i], &b);
        write_file(d->folder, names[i], hob_str_n(b.p, b.n - 1));
        hob_buf_finish(&b);
    }
    read_file(DEMO, "demo.script.json", &b);
    talk_init_raw(&d->t, hob_str_n(b.p, b.n - 1));
    hob_buf_finish(&b);
    talk_user(&d->t, "The tests of stats.c fail. Find the bug and fix it.");
}

static void desk_finish(desk *d) {
    char command[200];
    talk_finish(&d->t);
    snprintf(command, sizeof(command), "rm -rf '%s'", d->folder);
    assert_int_equal(system(command), 0);
}

/* ---- the tools, as far as the script uses them ---------------------------------------------- */

static void do_bash(desk *d, int k, hob_str command) {
    char line[500];
    hob_buf out;
    snprintf(line, sizeof(line), "cd '%s' && %.*s 2>&1", d->folder, HOB_FMT(command));
    FILE *f = popen(line, "r");
    assert_non_null(f);
    slurp(f, &out);
    int status = pclose(f);
    talk_result(&d->t, k, WEXITSTATUS(status) == 0 ? "ok" : "error", out.p);
    hob_buf_finish(&out);
}

static void do_call(desk *d, int k, hob_str tool, const hob_json *args) {
    hob_buf b;
    char path[256];
    bool killed = hob_str_eqz(tool, "bash") && ++d->bash == d->killed;
    snprintf(path, sizeof(path), "%.*s", HOB_FMT(hob_json_get_str(args, "path")));
    snprintf(d->path + strlen(d->path), 2, "%c", killed ? 'B' : tool.p[0]);
    if (killed) {
        talk_result(&d->t, k, "unknown",
                    "hob was stopped while this ran; its outcome is not known");
    } else if (hob_str_eqz(tool, "bash")) {
        do_bash(d, k, hob_json_get_str(args, "command"));
    } else if (hob_str_eqz(tool, "read")) {
        read_file(d->folder, path, &b);
        talk_result(&d->t, k, "ok", b.p);
        hob_buf_finish(&b);
    } else {
        assert_true(hob_str_eqz(tool, "write"));
        write_file(d->folder, path, hob_json_get_str(args, "content"));
        talk_result(&d->t, k, "ok", "written");
    }
}

/* One answer of the model and its calls; false when it called nothing. */
static bool turn(desk *d) {
    hob_buf content;
    hob_arena *a = hob_arena_create(0);
    const hob_json *blocks;
    char message[24];
    talk_ask(&d->t);
    assert_int_equal(d->t.outcome.code, HOB_OK);
    snprintf(message, sizeof(message), "m%d", d->t.answers + 1);
    hob_buf_init(&content, 1u << 20);
    hob_answer_content(d->t.answer, hob_str_z(message), HOB_STR("scripted"), true, &content);
    talk_answer_raw(&d->t, hob_buf_str(&content));
    assert_int_equal(hob_json_parse(a, hob_buf_str(&content), NULL, &blocks, NULL), HOB_OK);
    int k = 0;
    for (const hob_json *b = hob_json_first(blocks); b; b = hob_json_next(b)) {
        if (hob_str_eqz(hob_json_get_str(b, "type"), "tool_call"))
            do_call(d, k++, hob_json_get_str(b, "name"), hob_json_get(b, "args"));
    }
    hob_arena_destroy(a);
    hob_buf_finish(&content);
    return k > 0;
}

/* The whole work, with that run of the tests killed (0: none); `path` is what must have been done. */
static void follow(int killed, const char *path) {
    desk d;
    desk_init(&d, killed);
    for (int i = 0; turn(&d); i++) assert_true(i < 12);
    assert_string_equal(d.path, path);
    hob_str last = hob_buf_str(&d.t.answer->blocks[0].text);
    assert_true(hob_str_find(last, HOB_STR("all tests of stats.c pass")) > 0);
    char command[200];
    snprintf(command, sizeof(command), "sh '%s/stats_test.sh' >/dev/null", d.folder);
    assert_int_equal(system(command), 0);
    desk_finish(&d);
}

static void test_model_scripted_demo__finds_and_fixes_the_bug(void **state) {
    (void)state;
    follow(0, "rrbwb");
}

static void test_model_scripted_demo__goes_on_when_the_tests_were_killed(void **state) {
    (void)state;
    follow(1, "rrBbwb");
    follow(2, "rrbwBb");
}

/* The file it writes is the one it read, but for the one line with the bug. */
static void test_model_scripted_demo__changes_one_line(void **state) {
    (void)state;
    desk d;
    char command[1000];
    desk_init(&d, 0);
    while (turn(&d)) {
    }
    snprintf(command, sizeof(command), "test \"$(diff '%s' '%s/stats.c' | grep -c '^>')\" = 1",
             DEMO "stats.c", d.folder);
    assert_int_equal(system(command), 0);
    desk_finish(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_scripted_demo__finds_and_fixes_the_bug),
        cmocka_unit_test(test_model_scripted_demo__goes_on_when_the_tests_were_killed),
        cmocka_unit_test(test_model_scripted_demo__changes_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
