#!/bin/sh
# ctest: labels=serial timeout=300
# `hob serve` on a scripted model before the real AG-UI clients (1.0.0 and 0.0.59) and the wire audit: the scenarios that a
# model can play. Left to the example server (agui.sh): those that need a tool of the server's own, states and activities
# made up by it, several approvals at once (hob asks one after the other), and those that compare times.
set -u
judge="$HOB_SOURCE_DIR/../shared/oracles/agui"
work="$HOB_BINARY_DIR/oracle/agui"
desk="$HOB_BINARY_DIR/oracle/agui_serve"
scenarios=text,unicode,history,multimodal-input,tool-frontend,interrupt-resolve,interrupt-cancel,interrupt-uncovered
scenarios=$scenarios,reasoning,error,abort,cancel,same-thread-overlap,malformed,tolerance,http-methods,cors
scenarios=$scenarios,capabilities,connect

skip() {
    echo "SKIP oracle/agui_serve: $1"
    [ "${CI:-}" = true ] && exit 1
    exit 77
}
[ -d "$judge" ] || skip "there is no ../shared/oracles/agui"
[ -x "$HOB_BINARY_DIR/hob" ] || skip "the program was not built"
command -v npm >/dev/null 2>&1 || skip "there is no npm (scripts/setup node)"

mkdir -p "$work"
cp -f "$judge"/*.mjs "$judge"/*.json "$work/"
chmod u+w "$work"/*.mjs "$work"/*.json
if ! cmp -s "$work/package.json" "$work/installed.json"; then
    (cd "$work" && npm install --no-audit --no-fund --loglevel=error) ||
        skip "npm could not install the clients"
    cp "$work/package.json" "$work/installed.json"
fi

rm -rf "$desk"
mkdir -p "$desk"
cat >"$desk/script.json" <<'SCRIPT'
{"rules":[
 {"when":{"user":{"prefix":"@echo seen"}},"reply":[{"text":"seen"}]},
 {"when":{"user":{"prefix":"@echo "}},"reply":[{"text":"{{rest}}"}]},
 {"when":{"user":{"prefix":"@frontend"},"step":1},"reply":[{"tool":"confirm_order","args":{"sku":"a"}}]},
 {"when":{"tool":"confirm_order"},"reply":[{"text":"the client said {{result}}"}]},
 {"when":{"user":{"prefix":"@interrupt 2"},"step":1},
  "reply":[{"tool":"write","args":{"path":"a","content":"1"}},{"tool":"write","args":{"path":"b","content":"2"}}]},
 {"when":{"user":{"prefix":"@interrupt"},"step":1},"reply":[{"tool":"write","args":{"path":"a","content":"1"}}]},
 {"when":{"user":{"prefix":"@interrupt"},"failed":true},"reply":[{"text":"denied"}]},
 {"when":{"user":{"prefix":"@interrupt"}},"reply":[{"text":"approved"}]},
 {"when":{"user":{"prefix":"@reason"}},"reply":[{"thinking":"let me think"},{"text":"reasoned"}]},
 {"when":{"user":{"prefix":"@error"}},"reply":[{"text":"half"},{"error":{"code":"refused","message":"no"}}]},
 {"when":{"user":{"prefix":"@slow 10 20"}},"reply":[{"text":"0123456789","chunk":1,"delay_ms":20}]},
 {"when":{"user":{"prefix":"@slow"}},
  "reply":[{"text":"0123456789012345678901234567890123456789","chunk":1,"delay_ms":25}]}]}
SCRIPT

cd "$desk" || exit 1
HOB_HOME="$desk/home" HOB_SERVER_TOKEN=an-example-of-a-token \
    "$HOB_BINARY_DIR/hob" serve --listen 127.0.0.1:0 --json -m "scripted:$desk/script.json" \
    --allow-origin http://localhost:5173 >ready 2>log &
pid=$!
trap 'kill $pid 2>/dev/null' EXIT
n=0
while [ ! -s ready ] && [ $n -lt 100 ]; do
    n=$((n + 1))
    sleep 0.1
done
url=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' ready)
[ -n "$url" ] || { echo "the server did not get ready"; cat log; exit 1; }

status=0
cd "$work" || exit 1
for client in 1.0.0 0.0.59; do
    "$HOB_SOURCE_DIR/scripts/node" oracle.mjs --base "${url}agui/default" --require all --client $client \
        --header "Authorization: Bearer an-example-of-a-token" --only $scenarios || status=1
done
kill $pid
wait $pid || { echo "the server ended with an error"; cat "$desk/log"; status=1; }
trap - EXIT
exit $status
