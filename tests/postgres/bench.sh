#!/usr/bin/env bash
# Measures sessions in Postgres and writes the figures to docs/postgres-bench.md. With an argument: that many sessions in the
# tables too, such as 1000000.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/postgres/setup.sh
cargo build --release --quiet -p insomnia-tasks-tests --example postgres_bench
figures=$(mktemp)
trap 'rm -f "$figures"' EXIT
{
    echo '# Sessions in Postgres: what they cost'
    echo
    echo 'Written by `tests/postgres/bench.sh`.'
    for sessions in 1000 "$@"; do
        printf '\n## %s sessions\n\n' "$sessions"
        target/release/examples/postgres_bench "$sessions"
    done
} >"$figures"
mkdir -p docs
cp "$figures" docs/postgres-bench.md
