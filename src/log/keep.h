/*
 * keep.h - folded state as JSON and back, for snapshots.
 *
 * A snapshot saves folding a long log again. It is worth having only if what comes back is what folding gives, to the
 * last member; so reading is strict: a member that is missing, of another type or out of range fails the whole, and the
 * log is folded. Whoever adds a member to a folded struct adds it to the table of that struct (view_keep.c,
 * run/keep.c); a static assertion on the size of the struct reminds of it.
 */
#ifndef HOB_SRC_LOG_KEEP_H
#define HOB_SRC_LOG_KEEP_H

#include "log/view.h"

/* An integer that a member of `size` bytes holds and that can be reckoned with. */
bool hob_keep_int(const hob_json *o, const char *key, size_t size, int64_t *out);
bool hob_keep_double(const hob_json *o, const char *key, double *out);
bool hob_keep_str(const hob_json *o, const char *key, hob_str *out);
bool hob_keep_text(const hob_json *o, const char *key, char *out, size_t cap); /* must fit */

/* Cells of a table: X(member of *p, written under its own name). */
#define HOB_KEEP_WRITE_INT(member) hob_jsonw_kint(w, #member, (int64_t)p->member);
#define HOB_KEEP_WRITE_DOUBLE(member)                                                              \
    hob_jsonw_key(w, #member);                                                                     \
    hob_jsonw_double(w, p->member);
#define HOB_KEEP_WRITE_STR(member) hob_jsonw_kstr(w, #member, p->member);
#define HOB_KEEP_WRITE_TEXT(member) hob_jsonw_kstr(w, #member, hob_str_z(p->member));
#define HOB_KEEP_READ_INT(member)                                                                  \
    if (!hob_keep_int(o, #member, sizeof p->member, &number) ||                                    \
        (number < 0 && (__typeof__(p->member))-1 > 0))                                             \
        return HOB_EPARSE;                                                                         \
    p->member = (__typeof__(p->member))number;
#define HOB_KEEP_READ_DOUBLE(member)                                                               \
    if (!hob_keep_double(o, #member, &p->member)) return HOB_EPARSE;
#define HOB_KEEP_READ_STR(member)                                                                  \
    if (!hob_keep_str(o, #member, &p->member)) return HOB_EPARSE;                                  \
    p->member = hob_arena_dup(p->arena, p->member);
#define HOB_KEEP_READ_TEXT(member)                                                                 \
    if (!hob_keep_text(o, #member, p->member, sizeof p->member)) return HOB_EPARSE;

/* view_keep.c: all of a view but its history. */
bool hob_view_keeps(const hob_view *v); /* there is nothing in it that cannot be written now */
void hob_view_write(const hob_view *v, hob_jsonw *w);
int hob_view_read(hob_view *v, const hob_json *o); /* into a fresh one; HOB_EPARSE */

#endif
