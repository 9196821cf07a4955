/* The page for users names every setting, with its default. */
#include "config/known.h"

#include <stdio.h>

#include "support/settings.h"

static hob_buf page;

static int setup(void **state) {
    (void)state;
    hob_buf_init(&page, 1 << 20);
    FILE *f = fopen(HOB_SOURCE_DIR "/docs/configuration.md", "r");
    if (!f) return -1;
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
        hob_buf_add(&page, hob_str_n(chunk, n));
    fclose(f);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    hob_buf_finish(&page);
    return 0;
}

static void test_config_docs__name_every_setting_and_its_default(void **state) {
    (void)state;
    hob_config *c = hob_config_create();
    for (size_t i = 0; hob_known_at(i); i++) {
        const char *path = hob_known_at(i)->path;
        char row[256];
        hob_str value = hob_config_get(c, path);
        bool shown = value.n > 0 && !strchr(path, '*');
        if (shown)
            snprintf(row, sizeof(row), "\n| `%s` | `%.*s` |", path, HOB_FMT(value));
        else
            snprintf(row, sizeof(row), "\n| `%s` | ", path);
        if (hob_str_find(hob_buf_str(&page), hob_str_z(row)) < 0)
            fail_msg("docs/configuration.md has no row: %s", row + 1);
    }
    hob_config_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config_docs__name_every_setting_and_its_default),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
