/*
 * The rule reader and the comparing of rules with calls. The input is a rule, a line end, and the
 * command or path of a call.
 *
 * Beyond not crashing: whatever a rule allows it denies as well when it stands in the other list, and
 * what a command pattern allows consists of plain words.
 */
#include <assert.h>

#include "policy/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const hob_rule_place places[] = {{.cwd = {"/ws/p", 5}, .home = {"/ho/me", 6}},
                                        {.cwd = {NULL, 0}}};

static bool plain(hob_str s) {
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < ' ' || c > '~' || strchr(";|&$`<>(){}[]*?~!#=\\'\"^", c)) return false;
    }
    return true;
}

static hob_match match(const hob_rule *r, hob_str value, const hob_rule_place *place) {
    return r->form == HOB_RULE_COMMAND ? hob_command_match(r, value)
                                       : hob_path_match(r, value, place);
}

static void compare(hob_str text, hob_str value, const hob_rule_place *place) {
    hob_rule allow, deny;
    hob_error err = {0};
    int code = hob_rule_init(&allow, text, HOB_RULE_ALLOW, place, &err);
    int other = hob_rule_init(&deny, text, HOB_RULE_DENY, place, NULL);
    assert(code == HOB_OK || (err.code == HOB_ECONFIG && err.message[0]));
    assert(code != HOB_OK || other == HOB_OK);
    if (code == HOB_OK && allow.form != HOB_RULE_TOOL) {
        hob_match m = match(&allow, value, place);
        assert(m != HOB_MATCH_DOUBT);
        if (m == HOB_MATCH_YES) assert(match(&deny, value, place) != HOB_MATCH_NO);
        if (m == HOB_MATCH_YES && allow.form == HOB_RULE_COMMAND) assert(plain(value));
    }
    if (code == HOB_OK) hob_rule_finish(&allow);
    if (other == HOB_OK) hob_rule_finish(&deny);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str rest = hob_str_n(size ? (const char *)data : "", size), text = {0};
    hob_str_split(&rest, '\n', &text);
    hob_str value = rest.p ? rest : HOB_STR("");
    for (size_t i = 0; i < HOB_ARRAY_LEN(places); i++) compare(text, value, &places[i]);
    return 0;
}
