"""The instructions that a project provides: `AGENTS.md` in the server's root, as it is on disk now.

They are written by the project's authors, so reading them is not following them: whether they are followed is decided
per digest.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from onyx_jupyter.security.open_beneath import NotRegular, folder_beneath

PROJECT_FILE = "AGENTS.md"
ONYX_FOLDER = ".onyx"
MAX_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Instructions:
    """One file, read once: `digest` is the SHA-256 of the exact bytes that `text` was decoded from.

    If `problem` says why it cannot be used, text and digest are empty.
    """

    real: Path
    text: str = ""
    digest: str = ""
    problem: str | None = None

    @property
    def name(self) -> str:
        """The name under which the user sees and refers to it."""
        return self.real.name


def read_instructions(root: Path) -> Instructions | None:
    """The instructions of the project in that resolved folder; None if missing or blank. Blocks."""
    real = root / PROJECT_FILE
    try:
        content = _content(root)
    except FileNotFoundError:
        return None
    except NotRegular:
        return Instructions(real, problem="It is not a regular file.")
    except OSError as error:
        if real.is_symlink():
            return Instructions(real, problem="It is a link. Replace it with the file itself.")
        return Instructions(real, problem=f"It cannot be read: {error.strerror or error}.")
    return _judged(real, content)


def _content(root: Path) -> bytes:
    """Reads at most one byte more than allowed. Raises: OSError, also if it is a link."""
    with folder_beneath(root, root) as folder:
        if folder.descriptor is None and (root / PROJECT_FILE).is_symlink():  # opening cannot refuse links here
            raise OSError("it is a link")
        with os.fdopen(folder.open(PROJECT_FILE), "rb") as file:
            return file.read(MAX_BYTES + 1)


def _judged(real: Path, content: bytes) -> Instructions | None:
    if len(content) > MAX_BYTES:
        return Instructions(real, problem=f"It is too large: the limit is {MAX_BYTES:,} bytes.")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return Instructions(real, problem=f"It is not UTF-8 text ({error.reason} at byte {error.start}).")
    if "\0" in text:
        return Instructions(real, problem="It is not text: it contains NUL characters.")
    return Instructions(real, text, hashlib.sha256(content).hexdigest()) if text.strip() else None
