"""Where model files are stored: in ONYX_HOME, and in the shared folders of an installation."""

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
    """Folders of the environment, the system and the user's own packages; set-up fills the first one."""
    places = (
        sys.prefix,
        sysconfig.get_path("data"),
        sysconfig.get_path("data", sysconfig.get_preferred_scheme("user")),
    )
    return tuple(dict.fromkeys(Path(place) / SHARED for place in places))


def find_file(model: CatalogueModel, folders: Sequence[Path]) -> Path | None:
    """The model's file in the first folder that has it.

    A file gets its name only after its hash was checked; the length is compared, too, in case copying it broke off.
    """
    for folder in folders:
        path = folder / model.file_name
        if size_of(path) == model.size_bytes:
            return path
    return None


def part_of(folder: Path, model: CatalogueModel) -> Path:
    """The path of the file while it grows."""
    return folder / f"{model.file_name}{PART}"


def packages_of(folder: Path, model: CatalogueModel) -> Path:
    """The folder for packages that hold parts of the file, while they are read."""
    return folder / f"{model.file_name}.packages"


def size_of(path: Path) -> int | None:
    """In bytes; None if there is no such file, or it may not be accessed."""
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None


def is_writable(folder: Path) -> bool:
    """Whether files in the folder can be removed."""
    return os.access(folder, os.W_OK | os.X_OK)
