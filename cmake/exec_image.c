/*
 * The bytes of hob-exec inside the library, so that a program that only has libhob.so can still
 * run commands: the image is written to a memfd and executed from there.
 */
#include <stddef.h>

#if __SIZEOF_SIZE_T__ == 8
#define WORD ".quad"
#else
#define WORD ".long"
#endif

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl hob_exec_image\n"
        ".hidden hob_exec_image\n"
        ".type hob_exec_image, @object\n"
        "hob_exec_image:\n"
        ".incbin \"" HOB_EXEC_IMAGE_FILE "\"\n"
        ".Lhob_exec_image_end:\n"
        ".size hob_exec_image, .Lhob_exec_image_end - hob_exec_image\n"
        ".balign 8\n"
        ".globl hob_exec_image_size\n"
        ".hidden hob_exec_image_size\n"
        ".type hob_exec_image_size, @object\n"
        "hob_exec_image_size:\n" WORD " .Lhob_exec_image_end - hob_exec_image\n"
        ".size hob_exec_image_size, . - hob_exec_image_size\n"
        ".popsection\n");

extern const unsigned char hob_exec_image[];
extern const size_t hob_exec_image_size;
