#include "support/repo.h"

#include "support/check.h"

#include <stdio.h>

static const char settings[] =
    "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=t "
    "GIT_AUTHOR_EMAIL=t@localhost GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@localhost;";

const char *repo_says(const hob_test_folder *f, const char *name, const char *script) {
    static char said[8192];
    hob_buf line;
    hob_buf_init(&line, 64 * 1024);
    hob_buf_addf(&line, "cd '%s' && %s { %s\n} 2>&1", hob_test_path(f, name), settings, script);
    FILE *out = popen(hob_buf_z(&line), "r");
    assert_non_null(out);
    size_t n = fread(said, 1, sizeof said - 1, out);
    said[n] = 0;
    while (n && said[n - 1] == '\n') said[--n] = 0;
    int status = pclose(out);
    hob_buf_finish(&line);
    if (status) fail_msg("%s: %s", script, said);
    return said;
}

void repo_do(const hob_test_folder *f, const char *name, const char *script) {
    repo_says(f, name, script);
}

void repo_make(const hob_test_folder *f, const char *name) {
    hob_test_mkdir(f, name);
    repo_do(f, name,
            "git init -q -b main . && echo one > a.txt && mkdir sub && echo two > sub/b.txt && "
            "git add . && git commit -q -m first");
}
