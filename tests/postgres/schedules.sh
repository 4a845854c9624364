#!/usr/bin/env bash
# Runs 30,000 random schedules of two owners of a session in Postgres, in three runs of different seeds, and writes what happened
# to docs/postgres-schedules.md. Fails at the first schedule that breaks a rule.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/postgres/setup.sh
export INSOMNIA_TESTS_REQUIRE_ALL=1 INSOMNIA_PG_SCHEDULES=10000
figures=$(mktemp) log=$(mktemp)
trap 'rm -f "$figures" "$log"' EXIT
{
    echo '# Schedules of two owners of a session in Postgres'
    echo
    echo "Run by \`just postgres-long\` on $(nproc) cores ($(uname -sm)), $(date -u +%Y-%m-%d). Each schedule is 4 to 12 random steps of two machines:"
    echo 'appends, take-overs, pauses beyond the lease, closings, turns that are dropped, connections that are cut before the request or'
    echo 'before the answer. After each one: nothing that was acknowledged is lost, nothing is there twice, an owner that lost the session'
    echo 'has appended nothing since, and whatever anybody read is a prefix of what is there. No schedule of these runs broke a rule.'
    echo
    echo '| seeds | schedules | seconds | entries kept | fenced appends | connections cut | turns dropped | take-overs |'
    echo '|---|---|---|---|---|---|---|---|'
} >"$figures"
for first in 0 10000 20000; do
    INSOMNIA_PG_FIRST_SEED=$first cargo test --quiet --test postgres schedules::i19 -- --nocapture 2>&1 | tee "$log"
    grep -m 1 '^| ' "$log" >>"$figures"
done
cp "$figures" docs/postgres-schedules.md
