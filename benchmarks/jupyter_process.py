"""A Jupyter server in its own process and folders. It shares nothing with the user's Jupyter."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import psutil

from tests.collaboration import LAB_EXTENSIONS, SERVER_EXTENSIONS

_ROOT = Path(__file__).parents[1]
_START_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 15.0
_POLL_S = 0.02
_NOT_INHERITED = re.compile(r"ONYX_.*|JUPYTER.*|LITELLM.*|.*_API_KEY|.*_PROXY", re.IGNORECASE)


class JupyterProcess:
    """Started when entered, with the extension on or off; its folders go when it is left.

    `configuration` becomes `onyx.json`; `extensions` are loaded beside ours. Else there are JupyterLab's own alone:
    other applications that happen to be installed would make the server slower and its extension look lighter.
    """

    def __init__(
        self,
        *,
        extension: bool = True,
        configuration: Mapping[str, Any] | None = None,
        extensions: Sequence[str] = (),
    ) -> None:
        self._extension = extension
        self._extensions = extensions
        self._configuration = configuration
        self.token = secrets.token_hex(16)
        self.port = _free_port()

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="onyx-bench-"))
        self.home = self._folder / "onyx"
        self.root = self._folder / "root"
        self.runtime = self._folder / "runtime"
        self.log = self._folder / "server.log"
        self._write_configuration()
        self._start()
        return self

    def restart(self) -> None:
        """Restarts the server in the same folders and on the same port."""
        self._end()
        self._start()

    def __exit__(self, *_: object) -> None:
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def cpu_s(self) -> float:
        """User and system seconds of the process and of the children that it has waited for or still has."""
        total = sum(self.process.cpu_times()[:4])
        for child in self.process.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                total += sum(child.cpu_times()[:4])
        return total

    def resident_bytes(self) -> int:
        """Resident memory of the process; a child that it forks to start a program would count its pages twice."""
        size: int = self.process.memory_info().rss
        return size

    def written_bytes(self) -> tuple[int, int]:
        """What it has handed to files so far without its own log, and what of that reached the disk in whole pages.

        The first counts every `write` (Linux: `wchar`, which leaves sockets out), so a file that is written and
        deleted again counts too.
        """
        counters = self.process.io_counters()
        return counters.write_chars - self.log.stat().st_size, counters.write_bytes

    def read(self, path: str, timeout_s: float = 30.0) -> bytes:
        """The body of a GET."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"token {self.token}"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=timeout_s) as response:
            body: bytes = response.read()
            return body

    def get(self, path: str, timeout_s: float = 30.0) -> int:
        """The HTTP status of a GET."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"token {self.token}"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout_s) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    def post(self, path: str, body: Mapping[str, Any], timeout_s: float = 60.0) -> dict[str, Any]:
        """The JSON answer to a POST of JSON."""
        headers = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers, method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=timeout_s) as response:
            answer: dict[str, Any] = json.loads(response.read())
            return answer

    def _start(self) -> None:
        with self.log.open("wb") as log:
            self._popen = subprocess.Popen(
                self._command(),
                cwd=self.root,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.process = psutil.Process(self._popen.pid)
        try:
            self._wait_until_it_answers()
        except BaseException:
            self.__exit__()
            raise

    def _end(self) -> None:
        with contextlib.suppress(psutil.Error):
            started = self.process.children(recursive=True)
            self._popen.terminate()
            try:
                self._popen.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._popen.kill()
                self._popen.wait()
            for child in started:
                with contextlib.suppress(psutil.Error):
                    child.kill()

    def _command(self) -> list[str]:
        return [
            sys.executable,
            "-m",
            "jupyter",
            "server",
            "--no-browser",
            f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={self.root}",
            f"--IdentityProvider.token={self.token}",
            *(["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
        ]

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not _NOT_INHERITED.fullmatch(name)}
        bin_folder = str(Path(sys.executable).parent)
        return kept | {
            "PATH": bin_folder + os.pathsep + kept.get("PATH", ""),
            "JUPYTER_PATH": str(self._folder / "share"),
            "JUPYTER_CONFIG_DIR": str(self._folder / "config"),
            "JUPYTER_DATA_DIR": str(self._folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.runtime),
            "IPYTHONDIR": str(self._folder / "ipython"),
            "ONYX_HOME": str(self.home),
            "ONYX_FORBID_PROVIDERS": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(_ROOT), kept.get("PYTHONPATH", "")])),
        }

    def _write_configuration(self) -> None:
        self.root.mkdir(parents=True)
        config = self._folder / "config"
        settings = config / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        others = dict.fromkeys(("notebook", *SERVER_EXTENSIONS), False)
        extensions = {"onyx_jupyter": self._extension} | others | dict.fromkeys(self._extensions, True)
        config.joinpath("jupyter_server_config.json").write_text(
            json.dumps({"ServerApp": {"jpserver_extensions": extensions}})
        )
        page = config / "labconfig" / "page_config.json"
        page.parent.mkdir()
        page.write_text(json.dumps({"disabledExtensions": dict.fromkeys(LAB_EXTENSIONS, True)}))
        front_end = self._folder / "share" / "labextensions" / "onyx-jupyter"
        front_end.parent.mkdir(parents=True)
        if self._extension:
            front_end.symlink_to(_ROOT / "onyx_jupyter" / "labextension")
        settings.joinpath("notification.jupyterlab-settings").write_text(
            json.dumps({"fetchNews": "false", "checkForUpdates": False})
        )
        if self._configuration is not None:
            self.home.mkdir(mode=0o700)
            self.home.joinpath("onyx.json").write_text(json.dumps(self._configuration))

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self._popen.poll() is not None:
                break
            try:
                if self.get("api/status") == 200:
                    return
            except OSError:
                time.sleep(_POLL_S)
        raise RuntimeError(f"The Jupyter server did not start:\n{self.log.read_text(errors='replace')[-3000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
