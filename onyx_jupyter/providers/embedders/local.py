"""all-MiniLM-L6-v2 in this process, on the CPU and without network. It loads on first use and is unloaded when idle.

Source: sentence-transformers/all-MiniLM-L6-v2 (mean of the tokens' last hidden states, normalised, 256 at once).
Longer texts are read in windows of 256 and averaged over all their tokens: the ends of notes count too.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.providers.embedders.local_files import LocalFiles, find_local_files
from onyx_jupyter.providers.embedders.model_tags import marked, tag_of
from onyx_jupyter.providers.embedders.source import Purpose
from onyx_jupyter.providers.embedders.vectors import encodable, unit_vectors
from onyx_jupyter.storage.release_memory import trim_memory

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

TITLE = "The built-in embedder"
DIMENSION = 384
WINDOW_TOKENS = 256
MAX_WINDOWS = 4
IDLE_S = 600.0
# More than the tokens that count need, in any language; the tokenizer reads all the text that it is given.
_MAX_CHARS = 20_000
# How much a thread embeds at once: stopping waits for that at most, and switching threads costs little.
_SLICE_CHARS = 1_500
_MAX_THREADS = 4


class LocalEmbedder:
    """The embedder of one server. Texts are embedded one by one, which is faster than batches of unequal length."""

    # Vectors of long texts differ from those of the model's first window alone.
    identity = EmbedderIdentity("local", marked("all-MiniLM-L6-v2-int8", tag_of(f"{MAX_WINDOWS} windows")), DIMENSION)
    provider = "local"
    title = TITLE
    expected = True
    in_process = True

    def __init__(
        self,
        clock: Clock,
        *,
        threads: int | None = None,
        idle_s: float = IDLE_S,
        files: Callable[[], LocalFiles] = find_local_files,
    ) -> None:
        self._clock = clock
        self._threads = threads or min(_MAX_THREADS, max(1, (os.cpu_count() or 1) // 2))
        self._idle_s = idle_s
        self._files = files
        self._turn = asyncio.Lock()
        self._loading = Lock()
        self._loaded: _Session | None = None
        self._used_at_s = clock.monotonic()
        self._watch: asyncio.Task[None] | None = None

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._loaded is not None

    async def open(self) -> LocalEmbedder:
        """Itself, after checking that everything is installed. Raises: EmbeddingError."""
        await asyncio.to_thread(self._files)
        return self

    async def still_has(self, identity: EmbedderIdentity) -> bool:
        """Always: the hashes of its files are checked."""
        return True

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """float32 (texts, 384), L2-normalised; only the first 1,024 tokens of a text count. Raises: EmbeddingError."""
        parts: list[Vectors] = []
        for part in _slices(texts):
            # One passage at a time, so that indexing leaves the machine to others; a query doesn't wait for passages.
            async with self._turn if purpose == "passage" else contextlib.nullcontext():
                parts.append(await asyncio.to_thread(self._embed, part))
            self._used_at_s = self._clock.monotonic()
        self._watch_idle()
        return parts[0] if len(parts) == 1 else await asyncio.to_thread(_together, parts)

    async def unload_if_idle(self) -> bool:
        """Unloads the model if it has not been used for long; returns whether it did."""
        async with self._turn:
            if self._loaded is None or self._clock.monotonic() - self._used_at_s < self._idle_s:
                return False
            self._loaded = None
            await asyncio.to_thread(trim_memory)
            return True

    async def close(self) -> None:
        """Unloads the model."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
            self._watch = None
        async with self._turn:
            self._loaded = None

    def _embed(self, texts: Sequence[str]) -> Vectors:
        with self._loading:  # the thread of a cancelled call may still be loading
            session = self._loaded = self._loaded or _Session(self._files(), self._threads)
        rows = [session.mean(text) for text in texts]
        return unit_vectors(rows, count=len(texts), dimension=DIMENSION, title=TITLE)

    def _watch_idle(self) -> None:
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._until_unloaded(), name="onyx idle embedder")

    async def _until_unloaded(self) -> None:
        while True:
            await asyncio.sleep(self._idle_s / 4)
            if await self.unload_if_idle():
                return


class _Session:
    """Model and tokenizer in memory."""

    def __init__(self, files: LocalFiles, threads: int) -> None:
        """Raises: EmbeddingError if a file is not the expected one, or the runtime refuses it."""
        model, tokenizer = files.model.read(), files.tokenizer.read()
        try:
            import onnxruntime
            from tokenizers import Tokenizer

            onnxruntime.disable_telemetry_events()
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
            # Threads that spin while waiting make everything else on the machine several times slower.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            # The arena would keep a long text's memory for the next: 30 MB, to save a tenth of its time.
            options.enable_cpu_mem_arena = False
            self._model: Any = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            self._model._model_bytes = None  # the file's 23 MB, kept for switching to other execution providers
            self._tokenizer: Any = Tokenizer.from_buffer(tokenizer)
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(WINDOW_TOKENS)
        except Exception as error:
            # A native runtime may raise anything on an unknown machine: other embedders then take over.
            reason = f"{type(error).__name__}: {error}"[:200]
            raise EmbeddingError(f"{TITLE} could not be loaded ({reason}).") from error
        del model
        trim_memory()  # loading frees 90 MB

    def mean(self, text: str) -> Any:
        """float32 (384,), not yet normalised."""
        import numpy as np

        encoded = self._tokenizer.encode(encodable(text[:_MAX_CHARS]))
        windows = [encoded, *encoded.overflowing][:MAX_WINDOWS]
        sums, count = np.zeros(DIMENSION, np.float32), 0
        for window in windows:
            ids = np.array([window.ids], dtype=np.int64)
            mask = np.ones_like(ids)
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = self._model.run(["last_hidden_state"], inputs)[0][0]
            sums += states.sum(axis=0)
            count += len(states)
        return sums / count


def _slices(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in order, in slices that are embedded quickly; at least one text each."""
    part: list[str] = []
    chars = 0
    for text in texts:
        if part and chars + len(text) > _SLICE_CHARS:
            yield part
            part, chars = [], 0
        part.append(text)
        chars += len(text)
    if part:
        yield part


def _together(parts: Sequence[Vectors]) -> Vectors:
    import numpy as np

    return np.concatenate([np.zeros((0, DIMENSION), np.float32), *parts])
