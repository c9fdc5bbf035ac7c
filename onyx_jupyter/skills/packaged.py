"""The file hashes that the installer recorded for the packaged skills."""

from __future__ import annotations

import base64
import importlib.metadata
from functools import lru_cache

DISTRIBUTION = "onyx-jupyter"
_FOLDER = "share/onyx_jupyter/skills/"


@lru_cache(maxsize=1)
def recorded_hashes() -> dict[str, str]:
    """Path within the packaged skills → SHA-256 of the file, in hex, as recorded by the installer."""
    try:
        files = importlib.metadata.distribution(DISTRIBUTION).files or ()
    except importlib.metadata.PackageNotFoundError:
        return {}
    found = {}
    for file in files:
        _, folder, name = file.as_posix().partition(_FOLDER)
        if folder and file.hash is not None and file.hash.mode == "sha256":
            value = file.hash.value
            found[name] = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
    return found
