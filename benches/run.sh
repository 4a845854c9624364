#!/usr/bin/env bash
# Measures everything and writes docs/BENCHMARKS.md and docs/bench-requests.svg.
set -euo pipefail
cd "$(dirname "$0")"
cargo bench --locked
mkdir -p target/figures
cargo run --locked --release --bin memory >target/figures/memory.json
./builds.sh >target/figures/builds.json
cargo run --locked --release --bin report
