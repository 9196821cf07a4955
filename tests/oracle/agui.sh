#!/bin/sh
# ctest: labels=serial timeout=300
# The AG-UI example server before the real clients (1.0.0, and 0.0.59 as today's user interfaces carry it) and a wire audit;
# then every kind of event in protobuf before @ag-ui/proto, and runs of hob's own sessions before both clients. Needs ../shared and npm: without them the test is skipped, and
# fails where everything must be there (CI=true).
set -u
server="$HOB_BINARY_DIR/examples/agui_oracle_server"
judge="$HOB_SOURCE_DIR/../shared/oracles/agui"
work="$HOB_BINARY_DIR/oracle/agui"

skip() {
    echo "SKIP oracle/agui: $1"
    [ "${CI:-}" = true ] && exit 1
    exit 77
}
[ -d "$judge" ] || skip "there is no ../shared/oracles/agui"
[ -x "$server" ] || skip "the example server was not built"
command -v npm >/dev/null 2>&1 || skip "there is no npm (scripts/setup node)"

mkdir -p "$work"
cp -f "$judge"/*.mjs "$judge"/*.json "$HOB_SOURCE_DIR"/tests/oracle/agui_*.mjs "$work/"
chmod u+w "$work"/*.mjs "$work"/*.json
if ! cmp -s "$work/package.json" "$work/installed.json"; then
    (cd "$work" && npm install --no-audit --no-fund --loglevel=error) ||
        skip "npm could not install the clients"
    cp "$work/package.json" "$work/installed.json"
fi

rm -f "$work/ready"
"$server" --listen 127.0.0.1:0 >"$work/ready" &
pid=$!
trap 'kill $pid 2>/dev/null' EXIT
n=0
while [ ! -s "$work/ready" ] && [ $n -lt 100 ]; do
    n=$((n + 1))
    sleep 0.1
done
url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' "$work/ready")
[ -n "$url" ] || { echo "the server did not get ready"; exit 1; }

status=0
cd "$work" || exit 1
# `concurrency` compares times, and on a busy machine the client itself is the slow one: it alone may try again.
ask() { # CLIENT ARGS…
    client=$1
    shift
    "$HOB_SOURCE_DIR/scripts/node" oracle.mjs --base "$url/agent" --require all --client "$client" "$@"
}
for client in 1.0.0 0.0.59; do
    ask $client >verdict && { cat verdict; continue; }
    cat verdict
    grep -q 'FAILED: concurrency$' verdict && { ask $client --only concurrency ||
        ask $client --only concurrency; } || status=1
done
kill $pid
wait $pid || { echo "the server ended with an error"; status=1; }
trap - EXIT

rm -f events
HOB_AGUI_DUMP=events "$HOB_BINARY_DIR/tests/unit/agui/proto" >/dev/null 2>&1 || status=1
"$HOB_SOURCE_DIR/scripts/node" agui_proto.mjs events || status=1

rm -f runs
HOB_AGUI_RUNS=runs "$HOB_BINARY_DIR/tests/unit/agui/view" >/dev/null 2>&1 || status=1
"$HOB_SOURCE_DIR/scripts/node" agui_runs.mjs runs || status=1
exit $status
