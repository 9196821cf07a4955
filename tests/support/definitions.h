/*
 * definitions.h - definitions for a host's session, written into its folder and registered.
 */
#ifndef HOB_TESTS_DEFINITIONS_H
#define HOB_TESTS_DEFINITIONS_H

#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <unistd.h>

/* The session options have definitions from now on; made at the first call. */
static inline hob_definitions *host_definitions(host *r) {
    if (!r->so.definitions)
        assert_ok(hob_definitions_create(NULL, &r->so.definitions, &r->err), r->err);
    return r->so.definitions;
}

/* FOLDER/NAME with this front matter and this text. */
static inline void host_define(host *r, const char *folder, const char *name, const char *front,
                               const char *text) {
    char path[128], all[4096];
    if (access(hob_test_path(&r->folder, folder), F_OK) < 0) hob_test_mkdir(&r->folder, folder);
    if (!strcmp(folder, "skills")) {
        snprintf(path, sizeof path, "skills/%s", name);
        hob_test_mkdir(&r->folder, path);
    }
    snprintf(path, sizeof path, strcmp(folder, "skills") ? "%s/%s.md" : "%s/%s/SKILL.md", folder,
             name);
    int n = snprintf(all, sizeof all, "---\nname: %s\ndescription: does %s\n%s---\n%s\n", name,
                     name, front, text);
    hob_test_file(&r->folder, path, hob_str_n(all, (size_t)n));
    const char *dir = hob_test_path(&r->folder, folder);
    int live =
        !strcmp(folder, "skills")   ? hob_skills_register_dir(host_definitions(r), dir, &r->err)
        : !strcmp(folder, "agents") ? hob_agents_register_dir(host_definitions(r), dir, &r->err)
                                    : hob_commands_register_dir(host_definitions(r), dir, &r->err);
    assert_true(live > 0);
}

static inline void host_define_end(host *r) {
    hob_definitions_destroy(r->so.definitions);
    host_finish(r);
}

#endif
