/*
 * show.c - text of others on a terminal.
 *
 * What a model, a tool or a file says may hold sequences that clear the screen, hide text, set the
 * title or the clipboard. On a terminal none of it may act: every control character is made
 * visible.
 */
#include "cli/cli.h"

#define SHOW_MAX (64u << 20)

/* Characters that change the direction of what follows (bidirectional controls). */
static bool turns_text(uint32_t c) {
    return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x061C ||
           c == 0x200E || c == 0x200F;
}

/* Characters that nobody sees but a model or a shell reads. The joiners, which some scripts and
 * pictures need, stay. */
static bool hides(uint32_t c) {
    return c == 0x00AD || c == 0x180E || c == 0x200B || (c >= 0x2060 && c <= 0x2064) ||
           c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE007F);
}

static void add_point(hob_buf *out, uint32_t c, hob_str bytes) {
    if (c < 0x20 || c == 0x7F) {
        hob_buf_addc(out, '^');
        hob_buf_addc(out, (char)(c ^ 0x40));
    } else if ((c >= 0x80 && c < 0xA0) || turns_text(c) || hides(c) || c == 0xFFFD) {
        hob_buf_addz(out, "\xEF\xBF\xBD");
    } else {
        hob_buf_add(out, bytes);
    }
}

void hob_show_text(hob_buf *out, hob_str s) {
    size_t at = 0;
    while (at < s.n) {
        size_t start = at;
        uint32_t c = hob_utf8_next(s, &at);
        if (c == '\n' || c == '\t')
            hob_buf_addc(out, (char)c);
        else
            add_point(out, c, hob_str_n(s.p + start, at - start));
    }
}

void hob_show_line(hob_buf *out, hob_str s, size_t columns) {
    size_t at = 0, shown = 0;
    bool blank = true; /* none at the beginning, one between words */
    while (at < s.n) {
        size_t start = at;
        uint32_t c = hob_utf8_next(s, &at);
        bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (space && blank) continue;
        if (shown >= columns) {
            hob_buf_addz(out, "…");
            return;
        }
        blank = space;
        if (space)
            hob_buf_addc(out, ' ');
        else
            add_point(out, c, hob_str_n(s.p + start, at - start));
        shown++;
    }
}

void hob_show_call(hob_buf *out, hob_str tool, const hob_json *args, size_t columns) {
    static const char *const telling[] = {"command", "path", "pattern", "url", "query", "prompt"};
    const hob_json *value = NULL;
    for (size_t i = 0; i < HOB_ARRAY_LEN(telling) && !value; i++)
        value = hob_json_get(args, telling[i]);
    hob_show_line(out, tool, 64);
    hob_str text = hob_json_is(value, HOB_JSON_STRING) ? hob_json_str(value) : hob_json_raw(args);
    if (!text.n || hob_str_eqz(text, "{}")) return;
    hob_buf_addc(out, ' ');
    hob_show_line(out, text, columns);
}

void hob_show_out(hob_out *o, hob_str s) {
    if (!o->tty) {
        hob_out_add(o, s);
        return;
    }
    hob_buf b;
    hob_buf_init(&b, SHOW_MAX);
    hob_show_text(&b, s);
    hob_out_add(o, hob_buf_str(&b));
    hob_buf_finish(&b);
}
