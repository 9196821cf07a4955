/*
 * page.h - the console page as the build made it (cmake/console_page.c), and its policy.
 */
#ifndef HOB_SRC_SERVE_PAGE_H
#define HOB_SRC_SERVE_PAGE_H

#include "base/base.h"

extern const char hob_console_page[]; /* compressed: deflate, without a head */
extern const size_t hob_console_page_size;

/* The page. HOB_ENOSYS: there is no zlib. */
int hob_page_read(hob_buf *out);

/* The Content-Security-Policy of a page with its styles and scripts inside. */
void hob_page_policy(hob_str page, hob_buf *out);

#endif
