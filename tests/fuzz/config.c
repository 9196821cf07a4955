/*
 * The configuration reader and the merging of layers. The input is up to four texts with a byte 0xff
 * between them: administrator, user, workspace, and the path of a setting.
 *
 * Beyond not crashing: what is in force is JSON, reads as settings again and merges to itself; whatever
 * the workspace says, endpoints, credentials and the store stay as they are without it, and its limits
 * are as strict or stricter.
 */
#include <assert.h>

#include "config/impl.h"
#include "config/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const envp[] = {"KEY=sk-1", "HOST=127.0.0.1", "EMPTY=", NULL};

static hob_setting *read_text(hob_str text, hob_origin origin, hob_setting *policy) {
    hob_setting *s = hob_setting_create(HOB_STR(""));
    hob_notes notes = {0};
    hob_error err = {0};
    hob_reading r = {.origin = origin,
                     .source = "file",
                     .text = text,
                     .envp = envp,
                     .expand = origin != HOB_ORIGIN_WORKSPACE,
                     .notes = &notes,
                     .policy = policy};
    int code = hob_setting_read_text(&r, s, &err);
    assert(code == HOB_OK || (code == HOB_ECONFIG && err.code == code && err.message[0]));
    hob_notes_finish(&notes);
    if (code == HOB_OK) return s;
    hob_setting_destroy(s);
    return hob_setting_create(HOB_STR(""));
}

static void write_tree(const hob_setting *s, hob_buf *out) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_setting_write(s, &w);
    assert(out->err == HOB_OK && hob_json_valid(hob_buf_str(out)));
}

static void assert_same(const hob_setting *a, const hob_setting *b, const char *name) {
    const hob_setting *x = hob_setting_find_z(a, name), *y = hob_setting_find_z(b, name);
    assert(!x == !y);
    if (!x) return;
    hob_buf p, q;
    hob_buf_init(&p, (size_t)64 << 20);
    hob_buf_init(&q, (size_t)64 << 20);
    write_tree(x, &p);
    write_tree(y, &q);
    assert(hob_str_eq(hob_buf_str(&p), hob_buf_str(&q)));
    hob_buf_finish(&p);
    hob_buf_finish(&q);
}

static void assert_stricter(const hob_setting *with, const hob_setting *without, const char *name) {
    const hob_setting *now = hob_setting_find_z(without, name),
                      *then = hob_setting_find_z(with, name);
    hob_arena *a = hob_arena_create(0);
    hob_path p;
    assert(hob_path_parse(&p, name, a) == HOB_OK);
    if (then && !then->object) assert(hob_known_stricter(hob_known_find(&p), now, then));
    hob_arena_destroy(a);
}

static void check_workspace(hob_layers *l, const hob_setting *with) {
    static const char *const closed[] = {"providers", "net",      "store", "server",
                                         "retry",     "timeouts", "lanes", "permissions.allow"};
    static const char *const ordered[] = {"permissions.mode", "sandbox.level", "sandbox.network",
                                          "sandbox.write",    "sandbox.read",  "budget.tokens",
                                          "budget.cost_usd",  "budget.turns"};
    hob_setting *workspace = l->of[HOB_ORIGIN_WORKSPACE];
    hob_notes notes = {0};
    l->of[HOB_ORIGIN_WORKSPACE] = NULL;
    hob_setting *without = hob_layers_merge(l, &notes);
    for (size_t i = 0; i < HOB_ARRAY_LEN(closed); i++) assert_same(with, without, closed[i]);
    for (size_t i = 0; i < HOB_ARRAY_LEN(ordered); i++) assert_stricter(with, without, ordered[i]);
    l->of[HOB_ORIGIN_WORKSPACE] = workspace;
    hob_setting_destroy(without);
    hob_notes_finish(&notes);
}

/* What is in force, written down and read again, is the same. */
static void check_round_trip(const hob_setting *s) {
    hob_buf text;
    hob_buf_init(&text, (size_t)64 << 20);
    write_tree(s, &text);
    hob_setting *again = hob_setting_create(HOB_STR(""));
    hob_notes notes = {0};
    hob_reading r = {.source = "again", .text = hob_buf_str(&text), .notes = &notes};
    hob_setting *missing =
        hob_setting_find_z(s, "providers"); /* may hold what a variable left out */
    int code = hob_setting_read_text(&r, again, NULL);
    assert(code == HOB_OK || missing);
    if (code == HOB_OK) assert_same(again, s, "permissions");
    hob_setting_destroy(again);
    hob_notes_finish(&notes);
    hob_buf_finish(&text);
}

static void count_leaf(const char *path, hob_str json, hob_origin o, hob_str source, void *user) {
    (void)o, (void)source, (void)user;
    assert(hob_json_valid(json));
    hob_arena *a = hob_arena_create(0);
    hob_path p;
    assert(hob_path_parse(&p, path, a) == HOB_OK);
    hob_arena_destroy(a);
}

static void check_object(const hob_layers *l, hob_str path) {
    hob_config *c = hob_config_create();
    hob_layers copy = {.trusted = l->trusted};
    for (int i = 0; i < HOB_LAYERS; i++)
        copy.of[i] = l->of[i] ? hob_setting_dup(l->of[i]) : hob_setting_create(HOB_STR(""));
    assert(hob_config_adopt(c, &copy, NULL) == HOB_OK);
    hob_config_each(c, count_leaf, NULL);
    char *z = hob_dupz(path);
    hob_config_set(c, z, HOB_STR("{\"a\":[1]}"), HOB_ORIGIN_FLAG, NULL);
    hob_config_set(c, z, HOB_STR("\"yolo\""), HOB_ORIGIN_FLAG, NULL);
    hob_config_get(c, z);
    hob_config_missing(c, z);
    hob_config_origin(c, z, NULL);
    hob_free(z);
    hob_config_destroy(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str rest = hob_str_n(size ? (const char *)data : "", size), part[4] = {{0}};
    for (size_t i = 0; i < 4; i++) hob_str_split(&rest, '\xff', &part[i]);
    hob_layers l = {.trusted = size % 2};
    l.of[HOB_ORIGIN_BUILTIN] = read_text(hob_str_z(hob_builtin_settings), HOB_ORIGIN_BUILTIN, NULL);
    l.of[HOB_LAYER_POLICY] = hob_setting_create(HOB_STR(""));
    l.of[HOB_ORIGIN_ADMIN] = read_text(part[0], HOB_ORIGIN_ADMIN, l.of[HOB_LAYER_POLICY]);
    l.of[HOB_ORIGIN_USER] = read_text(part[1], HOB_ORIGIN_USER, NULL);
    l.of[HOB_ORIGIN_WORKSPACE] = read_text(part[2], HOB_ORIGIN_WORKSPACE, NULL);
    hob_notes notes = {0};
    hob_setting *merged = hob_layers_merge(&l, &notes);
    check_workspace(&l, merged);
    check_round_trip(merged);
    check_object(&l, part[3]);
    hob_setting_destroy(merged);
    hob_notes_finish(&notes);
    for (int i = 0; i < HOB_LAYERS; i++) hob_setting_destroy(l.of[i]);
    return 0;
}
