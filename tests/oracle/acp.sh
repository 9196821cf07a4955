#!/bin/sh
# ctest: timeout=300
# The program as an editor sees it: the client of the protocol's own SDK drives `hob acp` through every method, on the
# scripted model, and every message is checked against the SDK's schema. Needs npm: without it the test is skipped, and fails
# where everything must be there (CI=true).
set -u
here="$HOB_SOURCE_DIR/tests/conformance/acp"
work="$HOB_BINARY_DIR/conformance/acp"

skip() {
    echo "SKIP oracle/acp: $1"
    [ "${CI:-}" = true ] && exit 1
    exit 77
}
command -v npm >/dev/null 2>&1 || "$HOB_SOURCE_DIR/scripts/setup" node >&2 ||
    skip "there is no npm (scripts/setup node)"

mkdir -p "$work"
if ! cmp -s "$here/package.json" "$work/installed.json"; then
    cp "$here/package.json" "$work/package.json"
    (cd "$work" && npm install --no-audit --no-fund --no-package-lock --loglevel=error \
        --fetch-retries=1 --fetch-timeout=60000 >npm.log 2>&1) ||
        skip "npm could not install the SDK: $work/npm.log says why"
    cp "$here/package.json" "$work/installed.json"
fi
cp "$here"/*.mjs "$work/"
cd "$work" && exec "$HOB_SOURCE_DIR/scripts/node" drive.mjs "$HOB_BINARY_DIR/hob"
