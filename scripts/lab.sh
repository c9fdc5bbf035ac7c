#!/usr/bin/env bash
# Starts JupyterLab with Onyx from the checkout. Everything that it writes stays under .lab/: settings, Onyx's state and
# your copies of the example notebooks. Arguments go to `jupyter lab`.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$PWD/.venv/bin
home=$PWD/.lab
settings=$home/config/lab/user-settings/@jupyterlab/apputils-extension

export JUPYTER_CONFIG_DIR=$home/config
export JUPYTER_DATA_DIR=$home/data
export JUPYTER_RUNTIME_DIR=$home/runtime
export IPYTHONDIR=$home/ipython
export ONYX_HOME=${ONYX_HOME:-$home/onyx}
export PATH=$bin:$PATH

mkdir -p "$home/notebooks/examples" "$settings" "$JUPYTER_DATA_DIR" "$JUPYTER_RUNTIME_DIR"
chmod 700 "$home" "$JUPYTER_RUNTIME_DIR"

# Your copies are never overwritten.
for notebook in notebooks/*.ipynb notebooks/examples/*.ipynb; do
    [ -e "$home/$notebook" ] || cp "$notebook" "$home/$notebook"
done
[ -e "$settings/notification.jupyterlab-settings" ] ||
    echo '{"fetchNews": "false", "checkForUpdates": false}' >"$settings/notification.jupyterlab-settings"

# The development environment has jupyter-collaboration for its tests. It is off here; to switch it on,
# change these files.
mkdir -p "$home/config/labconfig"
[ -e "$home/config/jupyter_server_config.json" ] ||
    echo '{"ServerApp": {"jpserver_extensions": {"jupyter_server_fileid": false, "jupyter_server_ydoc": false}}}' \
        >"$home/config/jupyter_server_config.json"
[ -e "$home/config/labconfig/page_config.json" ] ||
    echo '{"disabledExtensions": {"@jupyter/collaboration-extension": true, "@jupyter/docprovider-extension": true}}' \
        >"$home/config/labconfig/page_config.json"

arguments=(--ServerApp.root_dir="$home/notebooks" --LabApp.default_url=/lab/tree/welcome.ipynb)
if [ "$(id -u)" -eq 0 ]; then
    arguments+=(--allow-root)
fi

cd "$home/notebooks"
exec "$bin/jupyter" lab "${arguments[@]}" "$@"
