"""A real `jupyter lab` with a home, settings and notebooks of its own. It never sees those of whoever runs it."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil

import onyx_jupyter
from tests.collaboration import without_collaboration
from tests.free_port import free_port

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 20.0
TOKEN = "only-for-these-tests"
_LISTENS = "0A"  # of a socket, in /proc/net/tcp
PYTHON_3 = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
# The page says nothing of its own accord that a test would have to click away.
QUIET = {"@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False}}
PACKAGE = Path(onyx_jupyter.__file__).parent
# Loopback alone: no way out, and none in.
OFFLINE = ("unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


class LabServer:
    """One server that can be killed and started again: on the same port, with the same home.

    `config` is what onyx.json says; None leaves it to the first start. `offline` cuts the process off from every
    network; a browser reaches it through `enter_network` only. With `collaboration`, notebooks are edited together
    (jupyter-collaboration); else it is switched off where it is installed. Both halves are those of this checkout.
    """

    def __init__(
        self,
        folder: Path,
        config: Mapping[str, Any] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        offline: bool = False,
        collaboration: bool = False,
    ) -> None:
        self.collaboration = collaboration
        self.files = folder / "files"
        self.home = folder / "onyx"
        self.log = folder / "server.log"
        self._settings = folder / "settings"
        self._runtime = folder / "runtime"
        self._environment = _environment(folder, environment or {})
        self._prefix: Sequence[str] = OFFLINE if offline else ()
        self._process: subprocess.Popen[bytes] | None = None
        self._port = free_port()
        for place in (self.files, self.home, self._runtime):
            place.mkdir(parents=True, mode=0o700)
        if not collaboration:
            without_collaboration(folder / "config")
        front_end = folder / "share" / "labextensions" / "onyx-jupyter"
        front_end.parent.mkdir(parents=True)
        front_end.symlink_to(PACKAGE / "labextension")
        for name, values in QUIET.items():
            self.set(name, values)
        if config is not None:
            self.configure(config)

    def configure(self, config: Mapping[str, Any]) -> None:
        """Writes onyx.json; the server reads it at its start, and when it is told to."""
        self.home.joinpath("onyx.json").write_text(json.dumps(config, indent=2), "utf-8")

    def set(self, plugin: str, values: Mapping[str, Any]) -> None:
        """JupyterLab's own settings, such as `@jupyterlab/apputils-extension/themes`, for the next page."""
        path = self._settings / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), "utf-8")

    def url(self, path: str, **query: str) -> str:
        """An address that logs in."""
        pairs = "&".join(f"{name}={quote(value)}" for name, value in {"token": TOKEN, **query}.items())
        return f"http://127.0.0.1:{self._port}/{path}?{pairs}"

    def notebook(self, name: str, *sources: str) -> Path:
        """A new notebook with these code cells and a Python kernel."""
        cells = [
            {
                "cell_type": "code",
                "id": f"cell-{n}",
                "metadata": {},
                "source": s,
                "outputs": [],
                "execution_count": None,
            }
            for n, s in enumerate(sources, 1)
        ]
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"cells": cells, "metadata": PYTHON_3, "nbformat": 4, "nbformat_minor": 5}), "utf-8")
        return path

    def start(self) -> None:
        """Listens when it returns."""
        arguments = [
            *("--no-browser", "--ServerApp.port_retries=0", f"--ServerApp.port={self._port}"),
            *(f"--ServerApp.root_dir={self.files}", f"--IdentityProvider.token={TOKEN}"),
        ]
        if self._prefix or os.getuid() == 0:
            arguments.append("--allow-root")
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._prefix, sys.executable, "-m", "jupyterlab", *arguments],
                env=self._environment,
                cwd=self.files,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            until(lambda: self._listens() or self._ended(), START_TIMEOUT_S)
        except TimeoutError:
            self.kill()
            raise
        if self._ended():
            raise RuntimeError(f"The server did not start:\n{self.log.read_text('utf-8', 'replace')}")

    def kill(self) -> None:
        """As the power failing: no time to write or say anything."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Properly, kernels included."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def enter_network(self) -> Sequence[str]:
        """What stands before a command that is to run where an offline server can be reached."""
        assert self._process is not None
        return ("nsenter", f"--target={self._process.pid}", "--user", "--preserve-credentials", "--net")

    def _ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def _listens(self) -> bool:
        """The file that tells of a running server is written before it listens."""
        assert self._process is not None
        table = Path(f"/proc/{self._process.pid}/net/tcp")  # of the network that the process is in
        with contextlib.suppress(OSError):
            rows = [line.split() for line in table.read_text().splitlines()[1:]]
            return any(row[1].endswith(f":{self._port:04X}") and row[3] == _LISTENS for row in rows)
        with contextlib.suppress(psutil.Error):  # no Linux
            connections = psutil.Process(self._process.pid).net_connections("tcp")
            return any(one.status == psutil.CONN_LISTEN and one.laddr.port == self._port for one in connections)
        return False


def can_cut_off() -> bool:
    """Whether this machine lets a process give up its network."""
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        return False
    return subprocess.run([*OFFLINE, "true"], capture_output=True, check=False).returncode == 0


def until(is_true: Callable[[], object], timeout_s: float = 30.0) -> None:
    """Returns as soon as the condition holds, for what lies outside of the page. Raises: TimeoutError."""
    deadline = time.monotonic() + timeout_s
    while not is_true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"It did not happen within {timeout_s:.0f} s.")
        time.sleep(0.05)


def _environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Of the outer environment only what a program needs to run: no keys, no Jupyter, no Onyx."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ", "PYTHON_KEYRING_BACKEND")
        if name in os.environ
    }
    bin_folder = str(Path(sys.executable).parent)
    return {
        **kept,
        "PATH": f"{bin_folder}{os.pathsep}{kept.get('PATH', os.defpath)}",
        "PYTHONPATH": str(PACKAGE.parent),
        "HOME": str(folder),
        "ONYX_HOME": str(folder / "onyx"),
        "JUPYTER_PATH": str(folder / "share"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "IPYTHONDIR": str(folder / "ipython"),
        **more,
    }
