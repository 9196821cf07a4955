#!/bin/sh
# ctest: labels=long,serial timeout=1800
# `make bench` prints the rows of the promises, each with its promise, most with a floor measured in the same run.
# Whether a promise holds is a matter of the machine; that a row is missing is not.
set -u
out=$("$HOB_SOURCE_DIR/scripts/bench" "$HOB_BINARY_DIR" 2>&1) || { echo "$out"; exit 1; }
for row in start.version start.request start.request_ratio run.cpu run.rss turn.read.cpu turn.bash.cpu \
    long.gap.turn_2480 long.gap.growth long.rss stream.burst.anthropic stream.paced resume.5000 open.100000 \
    idle.used idle.10000.rss store.append store.share team.agent team.memory size.libhob.so; do
    echo "$out" | grep -E "^ *$row .*(ok|MISS)" >/dev/null || { echo "$out"; echo "bench: no row $row"; exit 1; }
done
echo "$out"
