#!/bin/sh
# ctest: timeout=600
# The console page in a real browser: Debian's chromium, driven by playwright-core, before a real server with a scripted
# model. Screenshots stay in the build folder. Needs npm and chromium; without them the test is skipped, and fails where
# everything must be there (CI=true).
set -u
work="$HOB_BINARY_DIR/browser/console"

skip() {
    echo "SKIP browser/console: $1"
    [ "${CI:-}" = true ] && exit 1
    exit 77
}
command -v chromium >/dev/null 2>&1 || skip "there is no chromium (scripts/setup browser)"
command -v npm >/dev/null 2>&1 || skip "there is no npm (scripts/setup node)"
mkdir -p "$work"
cp "$HOB_SOURCE_DIR"/tests/browser/*.mjs "$HOB_SOURCE_DIR/tests/browser/package.json" "$work/"
if ! cmp -s "$work/package.json" "$work/installed.json"; then
    (cd "$work" && npm install --no-audit --no-fund --loglevel=error) ||
        skip "npm could not install playwright-core"
    cp "$work/package.json" "$work/installed.json"
fi
cd "$work" && exec "$HOB_SOURCE_DIR/scripts/node" console.mjs "$HOB_BINARY_DIR/hob"
