"""Replaces a damaged transcript with a repaired one, and keeps the damaged file beside it, byte for byte."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onyx_jupyter.storage.atomic_write import write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import encode_line


def replace_damaged(path: Path, items: Sequence[Mapping[str, Any]], kept: Path) -> None:
    """All or nothing. Never overwrites an earlier damaged copy. Raises: StorageError; then nothing has changed."""
    with disk_errors("keep a copy of", path):
        try:
            os.link(path, kept)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            with path.open("rb") as damaged, kept.open("xb") as copy:
                shutil.copyfileobj(damaged, copy)
                copy.flush()
                os.fsync(copy.fileno())
    try:
        write_text_atomically(path, "".join(f"{encode_line(item).decode()}\n" for item in items))
    except BaseException:
        kept.unlink(missing_ok=True)
        raise
