/*
 * version.c - the least that a program linked to hob's libraries can do.
 */
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <uv.h>

int main(void) {
    return printf("floor %s %s %s\n", sqlite3_libversion(), uv_version_string(),
                  sodium_version_string()) > 0
               ? 0
               : 1;
}
