#!/usr/bin/env bash
# Runs the Python tests, the browser tests among them. Installs Chromium from Debian's packages where it is missing and
# that is allowed; where there is no browser to be had, says so before and after, and runs the rest.
set -euo pipefail
cd "$(dirname "$0")/.."

find_browser() {
    command -v chromium || command -v chromium-browser || command -v google-chrome
}

install_chromium() {
    command -v apt-get >/dev/null || return 1
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    echo "No Chromium found: installing Debian's (chromium, fonts-dejavu-core) ..."
    "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
}

explain_skip() {
    echo "***" >&2
    echo "*** BROWSER TESTS SKIPPED: there is no Chromium, and it cannot be installed from here." >&2
    echo "*** Install it (Debian: sudo apt-get install chromium) and run 'make test' again." >&2
    echo "***" >&2
}

selection=(-m "not packaging")
if ! find_browser >/dev/null && ! { install_chromium && find_browser >/dev/null; }; then
    selection=(-m "not packaging and not browser")
    explain_skip
    trap explain_skip EXIT
fi

.venv/bin/python -m pytest "${selection[@]}" "$@"
