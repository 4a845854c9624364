#!/bin/sh
# Installs the official Python client of MCP from PyPI into target/mcp, for `tests/session.rs`.
set -eu
cd "$(dirname "$0")/../../.."
venv=target/mcp/venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'mcp==2.3.0'
"$venv/bin/python" -c 'import mcp'
