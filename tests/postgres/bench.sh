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
    echo "Measured by \`just postgres-bench\` on $(nproc) cores ($(uname -sm)), $(date -u +%Y-%m-%d): appends and empty durable commits by"
    echo 'turns, 30 times 200 ms each, so that what else the machine does befalls both. An empty commit updates one number in one row.'
    echo 'What an append costs beyond that is work of the processor (the row of 1 KB, its two index entries, the log of both), not of the'
    echo 'disk: the ratio depends on how long a flush takes. With many clients commits share their flushes, and the two cores, which the'
    echo 'server shares with the clients, are what is left to wait for.'
    for sessions in 1000 "$@"; do
        printf '\n## %s sessions\n\n' "$sessions"
        target/release/examples/postgres_bench "$sessions"
    done
} >"$figures"
mkdir -p docs
cp "$figures" docs/postgres-bench.md
