"""Transcripts round-trip everything an entry can contain."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.clock import IdSource
from onyx_jupyter.messages import ToolCall, Usage
from onyx_jupyter.sessions.entry import from_json, to_json
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.testing.fake_clock import FakeClock

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(min_size=1, max_size=8), JSON, max_size=4)
CALLS = st.builds(ToolCall, st.text(min_size=1), st.text(min_size=1), OBJECTS, st.none() | st.text())
COUNTS = st.integers(0, 10**9)
USAGES = st.builds(Usage, COUNTS, COUNTS, st.none() | COUNTS, st.none() | st.floats(0, 1e6))
APPENDS = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "system"]),
        "content": st.text(),
        "meta": OBJECTS,
        "calls": st.lists(CALLS, max_size=3),
        "call_id": st.none() | st.text(),
        "usage": st.none() | USAGES,
        "pause_s": st.floats(0, 1e6),
    }
)


@given(st.lists(APPENDS, max_size=6))
def test_loaded_session_equals_what_was_appended(tmp_path_factory, appends):
    """Property 3: For any sequence of transcript entries appended to a session, loading that session SHALL reconstruct
    the exact same sequence of entries (content, role, timestamps, tool calls preserved)."""
    folder, clock = tmp_path_factory.mktemp("sessions"), FakeClock()

    async def append_and_load() -> None:
        written = await SessionStore(folder, clock, IdSource(clock)).create("main", None, None)
        for item in appends:
            clock.advance(item["pause_s"])
            entry = await written.append(
                item["role"],
                item["content"],
                item["meta"],
                calls=item["calls"],
                call_id=item["call_id"],
                usage=item["usage"],
            )
            assert (entry.role, entry.content, entry.tool_calls) == (
                item["role"],
                item["content"],
                tuple(item["calls"]),
            )
        loaded = await SessionStore(folder, clock, IdSource(clock)).get(written.session_key)
        assert list(loaded.entries) == list(written.entries)
        assert len(loaded.entries) == len(appends) + 1

    asyncio.run(append_and_load())


@given(
    st.fixed_dictionaries(
        {
            "v": st.just(1),
            "id": st.text(),
            "parent": st.none() | st.text(),
            "ts": st.text(),
            "role": st.sampled_from(["user", "assistant", "tool", "system"]),
            "content": st.text(),
        },
        optional={"meta": OBJECTS.filter(bool), "tool_call_id": st.text(), "later": JSON, "colour": JSON, "x-9": JSON},
    )
)
def test_line_of_later_version_keeps_every_field(line):
    """Property 3: … the exact same sequence of entries; fields that this version does not know included."""
    assert to_json(from_json(line)) == line
