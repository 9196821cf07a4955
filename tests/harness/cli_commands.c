/* The commands that look: sessions, runs, config, models. */
#include "support/cli.h"

#include "support/check.h"

#include <stdio.h>

#define MODEL "-m", "scripted:s.json"
#define SCRIPT                                                                                     \
    "{'rules': [{'when': {'user': 'use it', 'step': 1}, 'reply': [{'text': 'Let me see.'},"        \
    "  {'tool': 'read', 'args': {'path': 'notes.txt'}}]}],"                                        \
    " 'otherwise': [{'text': 'answer'}]}"

static int setup(void **state) {
    hob_test_cli *c;
    hob_test_cli_setup(state);
    c = *state;
    hob_test_quoted_file(c, "s.json", SCRIPT);
    hob_test_file(&c->folder, "notes.txt", HOB_STR("forty-two\n"));
    return 0;
}

static void test_cli_commands__sessions_of_this_folder_or_all(void **state) {
    hob_test_cli *c = *state;
    hob_test_mkdir(&c->folder, "other");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "here", MODEL, "x"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-C", "other", "-p", "--session-id", "there", "-m",
                             "scripted:../s.json", "x"),
                     0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "id"), "here");
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list", "--all", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 2);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "id"), "there");
}

static void test_cli_commands__sessions_in_pages(void **state) {
    hob_test_cli *c = *state;
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", id, MODEL, "x"), 0);
    }
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list", "--limit", "2", "--json"), 0);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "id"), "s2");
    assert_str(hob_json_get_str(hob_test_line(c, 1), "id"), "s1");
    char *cursor = hob_dupz(hob_json_get_str(hob_test_line(c, 2), "cursor"));
    assert_int_equal(
        HOB_RUN(c, NULL, "sessions", "list", "--limit", "2", "--json", "--cursor", cursor), 0);
    assert_int_equal(hob_test_lines(c), 1);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "id"), "s0");
    hob_free(cursor);
}

static void test_cli_commands__sessions_as_a_table(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list"), 0);
    assert_out(c, "");
    assert_err_has(c, "no sessions of this folder");
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "one", MODEL, "do \033[31m this"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions"), 0);
    assert_out_has(c, "ID   UPDATED (UTC)");
    assert_out_has(c, "idle");
    assert_out_has(c, "do ^[[31m this");
}

static void test_cli_commands__show_tells_the_story(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", MODEL, "use it"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show"), 0);
    hob_str out = hob_buf_str(&c->out);
    ptrdiff_t prompt = hob_str_find(out, HOB_STR("> use it\n")),
              call = hob_str_find(out, HOB_STR("* read notes.txt\n")),
              result = hob_str_find(out, HOB_STR("forty-two")),
              answer = hob_str_find(out, HOB_STR("- answer\n"));
    assert_true(prompt > 0 && prompt < call && call < result && result < answer);
}

static void test_cli_commands__show_keeps_blocks_apart(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, "from a pipe", "-p", MODEL, "look"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show"), 0);
    assert_out_has(c, "> look\n  <stdin>\n  from a pipe\n");
}

static void test_cli_commands__show_json_is_the_log(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "one", MODEL, "use it"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "show", "on", "--json"), 0);
    size_t n = hob_test_lines(c);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hob_json_get_int(hob_test_line(c, (ptrdiff_t)i), "seq", 0), i + 1);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "type"), "session_opened");
}

static void test_cli_commands__runs(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "one", MODEL, "first thing"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "-p", "--session-id", "two", MODEL, "second thing"), 0);
    assert_int_equal(HOB_RUN(c, NULL, "runs", "list", "--session", "one", "--json"), 0);
    assert_int_equal(hob_test_lines(c), 1);
    assert_str(hob_json_get_str(hob_test_line(c, 0), "prompt"), "first thing");
    assert_str(hob_json_get_str(hob_test_line(c, 0), "status"), "completed");
    assert_int_equal(HOB_RUN(c, NULL, "runs", "list", "--status", "failed"), 0);
    assert_err_has(c, "no runs");
    assert_int_equal(HOB_RUN(c, NULL, "runs"), 0);
    assert_out_has(c, "second thing");
}

static const hob_json *setting(hob_test_cli *c, const char *path) {
    size_t n = hob_test_lines(c);
    for (size_t i = 0; i < n; i++)
        if (hob_str_eqz(hob_json_get_str(hob_test_line(c, (ptrdiff_t)i), "path"), path))
            return hob_test_line(c, (ptrdiff_t)i);
    return NULL;
}

