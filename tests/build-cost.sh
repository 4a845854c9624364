#!/usr/bin/env bash
# Measures clean builds of a crate that defines four tools, by the derive macros and without them, into docs/build-cost.md.
set -euo pipefail
cd "$(dirname "$0")/build-cost"
runs=${RUNS:-3}
export CARGO_TARGET_DIR="$PWD/../../target/build-cost"
cargo fetch --quiet --locked

# prints wall seconds and CPU seconds
build() {
    rm -rf "$CARGO_TARGET_DIR"
    local TIMEFORMAT='%R %U %S'
    { time cargo build --quiet --locked --offline -p "$1" 2>&3; } 3>&2 2>&1 | awk '{print $1, $2 + $3}'
}
median() { sort -n | awk '{line[NR] = $1} END {print line[int((NR + 1) / 2)]}'; }
crates() { cargo tree --locked --offline -p "$1" -e normal,build --prefix none | sed 's/ (.*//' | sort -u | wc -l; }

for ((run = 0; run < runs; run++)); do
    for crate in baseline four-tools; do
        build "$crate" >>"$(dirname "$CARGO_TARGET_DIR")/$crate.times.$$"
    done
done
figures() { cut -d' ' -f"$2" "$(dirname "$CARGO_TARGET_DIR")/$1.times.$$" | median; }
wall_of_baseline=$(figures baseline 1) cpu_of_baseline=$(figures baseline 2)
wall=$(figures four-tools 1) cpu=$(figures four-tools 2)
more() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%+.0f %%", (a / b - 1) * 100}'; }
{
    echo "# What the macros cost to build"
    echo
    echo "A crate that defines four tools and nothing else, built from nothing (\`cargo build\`, dependencies included), against the"
    echo "same four structs with schemars and the chat types of async-openai alone. Median of $runs builds each, in turn, written by"
    echo "\`just build-cost\` on $(nproc) cores ($(uname -sm)), $(rustc --version | cut -d' ' -f1,2), $(date -u +%Y-%m-%d)."
    echo
    echo "| four tools by | crates | seconds | CPU seconds |"
    echo "|---|---|---|---|"
    echo "| schemars and async-openai's types | $(crates baseline) | $wall_of_baseline | $cpu_of_baseline |"
    echo "| insomnia-tasks, \`default-features = false\` | $(crates four-tools) | $wall | $cpu |"
    echo "| difference | | $(more "$wall" "$wall_of_baseline") | $(more "$cpu" "$cpu_of_baseline") |"
} >../../docs/build-cost.md
rm -f "$(dirname "$CARGO_TARGET_DIR")"/*.times.$$
cat ../../docs/build-cost.md
awk -v a="$cpu" -v b="$cpu_of_baseline" 'BEGIN {exit !(a <= b * 1.15)}' || { echo "more than 15 % above" >&2; exit 1; }
