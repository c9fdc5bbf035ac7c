"""The classes of the Agent Client Protocol, an optional package that is imported only when an agent starts."""

from __future__ import annotations

import asyncio
import importlib

from onyx_jupyter.errors import ModelError

MISSING = "Other agents need the package agent-client-protocol: install onyx-jupyter[acp]."


async def load_sdk() -> None:
    """Imports the protocol's classes off the event loop: it takes a second. Raises: ModelError."""
    try:
        await asyncio.to_thread(importlib.import_module, "acp.schema")
    except ImportError as error:
        raise ModelError("unavailable", MISSING, permanent=True) from error
