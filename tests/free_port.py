"""Free ports for servers that tests start in other processes."""

import contextlib
import random
import socket


def free_port() -> int:
    """One that the system gives to nobody who lets it choose, so that it is free also between a kill and a start."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