static void test_cli_commands__config_says_where_a_value_comes_from(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "home/config.json",
                         "{'model': 'a/b', // why not\n 'retry': {'attempts': 3}}");
    hob_test_env(c, "HOB_MODEL=c/d");
    assert_int_equal(HOB_RUN(c, NULL, "config", "show", "--json"), 0);
    assert_str(hob_json_raw(hob_json_get(setting(c, "model"), "value")), "\"c/d\"");
    assert_str(hob_json_get_str(setting(c, "model"), "origin"), "env");
    assert_str(hob_json_get_str(setting(c, "retry.attempts"), "origin"), "user");
    assert_str(hob_json_get_str(setting(c, "retry.cap_s"), "origin"), "builtin");
    assert_int_equal(HOB_RUN(c, NULL, "config", "show", "--origin"), 0);
    assert_out_has(c, "HOB_MODEL");
    assert_out_has(c, "home/config.json");
    assert_out_has(c, " built-in\n");
}

/* The files that a session here would read, with what is taken of them. */
static void test_cli_commands__config_shows_instruction_files(void **state) {
    hob_test_cli *c = *state;
    hob_test_quoted_file(c, "home/config.json", "{'context': {'max_bytes': 20}}");
    hob_test_file(&c->folder, "home/AGENTS.md", HOB_STR("Be brief.\n"));
    hob_test_file(&c->folder, "AGENTS.md", HOB_STR("A text that is longer than that.\n"));
    assert_int_equal(HOB_RUN(c, NULL, "config", "show", "--origin"), 0);
    assert_out_has(c, "home/AGENTS.md");
    assert_out_has(c, "\"10 bytes\"");
    assert_out_has(c, "user (instructions)");
    assert_out_has(c, "\"10 of 33 bytes, cut: 20 bytes are the limit for all\"");
    assert_int_equal(HOB_RUN(c, NULL, "config", "show", "--json"), 0);
    const hob_json *last = hob_test_line(c, -1);
    assert_true(hob_str_ends(hob_json_get_str(last, "path"), HOB_STR("/AGENTS.md")));
    assert_str(hob_json_get_str(last, "origin"), "workspace");
    assert_str(hob_json_get_str(last, "source"), "instructions");
}

static void test_cli_commands__config_hides_keys(void **state) {
    hob_test_cli *c = *state;
    hob_test_env(c, "ANTHROPIC_API_KEY=sk-secret-123");
    assert_int_equal(HOB_RUN(c, NULL, "config", "show", "--origin"), 0);
    assert_false(hob_test_out_has(c, "sk-secret-123"));
    assert_out_has(c, "***");
}

static void test_cli_commands__models(void **state) {
    hob_test_cli *c = *state;
    hob_test_env(c, "ANTHROPIC_API_KEY=sk-x");
    assert_int_equal(HOB_RUN(c, NULL, "models"), 0);
    assert_out_has(c, "anthropic/claude");
    assert_int_equal(HOB_RUN(c, NULL, "models", "--json"), 0);
    assert_true(hob_test_lines(c) > 3);
    assert_int_equal(HOB_RUN(c, NULL, "models", "are", "great"), 2);
    assert_err_has(c, "hob -- models");
}

static void test_cli_commands__wrong_words(void **state) {
    hob_test_cli *c = *state;
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "frobnicate"), 2);
    assert_err_has(c, "'hob sessions frobnicate' is nothing hob can do; use hob sessions list");
    assert_int_equal(HOB_RUN(c, NULL, "runs", "list", "extra"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "config"), 2);
    assert_int_equal(HOB_RUN(c, NULL, "sessions", "list", "--limmit", "3"), 2);
    assert_err_has(c, "did you mean --limit?");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, hob_test_cli_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_cli_commands__sessions_of_this_folder_or_all),
        TEST(test_cli_commands__sessions_in_pages),
        TEST(test_cli_commands__sessions_as_a_table),
        TEST(test_cli_commands__show_tells_the_story),
        TEST(test_cli_commands__show_keeps_blocks_apart),
        TEST(test_cli_commands__show_json_is_the_log),
        TEST(test_cli_commands__runs),
        TEST(test_cli_commands__config_says_where_a_value_comes_from),
        TEST(test_cli_commands__config_shows_instruction_files),
        TEST(test_cli_commands__config_hides_keys),
        TEST(test_cli_commands__models),
        TEST(test_cli_commands__wrong_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
