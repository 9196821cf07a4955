#include "support/folder.h"
#include "support/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void hob_test_folder_make(hob_test_folder *f) {
    snprintf(f->path, sizeof(f->path), "/tmp/hob-test-XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

void hob_test_folder_remove(hob_test_folder *f) {
    nftw(f->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *hob_test_path(const hob_test_folder *f, const char *name) {
    static _Thread_local char paths[8][512];
    static _Thread_local unsigned next;
    char *path = paths[next++ % HOB_ARRAY_LEN(paths)];
    snprintf(path, sizeof(paths[0]), "%s/%s", f->path, name);
    return path;
}

void hob_test_file(const hob_test_folder *f, const char *name, hob_str content) {
    FILE *file = fopen(hob_test_path(f, name), "w");
    assert_non_null(file);
    assert_int_equal(content.n ? fwrite(content.p, 1, content.n, file) : 0, content.n);
    assert_int_equal(fclose(file), 0);
}

void hob_test_mkdir(const hob_test_folder *f, const char *name) {
    assert_int_equal(mkdir(hob_test_path(f, name), 0777), 0);
}

void hob_test_link(const hob_test_folder *f, const char *target, const char *name) {
    assert_int_equal(symlink(target, hob_test_path(f, name)), 0);
}

hob_str hob_test_content(const hob_test_folder *f, const char *name) {
    static _Thread_local char content[1 << 20];
    FILE *file = fopen(hob_test_path(f, name), "r");
    if (!file) return HOB_STR("");
    size_t n = fread(content, 1, sizeof(content), file);
    fclose(file);
    return hob_str_n(content, n);
}

int hob_test_entries(const hob_test_folder *f, const char *name) {
    DIR *dir = opendir(hob_test_path(f, name));
    int count = 0;
    assert_non_null(dir);
    while (readdir(dir)) count++;
    closedir(dir);
    return count - 2;
}
