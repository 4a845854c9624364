#!/usr/bin/env bash
# Makes docs/report.png and docs/report-dark.png: the report of two prompts to the demo, in headless Chromium.
set -euo pipefail
cd "$(dirname "$0")/../../.."
examples/tests/report/setup.sh
cargo build --locked --quiet --bin chat
chat=$PWD/target/debug/chat
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# the demo looks around in the folder that it is started in
(cd insomnia-tasks && "$chat" --demo --no-stream --session "$folder/session" \
    -p 'What is in this folder?' -p 'And once more, please' >/dev/null 2>&1)
"$chat" report --session "$folder/session" -o "$folder/report.html"
node examples/tests/report/picture.mjs target/report "$folder/report.html" docs/report
