"""Finds the file of a model that runs on this machine. It loads nothing and downloads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel, megabytes, model_named
from onyx_jupyter.providers.local_files.storage_folders import find_file

_GGUF_CONTEXT_TOKENS = 8192
# An outdated name that an onyx.json or a session may still contain.
_GONE = "smollm2"


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file."""

    name: str
    path: Path
    context_tokens: int


def find_weights(name: str, folders: Sequence[Path] = ()) -> Weights:
    """The weights for the part of the id after `local/`; `folders` hold fetched files.

    Raises: ModelError (not_found), with what helps.
    """
    check_runtime()
    if (model := model_named(name)) is not None:
        return Weights(name, _fetched_file(model, folders), model.context_tokens)
    if not name.endswith(".gguf"):
        raise _unknown(name)
    path = Path(name).expanduser()
    if not path.is_absolute():
        # The id is `local/` + path, so an absolute path is often written with only one slash.
        path = Path("/") / name
    if not path.is_file():
        raise ModelError("not_found", f"There is no file {path}.", hint="Check the path after local/.")
    return Weights(path.stem, path, _GGUF_CONTEXT_TOKENS)


def check_runtime() -> None:
    """Raises: ModelError (not_found) if no model can run on this machine."""
    if find_spec("xllamacpp") is None:
        raise ModelError(
            "not_found",
            "The runtime of local models (xllamacpp) is not installed.",
            hint="pip install xllamacpp",
        )


def _unknown(name: str) -> ModelError:
    known = ", ".join(model.id for model in CATALOGUE)
    if name == _GONE:
        message = f"local/{name} is no longer part of Onyx: it made up too much."
        hint = f"Choose another model below the input or in onyx.json: {known}, or a provider's model."
        return ModelError("not_found", message, hint=hint)
    hint = f"{known}, or local/ followed by the absolute path of a .gguf file."
    return ModelError("not_found", f'There is no local model "{name}".', hint=hint)


def _fetched_file(model: CatalogueModel, folders: Sequence[Path]) -> Path:
    path = find_file(model, folders)
    if path is None:
        raise ModelError(
            "not_found",
            f"{model.title} is not on this machine yet ({megabytes(model.size_bytes)}).",
            hint="Download it in “Local models…”, in the menu of the Onyx chat, or choose another model.",
        )
    return path
