#!/usr/bin/env bash
# Runs the Python tests, those in a browser and with a real SearX among them. Installs Chromium and SearX from Debian's
# packages if they are missing and that is allowed; reports before and after what is unavailable, and runs the rest.
set -euo pipefail
cd "$(dirname "$0")/.."

find_browser() {
    command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome
}

find_searx() {
    command -v searx-run && [ -d /usr/share/python3-searx ]
}

install_debian() {
    command -v apt-get >/dev/null || return 1
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    echo "Not found, installing Debian's: $* ..."
    "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

selection="not packaging"
skipped=()

skip() { # marker, what it is, its package
    selection="$selection and not $1"
    skipped+=("$2 TESTS SKIPPED: it is not here, and cannot be installed from here (Debian: sudo apt-get install $3).")
}

explain_skips() {
    for line in "${skipped[@]}"; do
        printf '***\n*** %s\n***\n' "$line" >&2
    done
}

if ! find_browser >/dev/null && ! { install_debian chromium-headless-shell fonts-dejavu-core && find_browser >/dev/null; }; then
    skip browser "BROWSER (Chromium)" chromium-headless-shell
fi
if ! find_searx >/dev/null && ! { install_debian searx && find_searx >/dev/null; }; then
    skip searx "SEARX" searx
fi
if [ ${#skipped[@]} -gt 0 ]; then
    explain_skips
    trap explain_skips EXIT
fi

# Most files of the tests live for a second, and each write waits for the disk, so they are kept in memory.
shared_memory=/dev/shm
free_kb=$(df -Pk "$shared_memory" 2>/dev/null | awk 'NR == 2 {print $4}')
if [ -w "$shared_memory" ] && [ "${free_kb:-0}" -gt 6000000 ]; then
    export PYTEST_DEBUG_TEMPROOT="${PYTEST_DEBUG_TEMPROOT:-$shared_memory}"
fi

# A local model's threads spin while one waits for its core: alone that is 20 % faster than sleeping, beside other
# tests it takes two to four times as long.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"

run() { # marker expression, arguments
    local marks=$1
    shift
    .venv/bin/python -m pytest -m "$marks" "$@"
}

if [ $# -gt 0 ] || [ "$(nproc)" -lt 2 ]; then
    run "$selection" "$@"
    exit
fi

# Runs two halves in parallel: the browser tests mostly wait for pages, the others mostly compute.
browser_log=$(mktemp)
trap 'rm -f "$browser_log"; explain_skips' EXIT
run "$selection and browser" tests/e2e >"$browser_log" 2>&1 &
browser=$!
status=0
run "$selection and not browser" || status=$?
wait "$browser" || status=$?
echo "The tests in a browser:"
cat "$browser_log"
exit "$status"
