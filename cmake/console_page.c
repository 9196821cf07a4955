/*
 * console_page.c - puts the console page into the library. The files in src/serve/console/ are the only copy.
 *
 * It is carried compressed, a third of its size. gzip's head of ten bytes says when it was made, and is left out: the
 * same sources give the same library.
 */
#include "serve/page.h"

#if __SIZEOF_SIZE_T__ == 8
#define WORD ".quad"
#else
#define WORD ".long"
#endif

__asm__(".pushsection .rodata\n"
        ".globl hob_console_page\n"
        ".hidden hob_console_page\n"
        ".type hob_console_page, @object\n"
        "hob_console_page:\n"
        ".incbin \"" HOB_CONSOLE_PAGE_FILE "\", 10\n"
        ".Lhob_console_page_end:\n"
        ".size hob_console_page, .Lhob_console_page_end - hob_console_page\n"
        ".balign 8\n"
        ".globl hob_console_page_size\n"
        ".hidden hob_console_page_size\n"
        ".type hob_console_page_size, @object\n"
        "hob_console_page_size:\n" WORD " .Lhob_console_page_end - hob_console_page\n"
        ".size hob_console_page_size, . - hob_console_page_size\n"
        ".popsection\n");
