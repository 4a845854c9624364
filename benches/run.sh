#!/usr/bin/env bash
# Measures everything and writes docs/BENCHMARKS.md and docs/bench-requests.svg.
set -euo pipefail
cd "$(dirname "$0")"
# by turns, so that what else the machine does befalls all
rm -rf target/figures
mkdir -p target/figures/rounds
for round in 1 2 3 4 5 6 7; do
    cargo bench --locked
    cp -r target/criterion "target/figures/rounds/$round"
done
cargo run --locked --release --bin memory >target/figures/memory.json
./builds.sh >target/figures/builds.json
cargo run --locked --release --bin report
