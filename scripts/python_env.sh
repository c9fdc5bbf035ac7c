#!/usr/bin/env bash
# Sets up the Python side of the checkout, one step a call: tool | dependencies | package | audit | docs.
# Uses uv if available (ten times faster), else pip. Run by the Makefile, which knows when a step is due.
set -euo pipefail
cd "$(dirname "$0")/.."

step=$1
python=$2
venv_python=.venv/bin/python

install() {
    if [ -x .uv/bin/uv ]; then
        .uv/bin/uv pip install --quiet --python "$venv_python" "$@"
    else
        "$venv_python" -m pip install --quiet --disable-pip-version-check "$@"
    fi
}

case $step in
tool)
    if [ -z "$python" ] || ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "Onyx needs Python 3.11 or newer, found: ${python:-none}. Name one with: make PYTHON=/path/to/python3.11" >&2
        exit 1
    fi
    if ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null; then
        echo "Onyx's front end needs Node 20 or newer, found: $(node --version 2>/dev/null || echo none)." >&2
        exit 1
    fi
    [ -x .uv/bin/python ] || "$python" -m venv .uv
    [ -x .uv/bin/uv ] || .uv/bin/python -m pip install --quiet --disable-pip-version-check uv ||
        echo "uv could not be installed: going on with pip, which takes some minutes."
    ;;
dependencies)
    [ -x "$venv_python" ] || "$python" -m venv .venv
    echo "Installing the locked Python packages ..."
    install --require-hashes -r requirements/dev.lock
    ;;
package)
    # The front end has been built with the locked tools: no second build in an isolated environment.
    HATCH_JUPYTER_BUILDER_SKIP_NPM=1 install --no-deps --no-build-isolation --editable .
    ;;
audit | docs)
    venv_python=.$step/bin/python
    [ -x "$venv_python" ] || "$python" -m venv ".$step"
    install --require-hashes -r "requirements/$step.lock"
    ;;
*)
    echo "unknown step: $step" >&2
    exit 2
    ;;
esac
