/*
 * tools.h - the built-in tools in a temporary workspace, called as a session calls them.
 */
#ifndef HOB_TESTS_TOOLS_H
#define HOB_TESTS_TOOLS_H

#include "support/folder.h"
#include "tool/tool.h"

typedef struct hob_test_tools {
    hob_test_folder folder; /* the workspace is FOLDER/proj */
    char token[64];         /* "LC_HOB_TEST=…", in the environment of every command */
    const char *envp[4];
    hob_loop *loop;
    hob_pool *pool;
    hob_exec *exec;
    hob_workspace *workspace;
    hob_tools *tools;
    hob_builtins *builtins;

    hob_tool_call call; /* the last call */
    hob_buf args, output;
    int outputs; /* deliveries of output */
    int done;    /* calls of done() */
    hob_outcome outcome;
    int exit_code;
    bool truncated;
    hob_buf content; /* as it came */
    hob_buf text;    /* its text blocks, joined */
    hob_reply *reply;
} hob_test_tools;

int hob_test_tools_setup(void **state); /* cmocka: *state is a hob_test_tools */
int hob_test_tools_teardown(void **state);

/* Checks the arguments and starts the call; wait for `done`. */
void hob_test_tool_start(hob_test_tools *t, const char *tool, const char *args);
void hob_test_tool_wait(hob_test_tools *t);
void hob_test_tool_until(hob_test_tools *t, const char *word); /* until it was in the output */
void hob_test_tool_cancel(hob_test_tools *t, int hard);
/* Starts and waits; the text of the answer, until the next call. */
hob_str hob_test_tool(hob_test_tools *t, const char *tool, const char *args);
/* The message of hob_tools_check, "" if the arguments fit. */
const char *hob_test_tool_check(hob_test_tools *t, const char *tool, const char *args);

#endif
