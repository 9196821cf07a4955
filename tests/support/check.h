/*
 * check.h - cmocka with its mandatory includes, and the checks that many tests want.
 */
#ifndef HOB_TESTS_CHECK_H
#define HOB_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A slice equals a C string. */
#define assert_str(s, z)                                                                           \
    do {                                                                                           \
        hob_str got_ = (s);                                                                        \
        assert_int_equal(got_.n, strlen(z));                                                       \
        assert_memory_equal(got_.n ? got_.p : "", z, got_.n);                                      \
    } while (0)

/* A call succeeded, or its error's message is shown. */
#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        if ((call) < 0) fail_msg("%s: %s", #call, (err).message);                                  \
    } while (0)

#endif
