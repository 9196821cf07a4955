/*
 * cli.h - runs the program hob from outside: its arguments, input, output, exit code; also on a
 * terminal.
 *
 * Each desk has a folder of its own, which is the current folder, HOME, and holds HOB_HOME
 * ("home"). Nothing of the environment that runs the tests reaches the program but PATH.
 */
#ifndef HOB_TESTS_CLI_H
#define HOB_TESTS_CLI_H

#include "base/json.h"
#include "support/folder.h"

#include <sys/types.h>

typedef struct hob_test_cli {
    hob_test_folder folder;
    const char *env[16]; /* "NAME=value" more; NULL-terminated, borrowed */
    size_t nenv;
    const char *program; /* instead of hob */
    /* The program gets a terminal for all three streams; everything it says is in `out`. */
    bool terminal;
    /* of the program started last */
    pid_t pid;
    int in, out_fd, err_fd;
    int code; /* its exit code, 128 + signal */
    hob_buf out, err;
    hob_arena *arena; /* of hob_test_line */
} hob_test_cli;

int hob_test_cli_setup(void **state); /* cmocka: *state is a hob_test_cli */
int hob_test_cli_teardown(void **state);

/* A file in the folder, ' written for ". */
void hob_test_quoted_file(hob_test_cli *c, const char *name, const char *text);
void hob_test_env(hob_test_cli *c, const char *variable);

/* Runs it to its end and returns the exit code. Arguments end with NULL; input NULL = /dev/null. */
int hob_test_hob(hob_test_cli *c, const char *input, const char *const *argv);
/* The same through the shell, which knows the program as "$HOB". */
int hob_test_shell(hob_test_cli *c, const char *command);
#define HOB_RUN(c, input, ...) hob_test_hob(c, input, (const char *const[]){__VA_ARGS__, NULL})

/* The same in steps; its input stays open. Each wait ends with a failure after 60 s. */
void hob_test_start(hob_test_cli *c, const char *const *argv);
#define HOB_START(c, ...) hob_test_start(c, (const char *const[]){__VA_ARGS__, NULL})
void hob_test_send(hob_test_cli *c, const char *text);
void hob_test_until(hob_test_cli *c, const char *text);      /* until `out` has it */
void hob_test_until_said(hob_test_cli *c, const char *text); /* on standard error */
void hob_test_close_in(hob_test_cli *c);
int hob_test_end(hob_test_cli *c); /* reads to the end; the exit code */

bool hob_test_out_has(const hob_test_cli *c, const char *text);
bool hob_test_err_has(const hob_test_cli *c, const char *text);
#define assert_out(c, z) assert_string_equal(hob_buf_z(&(c)->out), z)
#define assert_err_has(c, z)                                                                       \
    do {                                                                                           \
        if (!hob_test_err_has(c, z)) fail_msg("'%s' is not in: %s", z, hob_buf_z(&(c)->err));      \
    } while (0)
#define assert_out_has(c, z)                                                                       \
    do {                                                                                           \
        if (!hob_test_out_has(c, z)) fail_msg("'%s' is not in: %s", z, hob_buf_z(&(c)->out));      \
    } while (0)

/* Output as JSON lines. */
size_t hob_test_lines(hob_test_cli *c);                      /* how many */
const hob_json *hob_test_line(hob_test_cli *c, ptrdiff_t i); /* negative: from the end */
/* The k-th line (from 0) of this type; NULL if there is none. */
const hob_json *hob_test_typed(hob_test_cli *c, const char *type, size_t k);

#endif
