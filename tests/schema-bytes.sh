#!/usr/bin/env bash
# Tools are told in the same bytes whatever other crates of a build do to serde_json. Builds four tools alone, and once more
# with `preserve_order` and others of its features turned on by the user's crate.
set -euo pipefail
cd "$(dirname "$0")/build-cost"
export CARGO_TARGET_DIR="$PWD/../../target/schema-bytes"

told() { cargo run --quiet --locked -p four-tools "$@"; }

alone=$(told)
with_others=$(told --features others)
[ "$(wc -l <<<"$alone")" -eq 13 ]
diff <(echo "$alone") <(echo "$with_others")
# in declared order, not in that of the alphabet
grep -q '"properties":{"text":.*"within":.*"limit":.*"likeness":' <<<"$alone"
grep -qx 'Some(3) Some(0.1)' <<<"$alone"
echo "the same $(wc -c <<<"$alone") bytes in both builds"
