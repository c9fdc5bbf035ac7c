"""A client of its own for one piece of work with a kernel. It sends and receives nothing itself."""

from __future__ import annotations

import uuid
from typing import Any


def new_client(kernel: Any) -> Any:
    """A client whose session is its own.

    Jupyter gives every client of a manager the same session, so that two at a time would count the same message ids,
    and the kernel would send its replies to whoever connected last.
    """
    client = kernel.client()
    client.session = client.session.clone()
    client.session.session = uuid.uuid4().hex
    return client
