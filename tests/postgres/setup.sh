#!/usr/bin/env bash
# Installs what the tests of sessions in Postgres need, where it is missing: the server's programs and a pooler.
set -euo pipefail

packages=()
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null || packages+=(postgresql)
[ -x /usr/sbin/pgbouncer ] || packages+=(pgbouncer)
if [ ${#packages[@]} -gt 0 ]; then
    sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    export DEBIAN_FRONTEND=noninteractive
    "${sudo[@]}" apt-get update -q
    "${sudo[@]}" apt-get install -y -q --no-install-recommends "${packages[@]}"
fi
