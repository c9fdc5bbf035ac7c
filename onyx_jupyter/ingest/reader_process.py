"""One process that reads documents, from start to end: it gets requests, and is killed when it takes too long.

The end of its error output is kept for the log.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from onyx_jupyter.security.known_secrets import without_secrets

_CHILD = "onyx_jupyter.ingest.reader_child"
_KEPT_BYTES = 4_000
_END_S = 10.0
# What Python and its libraries may need to start as in the server: their locations, home and temporary folders, the
# language, the time zone, and the memory limit. All else is withheld, since any value may contain a password.
_NEEDED = frozenset(
    {"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "GUIX_PYTHONPATH"}
    | {"CONDA_DLL_SEARCH_MODIFICATION_ENABLE", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR"}
    | {"HOME", "USER", "LOGNAME", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA"}
    | {"TMPDIR", "TMP", "TEMP", "LANG", "LANGUAGE", "TZ", "TZDIR", "MEM_LIMIT"}
)
_NEEDED_BEGINNINGS = ("PYTHON", "DYLD_", "LC_", "NIX_LD", "NIX_PYTHON")


class ReaderProcess:
    """Blocking methods say so; `kill` never blocks."""

    def __init__(self, *, gives_files: bool = hasattr(socket, "send_fds")) -> None:
        """`gives_files`: passes open files, so that what was checked is what is read. Raises: OSError."""
        self.is_late = False
        self.is_fresh = True  # no requests so far
        self._stderr_tail = b""
        self._files: socket.socket | None = None
        theirs: socket.socket | None = None
        if gives_files:
            self._files, theirs = socket.socketpair()
        handed = [] if theirs is None else [theirs.fileno()]
        try:
            self._process = subprocess.Popen(  # nosec B603 # this interpreter, a module of ours
                [sys.executable, "-P", "-X", "faulthandler", "-m", _CHILD, *map(str, handed)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=handed,
                env=needed_environment(),
                start_new_session=True,
            )
        except BaseException:
            self._close_files()
            raise
        finally:
            if theirs is not None:
                theirs.close()
        self._listening = threading.Thread(target=self._listen, name="onyx reading", daemon=True)
        self._listening.start()

    def is_ready(self, limit_s: float) -> bool:
        """Blocks until it has started; False if it ended instead, or took too long."""
        with self._within(limit_s):
            line = self._line()
        return bool(line) and not self.is_late

    @property
    def is_usable(self) -> bool:
        """Whether it accepts requests: it has not ended, and is not about to be killed."""
        return not self.is_late and self._process.poll() is None

    def ask(self, header: Mapping[str, Any], file: BinaryIO, limit_s: float) -> dict[str, Any] | None:
        """Blocks until it answers; None if it ended instead. `is_late` tells why."""
        descriptor, path = file.fileno(), file.name
        asked = json.dumps({**header, "limitS": limit_s, "path": path}).encode() + b"\n"
        self.is_fresh = False
        with self._within(limit_s):
            line = self._line(asked, descriptor)
        return json.loads(line.decode("utf-8", "surrogatepass")) if line else None

    def kill(self) -> None:
        """Kills it; a thread that waits for it stops waiting."""
        self._process.kill()

    def end(self) -> str:
        """Blocks until it is cleaned up. Returns its exit code and the end of its error output."""
        self.kill()
        exit_code = self._process.wait()
        self._listening.join(_END_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):  # unsent data has no receiver
                if pipe is not None:
                    pipe.close()
        self._close_files()
        return f"exit {exit_code}\n{self._stderr_tail.decode('utf-8', 'replace')}".strip()

    def _line(self, asked: bytes = b"", descriptor: int | None = None) -> bytes:
        """Its next complete line; empty if it has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            if self._files is not None and descriptor is not None:
                socket.send_fds(self._files, [b"."], [descriptor])
            self._process.stdin.write(asked)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except (OSError, ValueError):  # a broken pipe, on Windows an invalid argument; or its pipes are closed by now
            return b""
        return line if line.endswith(b"\n") else b""

    @contextlib.contextmanager
    def _within(self, limit_s: float) -> Iterator[None]:
        def end() -> None:
            self.is_late = True
            self.kill()

        timer = threading.Timer(limit_s, end)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _listen(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):  # closed meanwhile
            while part := os.read(self._process.stderr.fileno(), _KEPT_BYTES):
                self._stderr_tail = (self._stderr_tail + part)[-_KEPT_BYTES:]

    def _close_files(self) -> None:
        if self._files is not None:
            self._files.close()


def needed_environment() -> dict[str, str]:
    """The environment that our process needs, without variables that are named like secrets."""
    given = without_secrets(os.environ).items()
    return {name: value for name, value in given if name in _NEEDED or name.startswith(_NEEDED_BEGINNINGS)}
