#!/usr/bin/env bash
# Takes out, one at a time, what keeps sessions safe. Each time a test must turn red. Works on a copy.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=target/mutants/tree
mkdir -p target/mutants
export CARGO_TARGET_DIR="$PWD/target/mutants/build"
survivors=0

# name, file below insomnia-tasks/src/session, what to take out, what to put in, the tests that must notice
mutate() {
    rm -rf "$copy"
    mkdir "$copy"
    git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 cp --parents -t "$copy"
    local file="$copy/insomnia-tasks/src/session/$2"
    FROM="$3" TO="$4" perl -0pi -e 's/\Q$ENV{FROM}\E/$ENV{TO}/' "$file"
    if cmp -s "$file" "insomnia-tasks/src/session/$2"; then
        echo "$1: the code to take out is not there any more"
        survivors=$((survivors + 1))
    elif ! (cd "$copy" && cargo test --quiet -p insomnia-tasks --lib --no-run 2>/dev/null); then
        echo "$1: does not compile"
        survivors=$((survivors + 1))
    elif (cd "$copy" && timeout 300 cargo test --quiet -p insomnia-tasks --lib "$5" >/dev/null 2>&1); then
        echo "$1: NOT NOTICED"
        survivors=$((survivors + 1))
    else
        echo "$1: noticed"
    fi
}

mutate "no flush" file/writer.rs 'self.durability == Durability::Full &&' 'false &&' session::file::crash_tests
mutate "no look at the length" file/writer.rs 'self.check(&**file)?;' '' session::file::crash_tests::stops
mutate "compactions before rewinds" past.rs 'branch.live.iter().rev().find_map(|entry| Compact::read(entry))' \
    'entries.iter().rev().find_map(Compact::read)' session::fold_tests
mutate "tail items applied again" past.rs 'match entry.seq > applied {' 'match true {' session::fold_tests
mutate "edits applied again" past.rs 'EntryBody::TaskEdit(task) if entry.seq > applied' 'EntryBody::TaskEdit(task)' \
    session::fold_tests
mutate "counted again" past.rs 'if entry.seq > counted {' 'if true {' session::fold_tests
mutate "ids fall with a rewind" past.rs 'if branch.rewound {' 'if false {' session::fold_tests
mutate "items twice" branch.rs 'ids.insert(entry.id.as_str())' 'ids.insert(entry.id.as_str()) || true' session::fold_tests
mutate "half a batch is kept" file/scan.rs 'if reached && !hole {' 'if true {' session::file::
mutate "no bracket after a failed write" file/writer.rs 'self.close_array(&*file).and_then' 'Ok(()).and_then' \
    session::file::crash_tests
exit "$survivors"
