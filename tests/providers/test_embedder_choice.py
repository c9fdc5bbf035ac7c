"""Choosing an embedder while some are away, fail and return, with a fake clock."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import Embedder, EmbedderIdentity
from onyx_jupyter.providers.embedders.choice import COMPARED_EVERY_S, EmbedderChoice
from onyx_jupyter.providers.embedders.source import EmbedderSource
from onyx_jupyter.providers.embedders.source_health import FAILOVER_AFTER_S, FIRST_WAIT_S, LONGEST_WAIT_S, STEADY_S
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.fake_embedder import FakeEmbedder
from tests.waiting import until

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors


class FakeSource:
    """A source that is there or not (`away`), with its embedder; `opened` counts the looks."""

    def __init__(self, name: str, *, expected: bool = True, in_process: bool = False) -> None:
        self.provider = self.title = name
        self.expected, self.in_process = expected, in_process
        self.embedder = FakeEmbedder(model=name, dimension=32)
        self.embedder.identity = EmbedderIdentity(name, name, 32)
        self.away: str | None = None
        self.opened = 0
        self.closed = False
        self.compared = 0
        self.hangs: asyncio.Event | None = None

    async def open(self) -> Embedder:
        self.opened += 1
        if self.away is not None:
            raise EmbeddingError(self.away)
        return self.embedder

    async def still_has(self, identity: EmbedderIdentity) -> bool:
        self.compared += 1
        if self.hangs is not None:
            await self.hangs.wait()
        if self.away is not None:
            raise EmbeddingError(self.away)
        return identity == self.embedder.identity

    async def close(self) -> None:
        self.closed = True

    def fail(self, error: Exception | None) -> None:
        """Every call fails so; None: it is well again."""
        self.embedder.failure = error
        self.away = None if error is None else str(error)


class FakeCache:
    """A VectorCache in memory."""

    def __init__(self) -> None:
        self.vectors: dict[str, Vectors] = {}

    async def get(self, keys: Sequence[str]) -> Mapping[str, Vectors]:
        return {key: self.vectors[key] for key in keys if key in self.vectors}

    async def put(self, vectors: Mapping[str, Vectors]) -> None:
        self.vectors.update(vectors)


class Bench:
    """Ollama, an API and the embedded embedder, all of them there."""

    def __init__(self, *, redact: Callable[[str], str] = str) -> None:
        self.clock = FakeClock()
        self.ollama = FakeSource("ollama", expected=False)
        self.api = FakeSource("api")
        self.local = FakeSource("local", in_process=True)
        self.cache = FakeCache()
        self.redact = redact
        self._choice: EmbedderChoice | None = None

    @property
    def choice(self) -> EmbedderChoice:
        if self._choice is None:
            sources: list[EmbedderSource] = [self.ollama, self.api, self.local]
            self._choice = EmbedderChoice(sources, clock=self.clock, redact=self.redact, cache=self.cache)
        return self._choice

    async def current(self) -> str | None:
        """Who is used now, after whatever look around was due."""
        await self.choice.current()
        look = self.choice._check_task
        if look is not None:
            await until(look.done)
        identity = await self.choice.current()
        return identity.provider if identity else None

    async def embed(self, *texts: str, by: str = "ollama", purpose: Literal["passage", "query"] = "query") -> Vectors:
        return await self.choice.embed(texts, purpose, identity=EmbedderIdentity(by, by, 32))


async def test_best_available_embedder_is_used_and_others_are_not_called() -> None:
    bench = Bench()
    assert await bench.current() == "ollama"
    assert (bench.api.opened, bench.local.opened) == (0, 0)
    assert bench.choice.problem is None


async def test_unavailable_embedder_is_skipped_and_reported_only_if_configured() -> None:
    bench = Bench()
    bench.ollama.away = "Ollama is not there."
    assert await bench.current() == "api"
    assert bench.choice.problem is None
    bench = Bench()
    bench.ollama.away, bench.api.away = "Ollama is not there.", "The key is not valid."
    assert await bench.current() == "local"
    assert bench.choice.problem == "The key is not valid. local is used instead."


async def test_without_embedder_word_search_remains_and_is_reported() -> None:
    bench = Bench()
    for source in (bench.ollama, bench.api, bench.local):
        source.away = f"{source.title} is away."
    assert await bench.current() is None
    assert bench.choice.problem == "api is away. local is away. Only keywords are searched."
    assert await EmbedderChoice([], clock=bench.clock, redact=str).current() is None


async def test_abandoned_call_does_not_undo_the_check() -> None:
    bench = Bench()
    asked = asyncio.create_task(bench.choice.current())
    await asyncio.sleep(0)
    asked.cancel()
    assert await bench.current() == "ollama"
    assert bench.ollama.opened == 1


async def test_momentary_failure_changes_no_vectors() -> None:
    bench = Bench()
    await bench.current()
    bench.ollama.fail(EmbeddingError("Ollama broke off."))
    with pytest.raises(EmbeddingError, match="broke off"):
        await bench.embed("a")
    assert await bench.current() == "ollama"
    assert bench.choice.problem == "Ollama broke off. Until it answers again, only keywords are searched."
    bench.ollama.fail(None)
    calls = len(bench.ollama.embedder.calls)
    with pytest.raises(EmbeddingError, match=r"Onyx tries it again in 30 s\."):
        await bench.embed("a")
    assert len(bench.ollama.embedder.calls) == calls, "it was called before its time"
    bench.clock.advance(FIRST_WAIT_S)
    assert (await bench.embed("a")).shape == (1, 32)
    assert bench.choice.problem is None


async def test_hanging_embedder_is_abandoned_even_if_nobody_waits() -> None:
    bench = Bench()
    await bench.current()
    gives_up = asyncio.Event()

    async def hang(texts: Sequence[str], purpose: Literal["passage", "query"]) -> Vectors:
        await gives_up.wait()
        raise EmbeddingError("Ollama did not answer in time.")

    bench.ollama.embedder.embed = hang  # type: ignore[method-assign]
    for query in ("a", "b"):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await bench.embed(query)
    assert bench.choice.problem is None
    gives_up.set()
    await until(lambda: bench.choice.problem)
    with pytest.raises(EmbeddingError, match=r"did not answer in time\. Onyx tries it again"):
        await bench.embed("c")
    assert await bench.current() == "ollama"
    bench.clock.advance(FAILOVER_AFTER_S)
    assert await bench.current() == "api"


async def test_close_ends_hanging_calls() -> None:
    bench = Bench()
    await bench.current()
    hangs = asyncio.Event()

    async def hang(texts: Sequence[str], purpose: Literal["passage", "query"]) -> Vectors:
        hangs.set()
        return await asyncio.Future()

    bench.ollama.embedder.embed = hang  # type: ignore[method-assign]
    asked = asyncio.create_task(bench.embed("a"))
    await hangs.wait()
    asked.cancel()
    await asyncio.wait([asked])
    await bench.choice.close()
    assert not [task for task in asyncio.all_tasks() if "embedding" in task.get_name()]


async def test_embedder_late_at_start_gets_its_index_back_immediately() -> None:
    bench = Bench()
    bench.ollama.fail(EmbeddingError("not started yet"))
    assert await bench.current() == "api"
    with pytest.raises(EmbeddingError):
        await bench.embed("a")
    bench.ollama.fail(None)
    bench.clock.advance(FIRST_WAIT_S)
    assert await bench.current() == "ollama"
    assert (await bench.embed("a")).shape == (1, 32)


async def test_embedder_appearing_long_after_start_must_stay_available_first() -> None:
    bench = Bench()
    bench.ollama.fail(EmbeddingError("not started yet"))
    assert await bench.current() == "api"
    bench.ollama.fail(None)
    bench.clock.advance(FAILOVER_AFTER_S)
    await bench.embed("a")
    assert await bench.current() == "api"
    bench.clock.advance(STEADY_S)
    assert await bench.current() == "ollama"


async def test_flickering_embedder_never_changes_the_active_one() -> None:
    bench = Bench()
    used = {await bench.current()}
    for minute in range(24 * 60):
        bench.ollama.fail(EmbeddingError("away") if minute % 2 else None)
        bench.clock.advance(60)
        used.add(await bench.current())
        try:
            await bench.embed(f"query {minute}")
        except EmbeddingError:
            continue
    assert used == {"ollama"}


async def test_hourly_flapping_lengthens_the_waiting_time() -> None:
    bench = Bench()
    used = [await bench.current()]
    for minute in range(24 * 60):
        bench.ollama.fail(EmbeddingError("away") if minute // 60 % 2 else None)
        bench.clock.advance(60)
        used.append(await bench.current())
        if used[-1] == "ollama":
            try:
                await bench.embed(f"query {minute}")
            except EmbeddingError:
                continue
    changes = sum(before != after for before, after in itertools.pairwise(used))
    assert 0 < changes < 8
    assert set(used) == {"ollama", "api"}


async def test_permanently_unavailable_embedder_is_replaced() -> None:
    bench = Bench()
    await bench.current()
    bench.ollama.fail(EmbeddingError("away"))
    with pytest.raises(EmbeddingError):
        await bench.embed("a")
    bench.clock.advance(FAILOVER_AFTER_S - 1)
    assert await bench.current() == "ollama"
    bench.clock.advance(FAILOVER_AFTER_S)
    assert await bench.current() == "api"
    assert (await bench.embed("a", by="api")).shape == (1, 32)


async def test_better_embedder_is_used_after_being_stable() -> None:
    bench = Bench()
    bench.ollama.fail(EmbeddingError("not started yet"))
    assert await bench.current() == "api"
    bench.ollama.fail(None)
    bench.clock.advance(FIRST_WAIT_S)
    assert await bench.current() == "api"
    bench.clock.advance(STEADY_S / 2)
    assert await bench.current() == "api"
    bench.clock.advance(STEADY_S / 2)
    assert await bench.current() == "ollama"


async def test_former_best_embedder_still_serves_its_index() -> None:
    bench = Bench()
    await bench.current()
    assert (await bench.embed("a", by="local")).shape == (1, 32)
    with pytest.raises(EmbeddingError, match="embedder gone/gone is no longer available"):
        await bench.embed("a", by="gone")
    bench.ollama.embedder.identity = EmbedderIdentity("ollama", "another", 32)
    with pytest.raises(EmbeddingError, match="The embedder ollama/ollama is no longer available"):
        await bench.embed("a")


async def test_requested_wait_is_respected() -> None:
    bench = Bench()
    await bench.current()
    bench.ollama.fail(EmbeddingError("busy", retry_after_s=300))
    with pytest.raises(EmbeddingError, match="busy"):
        await bench.embed("a")
    bench.ollama.fail(None)
    bench.clock.advance(299)
    with pytest.raises(EmbeddingError, match="again in 1 s"):
        await bench.embed("a")
    bench.clock.advance(1)
    assert len(await bench.embed("a")) == 1


async def test_long_unavailable_embedder_is_checked_ever_less() -> None:
    bench = Bench()
    bench.ollama.away = "away"
    for _ in range(24 * 60):
        await bench.current()
        bench.clock.advance(60)
    assert bench.ollama.opened < 24 * 3600 / LONGEST_WAIT_S + 10


async def test_internal_error_is_an_embedding_error(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    await bench.current()
    bench.ollama.fail(ZeroDivisionError("a bug"))
    with pytest.raises(EmbeddingError, match=r"ollama failed \(ZeroDivisionError\)"):
        await bench.embed("a")
    assert "ZeroDivisionError: a bug" in caplog.text


async def test_vectors_of_wrong_size_are_rejected() -> None:
    bench = Bench()
    await bench.current()
    bench.ollama.embedder.embed = lambda texts, purpose: FakeEmbedder(dimension=31).embed(texts, purpose)  # type: ignore[method-assign]
    with pytest.raises(EmbeddingError, match="different size"):
        await bench.embed("a")


async def test_passage_is_embedded_once_and_then_cached() -> None:
    bench = Bench()
    await bench.current()
    first = await bench.embed("a", "b", "a", purpose="passage")
    assert bench.ollama.embedder.calls == [("a", "b")]
    second = await bench.embed("b", "c", "a", purpose="passage")
    assert bench.ollama.embedder.calls == [("a", "b"), ("c",)]
    assert np.array_equal(first[[1, 0]], second[[0, 2]])
    await bench.embed("a", by="local", purpose="passage")
    assert bench.local.embedder.calls == [("a",)], "vectors of another embedder were taken"


async def test_cached_passage_needs_no_embedder() -> None:
    bench = Bench()
    await bench.current()
    known = await bench.embed("a", purpose="passage")
    bench.ollama.fail(EmbeddingError("away"))
    assert np.array_equal(await bench.embed("a", purpose="passage"), known)
    with pytest.raises(EmbeddingError):
        await bench.embed("a", "new", purpose="passage")


async def test_queries_are_cached_in_memory_only() -> None:
    bench = Bench()
    await bench.current()
    await bench.embed("a")
    await bench.embed("a")
    assert bench.ollama.embedder.calls == [("a",)]
    assert bench.cache.vectors == {}


async def test_many_passages_are_stored_as_they_are_embedded() -> None:
    bench = Bench()
    await bench.current()
    texts = [f"text {number}" for number in range(150)]
    embed = bench.ollama.embedder.embed

    async def fails_at_last(part: Sequence[str], purpose: Literal["passage", "query"]) -> Vectors:
        if texts[-1] in part:
            raise EmbeddingError("away")
        return await embed(part, purpose)

    bench.ollama.embedder.embed = fails_at_last  # type: ignore[method-assign]
    with pytest.raises(EmbeddingError):
        await bench.embed(*texts, purpose="passage")
    assert len(bench.cache.vectors) == 128


async def test_damaged_cached_vector_is_recomputed() -> None:
    bench = Bench()
    await bench.current()
    good = await bench.embed("a", "b", "c", purpose="passage")
    first, second, third = bench.cache.vectors
    bench.cache.vectors |= {
        first: np.full(32, np.nan, np.float32),
        second: np.zeros(32, np.float32),
        third: good[0][:31],
    }
    assert np.array_equal(await bench.embed("a", "b", "c", purpose="passage"), good)


async def test_secrets_are_redacted_only_from_text_leaving_the_process() -> None:
    bench = Bench(redact=lambda text: text.replace("hunter2", "[redacted:password]"))
    await bench.current()
    for by in ("ollama", "api", "local"):
        await bench.embed("my password is hunter2", by=by, purpose="passage")
    assert bench.ollama.embedder.calls == bench.api.embedder.calls == [("my password is [redacted:password]",)]
    assert bench.local.embedder.calls == [("my password is hunter2",)]


async def test_close_closes_all_and_leaves_no_task() -> None:
    bench = Bench()
    bench.ollama.away = "away"
    await bench.current()
    bench.clock.advance(FIRST_WAIT_S)
    await bench.choice.current()
    await bench.choice.close()
    assert all(source.closed for source in (bench.ollama, bench.api, bench.local))
    assert not [task for task in asyncio.all_tasks() if "embedders" in task.get_name()]


async def test_no_texts_yield_no_vectors() -> None:
    bench = Bench()
    await bench.current()
    assert (await bench.embed()).shape == (0, 32)


def pull_another(source: FakeSource) -> EmbedderIdentity:
    """Another model comes under the same name."""
    identity = EmbedderIdentity(source.provider, f"{source.provider}@2", 32)
    source.embedder = FakeEmbedder(dimension=32)
    source.embedder.identity = identity
    return identity


async def test_replaced_model_of_same_name_is_noticed_soon() -> None:
    bench = Bench()
    await bench.current()
    another = pull_another(bench.ollama)
    bench.clock.advance(COMPARED_EVERY_S - 1)
    await bench.current()
    assert (bench.ollama.compared, bench.ollama.opened) == (0, 1)
    bench.clock.advance(1)
    await bench.current()
    assert await bench.choice.current() == another
    with pytest.raises(EmbeddingError, match="The embedder ollama/ollama is no longer available"):
        await bench.embed("a")
    assert (await bench.choice.embed(["a"], "query", identity=another)).shape == (1, 32)
    assert bench.choice.problem is None


async def test_model_identity_is_checked_occasionally_without_embedding() -> None:
    bench = Bench()
    for _ in range(4):
        await bench.current()
        bench.clock.advance(COMPARED_EVERY_S / 2)
    assert (bench.ollama.compared, bench.ollama.opened, bench.ollama.embedder.calls) == (1, 1, [])
    bench.ollama.away = "Ollama is away."
    await bench.current()
    assert bench.ollama.compared == 2
    assert bench.choice.problem is None, "whether it is missed is told by the next text"
    bench.ollama.away = None
    assert (await bench.embed("a")).shape == (1, 32)


async def test_identity_check_blocks_nobody() -> None:
    bench = Bench()
    await bench.current()
    bench.ollama.hangs = asyncio.Event()
    bench.clock.advance(COMPARED_EVERY_S)
    assert await bench.choice.current() == bench.ollama.embedder.identity
    await until(lambda: bench.ollama.compared)
    assert (await bench.embed("a")).shape == (1, 32)
    assert await bench.choice.current() == bench.ollama.embedder.identity
    await bench.choice.close()
