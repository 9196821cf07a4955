#include "log/tell.h"

/* Any text as the inside of a JSON string. Most is plain. */
static void add_escaped(hob_buf *out, hob_str s) {
    bool plain = true;
    for (size_t i = 0; i < s.n && plain; i++)
        plain = (unsigned char)s.p[i] >= 0x20 && s.p[i] != '"' && s.p[i] != '\\';
    if (plain) {
        hob_buf_add(out, s);
        return;
    }
    size_t start = out->n;
    if (hob_json_quote(out, s) < 0) return;
    memmove(out->p + start, out->p + start + 1, out->n - start - 2);
    out->n -= 2;
}

static void open_block(hob_buf *out, hob_str who) {
    hob_buf_add(out, HOB_STR(",{\"type\":\"text\",\"text\":\"["));
    add_escaped(out, who);
}

void hob_tell_begin(hob_buf *out) {
    hob_buf_add(out, HOB_STR("[{\"type\":\"text\",\"text\":\"For context:\"}"));
}

void hob_tell_end(hob_buf *out) {
    hob_buf_addc(out, ']');
}

void hob_tell_said(hob_buf *out, hob_str who, hob_str inside) {
    open_block(out, who);
    hob_buf_add(out, HOB_STR("] said: "));
    hob_buf_add(out, inside);
    hob_buf_add(out, HOB_STR("\"}"));
}

void hob_tell_called(hob_buf *out, hob_str who, hob_str name, hob_str args) {
    open_block(out, who);
    hob_buf_add(out, HOB_STR("] called tool `"));
    hob_buf_add(out, name);
    hob_buf_add(out, HOB_STR("` with parameters: "));
    add_escaped(out, args.n ? args : HOB_STR("{}"));
    hob_buf_add(out, HOB_STR("\"}"));
}

void hob_tell_returned(hob_buf *out, hob_str who, hob_str name, hob_str content) {
    open_block(out, who);
    hob_buf_add(out, HOB_STR("] tool `"));
    hob_buf_add(out, name);
    hob_buf_add(out, HOB_STR("` returned result: "));
    add_escaped(out, content.n ? content : HOB_STR("[]"));
    hob_buf_add(out, HOB_STR("\"}"));
}

void hob_tell_shown(hob_buf *out, hob_str block) {
    hob_buf_addc(out, ',');
    hob_buf_add(out, block);
}
