#!/bin/sh
# ctest: labels=demo timeout=120
# The demo: killed half-way, resumed, finished; offline; its session can be looked at afterwards.
set -u
fail() { echo "demo: $*"; cat "$tmp/out"; exit 1; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

unset http_proxy https_proxy
TMPDIR=$tmp HOB_HOME=$tmp/not-used NO_COLOR=1 "$HOB" demo </dev/null >"$tmp/out" 2>&1 || fail "exit code $?"
for words in 'SIGKILL' '* bash sh stats_test.sh' '! bash: unknown' '* write stats.c' 'all tests passed' \
    'without a gap' 'Done.'; do
    grep -qF -- "$words" "$tmp/out" || fail "did not say: $words"
done
[ ! -e "$tmp/not-used" ] || fail "touched the user's own folder"
look=$(sed -n 's/^look at it: //p' "$tmp/out")
[ -n "$look" ] || fail "does not say how to look at it"
sh -c "$look" >"$tmp/show" 2>&1 || fail "cannot be looked at: $look"
grep -qF 'The bug was in' "$tmp/show" || fail "the story is not there"
