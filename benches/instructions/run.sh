#!/usr/bin/env bash
# Counts the instructions of the hot paths and holds them to limits.tsv. Counts do not depend on the machine's load, but a little on
# its libraries and the compiler, so the limits have room for a quarter. `run.sh --set` writes them anew.
set -euo pipefail
cd "$(dirname "$0")"
cargo build --locked --quiet --release
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect='*measured*' \
        target/release/instructions "$1" 2>&1 | sed -n 's/.*Collected : \([0-9]\+\).*/\1/p'
}
failed=0
new=$(mktemp)
trap 'rm -f "$new"' EXIT
while read -r name limit; do
    counted=$(count "$name")
    [ "${counted:-0}" -gt 0 ] || { echo "$name: nothing was counted"; exit 1; }
    echo "$name: $counted instructions, at most $limit"
    printf '%s\t%s\n' "$name" $((counted * 5 / 4)) >>"$new"
    [ "$counted" -le "$limit" ] || failed=1
done <limits.tsv
if [ "${1-}" = --set ]; then
    cp "$new" limits.tsv
elif [ "$failed" = 1 ]; then
    echo "more than the limit: make it cheaper, or say why not and run \`just instructions-set\`"
    exit 1
fi
