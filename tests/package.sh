#!/usr/bin/env bash
# Packs both crates as they would be published, looks at what is in them, and builds each from what was packed.
# Takes the arguments of `cargo package`, such as --allow-dirty.
set -euo pipefail
cd "$(dirname "$0")/.."

crates=(insomnia-tasks-macros insomnia-tasks)
for crate in "${crates[@]}"; do
    files=$(cargo package --list --locked -p "$crate" "$@")
    for file in Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/lib.rs; do
        grep -qx "$file" <<<"$files" || { echo "$crate: $file is missing" >&2; exit 1; }
    done
    if grep -vE '^(src/.*\.(rs|md|sql)|[^/]+)$' <<<"$files"; then
        echo "$crate: the files above do not belong there" >&2
        exit 1
    fi
done

# one after the other in one call, so that the library finds the macros, which no registry has yet
packages=("${crates[@]/#/-p}")
cargo package --locked "${packages[@]}" "$@" 2>&1 | tee target/package.log
# tests stay in the repository, where their data is
if grep '^warning' target/package.log | grep -v '^warning: ignoring test'; then
    echo "cargo package has warnings" >&2
    exit 1
fi
for crate in "${crates[@]}"; do
    size=$(find target/package -maxdepth 1 -name "$crate-[0-9]*.crate" -newer Cargo.toml -printf '%s\n' | sort -n | tail -1)
    [ "${size:-0}" -gt 0 ] && [ "$size" -lt 500000 ] || { echo "$crate: ${size:-no} bytes" >&2; exit 1; }
done
