#!/bin/sh
# Makes docs/report.png: the report of two prompts to the demo, in headless Chromium.
set -eu
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo build --quiet --bin chat
target/debug/chat --demo --no-stream --session "$folder/session" -p 'What is in this folder?' -p 'And once more, please' >/dev/null 2>&1
target/debug/chat report --session "$folder/session" -o "$folder/report.html"
"${CHROMIUM:-/usr/bin/chromium}" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$folder/profile" \
    --hide-scrollbars --window-size=1200,1000 --screenshot="$PWD/docs/report.png" "file://$folder/report.html" 2>/dev/null
