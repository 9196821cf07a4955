/*
 * folder.h - a temporary folder with files in it.
 */
#ifndef HOB_TESTS_FOLDER_H
#define HOB_TESTS_FOLDER_H

#include "base/base.h"

typedef struct hob_test_folder {
    char path[64];
} hob_test_folder;

void hob_test_folder_make(hob_test_folder *f);
void hob_test_folder_remove(hob_test_folder *f); /* with all that is in it */
/* "FOLDER/name"; in one of a few static buffers. */
const char *hob_test_path(const hob_test_folder *f, const char *name);
void hob_test_file(const hob_test_folder *f, const char *name, hob_str content);
void hob_test_mkdir(const hob_test_folder *f, const char *name);
void hob_test_link(const hob_test_folder *f, const char *target, const char *name);
/* Its content, "" if there is none; at most 1 MiB, until the next call. */
hob_str hob_test_content(const hob_test_folder *f, const char *name);
int hob_test_entries(const hob_test_folder *f, const char *name); /* how many are in that folder */

#endif
