/*
 * demo_files.c - puts examples/demo/ into the program. The files there are the only copy.
 */
#include "cli/demo_files.h"

#define CARRY(symbol, file)                                                                        \
    extern const char symbol[];                                                                    \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl " #symbol "\n"                                                                 \
            ".hidden " #symbol "\n"                                                                \
            ".type " #symbol ", @object\n" #symbol ":\n"                                           \
            ".incbin \"" HOB_DEMO_DIR "/" file "\"\n"                                              \
            ".byte 0\n"                                                                            \
            ".size " #symbol ", . - " #symbol "\n"                                                 \
            ".popsection\n")

CARRY(hob_demo_stats_c, "stats.c");
CARRY(hob_demo_stats_test_sh, "stats_test.sh");
CARRY(hob_demo_script, "demo.script.json");

const hob_demo_file hob_demo_files[] = {
    {"stats.c", hob_demo_stats_c},
    {"stats_test.sh", hob_demo_stats_test_sh},
    {0},
};

const char hob_demo_prompt[] = "The tests of stats.c fail. Find the bug and fix it.";
