#!/bin/sh
# Installs what drives the browser in the report's test, from npm, into target/report. The browser is Debian's: apt-get install chromium
set -eu
cd "$(dirname "$0")"
modules=../../../target/report
mkdir -p "$modules"
cp package.json package-lock.json "$modules"
cd "$modules"
PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --silent
