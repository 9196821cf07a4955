/*
 * settings.h - configurations for tests: made from texts a layer, shown as lines.
 */
#ifndef HOB_TESTS_SETTINGS_H
#define HOB_TESTS_SETTINGS_H

#include "config/config.h"
#include "support/check.h"

static inline void settings_set(hob_config *c, const char *path, const char *json,
                                hob_origin origin) {
    hob_error err = {0};
    assert_ok(hob_config_set(c, path, hob_str_z(json), origin, &err), err);
}

static inline void settings_refused(hob_config *c, const char *path, const char *json,
                                    const char *message) {
    hob_error err = {0};
    assert_int_equal(hob_config_set(c, path, hob_str_z(json), HOB_ORIGIN_FLAG, &err), HOB_ECONFIG);
    assert_string_equal(err.message, message);
}

/* The value in force at a path as JSON text. */
#define assert_setting(c, path, json) assert_str(hob_config_get((c), (path)), (json))

static inline void settings_add_line(const char *path, hob_str json, hob_origin origin,
                                     hob_str source, void *user) {
    static const char *const origins[] = {"built-in", "admin", "user", "workspace", "env", "flag"};
    if (origin == HOB_ORIGIN_BUILTIN) return;
    hob_buf_addf(user, "%s = %.*s (%s, %.*s)\n", path, HOB_FMT(json), origins[origin],
                 HOB_FMT(source));
}

/* Everything that is not a default, one a line, as a listing shows it. */
static inline void assert_settings(const hob_config *c, const char *lines) {
    hob_buf out;
    hob_buf_init(&out, 1 << 20);
    hob_config_each(c, settings_add_line, &out);
    assert_string_equal(hob_buf_z(&out), lines);
    hob_buf_finish(&out);
}

/* All warnings, one a line. */
static inline void assert_warnings(const hob_config *c, const char *lines) {
    hob_buf out;
    hob_buf_init(&out, 1 << 20);
    for (size_t i = 0; i < hob_config_warnings(c); i++)
        hob_buf_addf(&out, "%.*s\n", HOB_FMT(hob_config_warning(c, i)));
    assert_string_equal(hob_buf_z(&out), lines);
    hob_buf_finish(&out);
}

#endif
