#!/usr/bin/env bash
# Security checks: bandit, known vulnerabilities of the locked packages, and the security tests, hostile answers in
# a browser among them. Steps can be named: code | packages | tests. Unavailable parts are reported in capitals, and the rest
# runs; any finding fails.
set -euo pipefail
cd "$(dirname "$0")/.."

audit=.audit/bin
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(code packages tests)
notes=()
failed=0

note() {
    notes+=("$1")
    printf '***\n*** %s\n***\n' "$1" >&2
}

say_again() {
    local status=$?
    for line in "${notes[@]}"; do
        printf '*** %s\n' "$line" >&2
    done
    return "$status"
}
trap say_again EXIT

fail() {
    failed=1
    note "$1"
}

look_up() { # whose packages, then what audits them
    local whose=$1 status=0
    shift
    echo "Vulnerabilities known of the locked $whose packages ..."
    "$@" || status=$?
    case $status in
    0) echo "None is known." ;;
    3) note "$whose PACKAGES NOT AUDITED: the registry does not say what is known of them, or cannot be reached from here." ;;
    *) fail "$whose PACKAGES WITH KNOWN VULNERABILITIES, OR THE AUDIT FAILED: see above." ;;
    esac
}

for step in "${steps[@]}"; do
    case $step in
    code)
        echo "bandit over onyx_jupyter ..."
        "$audit/bandit" --quiet --configfile pyproject.toml --recursive onyx_jupyter || fail "BANDIT HAS FINDINGS: see above."
        ;;
    packages)
        look_up PYTHON .venv/bin/python scripts/audit_packages.py python "$audit/pip-audit"
        look_up NPM .venv/bin/python scripts/audit_packages.py npm
        ;;
    tests)
        # The tests that SECURITY.md names, and all property tests.
        guards=($(grep -o '`tests/[^`]*`' SECURITY.md | tr -d '`' | sort -u))
        HYPOTHESIS_PROFILE=thorough bash scripts/run_pytest.sh tests/security tests/properties "${guards[@]}" || fail "TESTS FAILED: see above."
        ;;
    *)
        echo "unknown step: $step" >&2
        exit 2
        ;;
    esac
done

exit "$failed"
