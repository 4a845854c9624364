#!/usr/bin/env bash
# Builds the library with its default features, and async-openai alone, each from nothing, by turns; then the crates of this
# repository once more, without their dependencies. Prints CPU time and crates as JSON.
# The crates of this repository do not count as crates that it brings.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
TIMEFORMAT='%U %S'

figure() {
    local name=$1 dependency=$2 place
    place=$(mktemp -d)
    mkdir "$place/src"
    touch "$place/src/lib.rs"
    cp "$root/Cargo.lock" "$place/"
    printf '[package]\nname = "probe"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n%s\n' "$dependency" >"$place/Cargo.toml"
    (cd "$place" && cargo fetch --quiet)
    local spent
    spent=$({ time (cd "$place" && cargo build --quiet --offline 2>/dev/null); } 2>&1)
    local own='0 0'
    if [ "$name" = crate ]; then
        (cd "$place" && cargo clean --quiet --offline -p insomnia-tasks -p insomnia-tasks-macros)
        own=$({ time (cd "$place" && cargo build --quiet --offline 2>/dev/null); } 2>&1)
    fi
    (cd "$place" && cargo tree --offline -e normal --prefix none) | sed 's/ (.*//' | sort -u | grep -Ev '^(probe|insomnia-tasks|insomnia-tasks-macros) ' >"$lists/$name"
    rm -rf "$place"
    echo "\"$name\": {\"seconds\": $(awk '{print $1 + $2}' <<<"$spent"), \"own\": $(awk '{print $1 + $2}' <<<"$own"), \"crates\": $(wc -l <"$lists/$name")}"
}

openai='async-openai = { version = "0.43", default-features = false, features = ["rustls", "chat-completion"] }'
rounds=
for _ in 1 2 3; do
    alone=$(figure alone "$openai")
    crate=$(figure crate "insomnia-tasks = { path = \"$root/insomnia-tasks\" }")
    more=$(comm -13 "$lists/alone" "$lists/crate" | cut -d' ' -f1 | sed 's/.*/"&"/' | paste -sd,)
    rounds+="${rounds:+, }{$alone, $crate, \"more\": [$more]}"
done
echo "[$rounds]"
