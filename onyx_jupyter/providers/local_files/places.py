"""Where model files lie: in ONYX_HOME, and where an installation put them for everybody. It writes nothing."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from onyx_jupyter.providers.local_files.catalogue import CatalogueModel

SHARED = Path("share") / "onyx_jupyter" / "models"
PART = ".part"


@cache
def shared_folders() -> tuple[Path, ...]:
    """Of the environment, the system and the user's own packages; the first is the one that set-up fills."""
    places = (
        sys.prefix,
        sysconfig.get_path("data"),
        sysconfig.get_path("data", sysconfig.get_preferred_scheme("user")),
    )
    return tuple(dict.fromkeys(Path(place) / SHARED for place in places))


def find_file(model: CatalogueModel, folders: Sequence[Path]) -> Path | None:
    """The model's file in the first folder that has it.

    A file gets its name when its hash was checked; its length is looked at, for a copy that broke off.
    """
    for folder in folders:
        path = folder / model.file_name
        if size_of(path) == model.size_bytes:
            return path
    return None


def part_of(folder: Path, model: CatalogueModel) -> Path:
    """The file while it grows."""
    return folder / f"{model.file_name}{PART}"


def packages_of(folder: Path, model: CatalogueModel) -> Path:
    """Packages that hold parts of the file, while they are read."""
    return folder / f"{model.file_name}.packages"


def size_of(path: Path) -> int | None:
    """In bytes; None where there is no such file, or none that one may look at."""
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None


def is_writable(folder: Path) -> bool:
    """Whether a file in it can be removed."""
    return os.access(folder, os.W_OK | os.X_OK)
