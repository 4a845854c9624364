#!/usr/bin/env bash
# Installs what the report's test needs, where it is missing: Debian's chromium, node, and from npm what drives the browser,
# into target/report.
set -euo pipefail

packages=()
[ -n "${CHROMIUM:-}" ] || [ -x /usr/bin/chromium ] || packages+=(chromium fonts-dejavu-core)
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)
if [ ${#packages[@]} -gt 0 ]; then
    sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    export DEBIAN_FRONTEND=noninteractive
    "${sudo[@]}" apt-get update -q
    "${sudo[@]}" apt-get install -y -q --no-install-recommends "${packages[@]}"
fi

cd "$(dirname "$0")"
modules=../../../target/report
mkdir -p "$modules"
cp package.json package-lock.json "$modules"
cd "$modules"
PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --silent
