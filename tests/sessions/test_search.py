"""What of a conversation can be found, and that only what has grown is read again."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.protocols import Candidate, SearchFilter, Source
from onyx_jupyter.sessions.search import SessionSync, session_sources
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript
from tests.sessions.places import file_of, store_on


class KeptIndex:
    """A TextIndex that keeps what it is given; `puts` are the paths of each commit."""

    def __init__(self) -> None:
        self.sources: dict[tuple[str, str], Source] = {}
        self.puts: list[list[str]] = []

    async def checksums(self, agent: str | None = None) -> Mapping[tuple[str, str], str]:
        return {name: source.checksum for name, source in self.sources.items()}

    async def put(self, sources: Sequence[Source]) -> None:
        self.puts.append([source.path for source in sources])
        self.sources |= {(source.agent, source.path): source for source in sources}

    async def remove(self, names: Sequence[tuple[str, str]]) -> None:
        for name in names:
            del self.sources[name]

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        raise AssertionError("nobody searches here")


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return store_on(tmp_path / "sessions")


async def talk(transcript: SessionTranscript, count: int, begin: int = 0) -> None:
    for number in range(begin, begin + count):
        await transcript.append_user(f"r{number}", f"Question {number}", {})
        await transcript.append_assistant(f"r{number}", f"Answer {number}", (), None, {})


def sync_of(index: KeptIndex, store: SessionStore, folder: Path) -> SessionSync:
    return SessionSync(index, store, folder / "index/session_files.json", lambda text: text.replace("hush", "[…]"))


async def test_turns_are_found_with_context_and_link_to_entries(store: SessionStore) -> None:
    transcript = await store.create("main", "Birds", None)
    await transcript.append_user("r1", "Where do puffins nest?", {})
    call = ToolCall("c1", "read", {"path": "birds.txt"})
    await transcript.append_assistant("r1", "", [call], None, {})
    await transcript.append_result("r1", call, ToolResult("zanzibar"), {})
    await transcript.append_note("r1", "kind", "a note", None)
    await transcript.append_assistant("r1", "In burrows, hush.", (), None, {})
    (source,) = session_sources("main", transcript.session_key, transcript.entries, lambda t: t.replace("hush", "[…]"))
    assert (source.kind, source.agent, source.path) == ("session", "main", f"{transcript.session_key}/0")
    assert [chunk.text for chunk in source.chunks] == ["User: Where do puffins nest?", "Assistant: In burrows, […]."]
    asked, answered = source.chunks
    assert "Birds" in answered.context
    assert "January 2026" in answered.context
    assert answered.before == asked.text
    entry = next(entry for entry in transcript.entries if entry.content.startswith("In burrows"))
    assert answered.heading == f"assistant {entry.ts} {entry.id}"
    assert "zanzibar" not in str(source)
    assert "a note" not in str(source)


async def test_long_session_is_updated_only_in_last_part(store: SessionStore, tmp_path: Path) -> None:
    transcript = await store.create("main", "Long", None)
    key, index = transcript.session_key, KeptIndex()
    await talk(transcript, 50)
    sync = sync_of(index, store, tmp_path)
    assert await sync.run() == 3
    assert index.puts == [[f"{key}/0", f"{key}/1", f"{key}/2"]]
    first_of_second = index.sources["main", f"{key}/1"].chunks[0]
    assert (first_of_second.text, first_of_second.before) == (
        "User: Question 20",
        "User: Question 19\nAssistant: Answer 19",
    )
    await talk(transcript, 1, begin=50)
    assert await sync.run() == 1
    assert index.puts[1:] == [[f"{key}/2"]]
    assert await sync.run() == 0


async def test_only_grown_sessions_are_read_after_restart(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = KeptIndex()
    one, other = await store.create("main", "One", None), await store.create("main", "Other", None)
    for transcript in (one, other):
        await talk(transcript, 1)
    await sync_of(index, store, tmp_path).run()
    await talk(other, 1, begin=1)
    read: list[str] = []
    before = SessionStore.read
    monkeypatch.setattr(SessionStore, "read", lambda self, file: read.append(file.session_key) or before(self, file))
    again = sync_of(index, store, tmp_path)
    await again.run()
    assert read == [other.session_key]
    index.sources.clear()
    await again.run()
    assert sorted(read[1:]) == sorted([one.session_key, other.session_key]), "a lost index is filled again"
    assert len(index.sources) == 2


async def test_deleted_session_is_removed_and_unreadable_one_stays(store: SessionStore, tmp_path: Path) -> None:
    index = KeptIndex()
    one, other = await store.create("main", "One", None), await store.create("main", "Other", None)
    for transcript in (one, other):
        await talk(transcript, 1)
    sync = sync_of(index, store, tmp_path)
    await sync.run()
    folder = tmp_path / "sessions"
    file_of(folder, one.session_key).unlink()
    unreadable = file_of(folder, other.session_key)
    unreadable.rename(tmp_path / "elsewhere.jsonl")
    unreadable.mkdir()
    await sync.run()
    assert [path for _, path in index.sources] == [f"{other.session_key}/0"]


async def test_concurrent_syncs_do_not_interfere(store: SessionStore, tmp_path: Path) -> None:
    index = KeptIndex()
    await talk(await store.create("main", "One", None), 2)
    sync = sync_of(index, store, tmp_path)
    assert sorted(await asyncio.gather(sync.run(), sync.run())) == [0, 1]
