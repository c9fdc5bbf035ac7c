"""Creates a separate kernel client for one piece of work."""

from __future__ import annotations

import uuid
from typing import Any


def new_client(kernel: Any) -> Any:
    """A client with its own session.

    Jupyter gives all clients of a manager the same session, so two at once would use the same message ids, and the
    kernel would send its replies to whichever connected last.
    """
    client = kernel.client()
    client.session = client.session.clone()
    client.session.session = uuid.uuid4().hex
    return client
