#!/bin/sh
# Tests of stats.c: builds it, runs it, compares what it prints.
set -u
cd "$(dirname "$0")" || exit 1
cc -O1 -Wall -o stats stats.c || exit 1

failed=0
check() { # EXPECTED NUMBER...
    expected=$1
    shift
    got=$(./stats "$@")
    if [ "$got" = "$expected" ]; then
        echo "ok: stats $*"
    else
        echo "FAIL: stats $*: expected '$expected', got '$got'"
        failed=1
    fi
}

check 'count 1, largest 5, mean 5' 5
check 'count 3, largest 9, mean 5' 9 2 4
check 'count 4, largest 8, mean 5' 3 7 2 8
check 'count 2, largest -1, mean -2' -3 -1
[ $failed = 0 ] && echo 'all tests passed'
exit $failed
