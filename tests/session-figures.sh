#!/usr/bin/env bash
# Measures sessions on disk and writes docs/session-figures.md.
set -euo pipefail
cd "$(dirname "$0")/.."
table=$(cargo bench --quiet -p insomnia-tasks-tests --bench session)
{
    echo "# What sessions on disk cost"
    echo
    echo "Measured by \`just session-figures\` on $(nproc) cores ($(uname -sm)), $(date -u +%Y-%m-%d)."
    echo
    echo "$table"
} >docs/session-figures.md
cat docs/session-figures.md
