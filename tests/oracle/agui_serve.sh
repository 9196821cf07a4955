#!/bin/sh
# ctest: labels=serial timeout=300
# `hob serve` on a scripted model before the real AG-UI clients (1.0.0 and 0.0.59) and the wire audit: every scenario of
# the oracle that a run of an agent can have; agui_serve.mjs says which, with which words, and why not the others.
set -u
judge="$HOB_SOURCE_DIR/../shared/oracles/agui"
work="$HOB_BINARY_DIR/oracle/agui"
desk="$HOB_BINARY_DIR/oracle/agui_serve"

skip() {
    echo "SKIP oracle/agui_serve: $1"
    [ "${CI:-}" = true ] && exit 1
    exit 77
}
[ -d "$judge" ] || skip "there is no ../shared/oracles/agui"
[ -x "$HOB_BINARY_DIR/hob" ] || skip "the program was not built"
command -v npm >/dev/null 2>&1 || skip "there is no npm (scripts/setup node)"

mkdir -p "$work"
cp -f "$judge"/*.mjs "$judge"/*.json "$HOB_SOURCE_DIR"/tests/oracle/agui_*.mjs "$work/"
chmod u+w "$work"/*.mjs "$work"/*.json
if ! cmp -s "$work/package.json" "$work/installed.json"; then
    (cd "$work" && npm install --no-audit --no-fund --loglevel=error) ||
        skip "npm could not install the clients"
    cp "$work/package.json" "$work/installed.json"
fi

rm -rf "$desk"
mkdir -p "$desk/home/agents"
echo sunny >"$desk/weather"
cat >"$desk/script.json" <<'SCRIPT'
{"defaults":{"chunk":0},"rules":[
 {"when":{"system":"work as a sub-agent"},"reply":[{"text":"seen"}]},
 {"when":{"system":"You write drafts","user":"@long"},"reply":[{"text":"0123456789","chunk":1,"delay_ms":50}]},
 {"when":{"system":"You write drafts","attempt":1},"reply":[{"error":{"code":"overloaded","message":"later"}}]},
 {"when":{"system":"You write drafts"},"reply":[{"text":"a draft"}]},
 {"when":{"system":"You edit"},"reply":[{"text":"edited"}]},
 {"when":{"user":"@ask","step":1},"reply":[{"tool":"ask_user","args":{"question":"Which colour?","schema":{"type":"object",
  "properties":{"colour":{"enum":["red","blue"]}},"required":["colour"]}}},{"tool":"ask_user","args":{"question":"Your name?"}}]},
 {"when":{"user":"@ask"},"reply":[{"text":"thanks"}]},
 {"when":{"user":{"prefix":"@echo seen"}},"reply":[{"text":"seen"}]},
 {"when":{"user":{"prefix":"@echo "}},"reply":[{"text":"{{rest}}"}]},
 {"when":{"user":{"prefix":"@tool"},"step":1},"reply":[{"tool":"read","args":{"path":"weather"}}]},
 {"when":{"user":{"prefix":"@tool"}},"reply":[{"text":"it is {{result}}"}]},
 {"when":{"user":{"prefix":"@frontend"},"step":1},"reply":[{"tool":"confirm_order","args":{"sku":"a"}}]},
 {"when":{"tool":"confirm_order"},"reply":[{"text":"the client said {{result}}"}]},
 {"when":{"user":{"prefix":"@interrupt 2"},"step":1},
  "reply":[{"tool":"write","args":{"path":"a","content":"1"}},{"tool":"write","args":{"path":"b","content":"2"}}]},
 {"when":{"user":{"prefix":"@interrupt"},"step":1},"reply":[{"tool":"write","args":{"path":"a","content":"1"}}]},
 {"when":{"user":{"prefix":"@interrupt"},"failed":true},"reply":[{"text":"denied"}]},
 {"when":{"user":{"prefix":"@interrupt"}},"reply":[{"text":"approved"}]},
 {"when":{"user":{"prefix":"@state-next"}},"reply":[{"text":"3"}]},
 {"when":{"user":{"prefix":"@state"}},"reply":[{"text":"2"}]},
 {"when":{"user":{"prefix":"@reason"}},"reply":[{"thinking":"let me think"},{"text":"reasoned"}]},
 {"when":{"user":{"prefix":"@snapshot"},"attempt":1},"reply":[{"text":"half"},{"delay_ms":300},{"cut":true}]},
 {"when":{"user":{"prefix":"@snapshot"}},"reply":[{"text":"whole"}]},
 {"when":{"user":{"prefix":"@subagent"},"step":1},
  "reply":[{"tool":"task","args":{"agent":"general","prompt":"look"}}]},
 {"when":{"user":{"prefix":"@subagent"}},"reply":[{"text":"it was seen"}]},
 {"when":{"user":{"prefix":"@error"}},"reply":[{"text":"half"},{"delay_ms":300},{"error":{"code":"refused","message":"no"}}]},
 {"when":{"user":{"prefix":"@colours"},"step":1},
  "reply":[{"text":"let me ask"},{"tool":"pick","args":{"of":"sky"}},{"tool":"pick","args":{"of":"sea"}}]},
 {"when":{"user":{"prefix":"@colours"}},"reply":[{"text":"got {{result}}"}]},
 {"when":{"user":{"prefix":"@offers"},"offers":"pick"},"reply":[{"text":"with pick"}]},
 {"when":{"user":{"prefix":"@offers"}},"reply":[{"text":"without"}]},
 {"when":{"user":{"prefix":"@stand"},"step":1},"reply":[{"delay_ms":700},{"tool":"read","args":{"path":"weather"}}]},
 {"when":{"user":{"prefix":"@stand"}},"reply":[{"text":"stood: {{result}}"}]},
 {"when":{"user":{"prefix":"@silent"}},"reply":[{"delay_ms":17000},{"text":"at last"}]},
 {"when":{"user":{"prefix":"@slow 10 20"}},"reply":[{"text":"0123456789","chunk":1,"delay_ms":20}]},
 {"when":{"user":{"prefix":"@slow 10 40 "}},"reply":[{"delay_ms":350},{"text":"{{rest}}","chunk":5,"delay_ms":5}]},
 {"when":{"user":{"prefix":"@slow"}},
  "reply":[{"text":"0123456789012345678901234567890123456789","chunk":1,"delay_ms":25}]}]}
SCRIPT
printf -- '---\nname: keeper\ndescription: Keeps what it said\noutput_key: counter\n---\nYou keep.\n' >"$desk/home/agents/keeper.md"
cat >"$desk/home/agents/pair.yaml" <<'PAIR'
name: pair
description: A draft, then fewer words
kind: sequential
agents:
  - { name: writer, description: Writes, prompt: You write drafts. }
  - { name: editor, description: Shortens, prompt: You edit. }
PAIR

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
"$HOB_SOURCE_DIR/scripts/node" agui_serve.mjs || status=1
ask() { # CLIENT LIST AGENT
    "$HOB_SOURCE_DIR/scripts/node" oracle.mjs --base "${url}agui/$3" --scenarios "$PWD/serve-$2.json" --require all \
        --client "$1" --header "Authorization: Bearer an-example-of-a-token" --timeout 60000
}
ask 1.0.0 quiet default >quiet-new & # half a minute of silence, beside the rest
new=$!
ask 0.0.59 quiet default >quiet-old &
old=$!
for client in 1.0.0 0.0.59; do
    ask $client default default || status=1
    ask $client keeper keeper || status=1
    ask $client pair pair || status=1
    "$HOB_SOURCE_DIR/scripts/node" agui_front.mjs "$url" an-example-of-a-token $client || status=1
done
# The front end of docs/ag-ui.md, as it stands there.
sed -n '/^```js file front.mjs/,/^```/p' "$HOB_SOURCE_DIR/docs/ag-ui.md" | sed '/^```/d' >front.mjs
expect() { # WORDS ANSWER
    got=$("$HOB_SOURCE_DIR/scripts/node" front.mjs "${url%/}" an-example-of-a-token "$1" 2>&1)
    [ "$got" = "$2" ] && return
    echo "docs/ag-ui.md: '$1' gave '$got', expected '$2'"
    status=1
}
expect '@colours' 'let me askgot blue, of the sea'
expect '@interrupt 1' 'approved'
expect '@error' 'halfHOB_EREFUSED: no'
wait $new || status=1
wait $old || status=1
cat quiet-new quiet-old
kill $pid
wait $pid || { echo "the server ended with an error"; cat "$desk/log"; status=1; }
trap - EXIT
exit $status
