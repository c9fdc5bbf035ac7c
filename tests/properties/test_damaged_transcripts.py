"""Damaged transcripts: readable lines are read in order, and the session continues."""

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.clock import IdSource
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.sessions.entry import to_json
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.testing.fake_clock import FakeClock

NUMBERS = st.integers(0, 10_000)
GARBAGE = st.sampled_from(
    [
        b"\0" * 40,
        b"\xff\xfe\x80",
        b"\xed\xa0\x80",
        b"{}",
        b"[1]",
        b'{"id":1}',
        b"x" * 300_000,
        b'{"id":"x","role":"user"',
    ]
)
MUTATIONS = st.one_of(
    st.tuples(st.just("cut"), NUMBERS, NUMBERS),
    st.tuples(st.just("truncate"), NUMBERS, NUMBERS),
    st.tuples(st.just("double"), NUMBERS, NUMBERS),
    st.tuples(st.just("swap"), NUMBERS, NUMBERS),
    st.tuples(st.just("drop"), NUMBERS, NUMBERS),
    st.tuples(st.just("fill"), NUMBERS, NUMBERS),
    st.tuples(st.just("insert"), NUMBERS, GARBAGE),
)


async def write_session(folder, clock: FakeClock, turns: int):
    """A conversation with every kind of entry, and what a later version may add."""
    transcript = await SessionStore(folder, clock, IdSource(clock)).create("main", "A title", None)
    for number in range(turns):
        run_id, call = f"r{number}", ToolCall(f"c{number}", "peek", {"word": "grün 😀"})
        await transcript.append_user(run_id, f"question {number}", {})
        clock.advance(1)
        await transcript.append_assistant(run_id, "I look", [call], None, {})
        await transcript.append_result(run_id, call, ToolResult("seen"), {"status": "ok"})
        await transcript.append_note(run_id, "compaction", "summed up", {"n": number})
        await transcript.append("system", "", {"kind": "steer_joined", "runId": run_id, "later": [1]})
        await transcript.append_end(run_id, "final", {})
    return transcript


def damaged(raw: bytes, mutations) -> bytes:
    for kind, place, more in mutations:
        lines = raw.split(b"\n")[:-1] if raw.endswith(b"\n") else raw.split(b"\n")
        at, other = place % len(lines), more % len(lines) if isinstance(more, int) else 0
        line = lines[at]
        match kind:
            case "truncate":
                raw = raw[: max(1, place % len(raw))]
                continue
            case "cut":
                lines[at] = line[: more % (len(line) + 1)]
            case "double":
                lines.insert(other, line)
            case "swap":
                lines[at], lines[other] = lines[other], lines[at]
            case "drop":
                lines = lines[:at] + lines[at + 1 :] or [b"{}"]
            case "fill":
                start = more % (len(line) + 1)
                lines[at] = line[:start] + b"\0" * 7 + line[start + 7 :]
            case "insert":
                lines.insert(at, more)
        raw = b"\n".join(lines) + b"\n"
    return raw


@given(st.integers(1, 4), st.lists(MUTATIONS, min_size=1, max_size=5))
def test_damaged_transcript_yields_usable_session_and_keeps_damaged_file(tmp_path_factory, turns, mutations):
    """Property 3: … the exact same sequence of entries; of a damaged file, those that are left, in their order."""
    folder, clock = tmp_path_factory.mktemp("sessions"), FakeClock()

    async def damage_and_go_on() -> None:
        written = await write_session(folder, clock, turns)
        original = [to_json(entry) for entry in written.entries]
        path = folder / "main" / f"{written.session_key}.jsonl"
        raw = damaged(path.read_bytes(), mutations)
        path.write_bytes(raw)

        clock.advance(10)
        store = SessionStore(folder, clock, IdSource(clock))
        assert [item.session_key for item in await store.list()] == [written.session_key]
        assert path.read_bytes() == raw, "listing changes nothing"
        again = await store.get(written.session_key)
        assert path.read_bytes() == raw, "neither does reading"
        left = [to_json(entry) for entry in again.entries if not entry.meta.get("rebuilt")]
        places = [original.index(item) for item in left]
        assert places == sorted(set(places)), "what is left are entries as they were written, in order, each once"
        assert again.entries[0].kind == "session"

        await again.append_user("next", "Go on", {})
        last = await SessionStore(folder, clock, IdSource(clock)).get(written.session_key)
        assert last.entries[-1].content == "Go on"
        assert last.conversation("next")[-1].content == "Go on"
        kept = list(path.parent.glob("*.damaged-*"))
        assert [file.read_bytes() for file in kept] == [raw] * len(kept)
        notes = [entry for entry in last.entries if entry.meta.get("note") == "repaired"]
        assert len(notes) == len(kept) <= 1
        assert kept or path.read_bytes().startswith(raw), "nothing is rewritten without a copy"
        before = path.read_bytes()
        await last.append_user("and", "once more", {})
        assert path.read_bytes().startswith(before), "it is repaired once"
        if kept:
            assert all(isinstance(json.loads(line), dict) for line in path.read_text("utf-8").splitlines())

    asyncio.run(damage_and_go_on())
