"""A line between a kernel and a server that can be cut: what happens to a laptop that changes its network."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self


class CutLine:
    """Hands bytes on between whoever connects and `port`, until it is cut; afterwards new connections get through."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.port = self._listening.getsockname()[1]
        self.connections = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """Ends every connection at once."""
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                self.connections += 1
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._hand_on, args=(source, target), daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
