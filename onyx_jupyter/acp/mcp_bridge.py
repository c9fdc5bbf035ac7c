"""A process that an agent starts: it carries MCP messages between the agent and Onyx, and understands none of them.

It runs as a file, in any interpreter, without Onyx: only the standard library is imported. The token comes in the
environment, since anyone on the machine can read a command line.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

PORT_VARIABLE, TOKEN_VARIABLE = "ONYX_MCP_PORT", "ONYX_MCP_TOKEN"
_PIECE_BYTES = 65_536


def carry(connection: socket.socket, source: int, target: int) -> None:
    """Carries bytes both ways until Onyx closes the connection; the agent's end closes it."""

    def upwards() -> None:
        while piece := os.read(source, _PIECE_BYTES):
            connection.sendall(piece)
        connection.shutdown(socket.SHUT_WR)

    threading.Thread(target=upwards, daemon=True).start()
    while piece := connection.recv(_PIECE_BYTES):
        while piece:
            piece = piece[os.write(target, piece) :]


def main() -> int:
    """Returns the process's exit code."""
    port, token = os.environ.get(PORT_VARIABLE, ""), os.environ.get(TOKEN_VARIABLE, "")
    if not port.isdigit() or not token:
        sys.stderr.write("Onyx starts this for the agents it runs; it does nothing by itself.\n")
        return 2
    try:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=10) as connection:
            connection.settimeout(None)
            connection.sendall(token.encode() + b"\n")
            carry(connection, sys.stdin.fileno(), sys.stdout.fileno())
    except OSError as error:
        sys.stderr.write(f"Onyx cannot be reached: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
