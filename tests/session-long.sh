#!/usr/bin/env bash
# More of what every build tests of sessions. Writes docs/session-long.md when all of it passed.
set -euo pipefail
cd "$(dirname "$0")/.."
histories=${INSOMNIA_HISTORIES:-100000}
kills=${INSOMNIA_KILLS:-10000}
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

# what it shows, the words before which the test prints how many (or the number itself), the command
run() {
    local what=$1 count=$2 from=$SECONDS out
    out=$(mktemp)
    "${@:3}" 2>&1 | tee "$out" || { rm -f "$out"; exit 1; }
    grep -qE '^test result: ok. [1-9]' "$out" || { echo "no test ran: $what"; exit 1; }
    [[ $count =~ ^[0-9]+$ ]] || count=$(grep -oE "[0-9]+ $count.*" "$out" | sed -E 's/, [0-9.]+s$//')
    rm -f "$out"
    echo "| $what | $count | $((SECONDS - from)) s |" >>"$rows"
}

cargo test --locked --workspace --no-run
run "generated histories fold to what an uninterrupted plain model says" "$histories" \
    env INSOMNIA_HISTORIES="$histories" cargo test --locked --workspace --lib session::fold_tests::generated
run "a script of 200 steps, the machine crashed at every storage call" crashes \
    cargo test --locked --workspace --lib script_tests::a_crash -- --nocapture
run "the same script, every storage call failed in each of five ways" failures \
    env INSOMNIA_ALL_FAILURES=1 cargo test --locked --workspace --lib script_tests::a_failure -- --nocapture
run "a real process killed while it appends" kills \
    env INSOMNIA_KILLS="$kills" cargo test --locked --workspace --test session kills::i01 -- --nocapture
{
    echo "# Long runs of the tests of sessions"
    echo
    echo "Written by \`just sessions-long\` on $(nproc) cores ($(uname -sm)), $(date -u +%Y-%m-%d), with the debug profile. Nothing acknowledged was"
    echo "lost, every session resumed, and what is sent next was a valid conversation."
    echo
    echo "| what | how many | took |"
    echo "|---|---|---|"
    cat "$rows"
} >docs/session-long.md
cat docs/session-long.md
