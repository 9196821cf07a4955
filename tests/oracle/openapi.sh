#!/bin/sh
# ctest: timeout=300
# The OpenAPI document that the server makes of its table of routes, judged by the schema of OpenAPI 3.1, and compared with
# what the server does without a token. Needs npm: without it the test is skipped, and fails where everything must be
# there (CI=true).
set -u
here="$HOB_SOURCE_DIR/tests/conformance/openapi"
work="$HOB_BINARY_DIR/conformance/openapi"

skip() {
    echo "SKIP oracle/openapi: $1"
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
        skip "npm could not install the validator: $work/npm.log says why"
    cp "$here/package.json" "$work/installed.json"
fi
cp "$here"/*.mjs "$work/"
cd "$work" && exec "$HOB_SOURCE_DIR/scripts/node" judge.mjs "$HOB_BINARY_DIR/hob"
