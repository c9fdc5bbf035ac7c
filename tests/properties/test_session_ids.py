"""Session ids over stores, clocks and servers."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.clock import IdSource
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.testing.fake_clock import FakeClock, counting_bytes


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.0001, 0.001, 60.0])), min_size=1, max_size=12))
def test_session_ids_are_unique_across_servers_and_times(tmp_path_factory, makings):
    """Property 2: For any set of created sessions, all session IDs SHALL be unique (no two sessions share the same
    ID)."""
    folder, clock = tmp_path_factory.mktemp("sessions"), FakeClock()
    servers = [SessionStore(folder, clock, IdSource(clock)) for _ in range(3)]

    async def make() -> list[str]:
        keys = []
        for server, pause_s in makings:
            clock.advance(pause_s)
            keys.append((await servers[server].create("main", None, None)).session_key)
        listed = [item.session_key for item in await servers[0].list()]
        assert sorted(listed) == sorted(keys)
        return keys

    keys = asyncio.run(make())
    assert len(set(keys)) == len(makings)


@given(st.lists(st.sampled_from([0.0, 0.0004, 0.001, 1.0]), min_size=1, max_size=300), st.booleans())
def test_ids_of_one_source_are_unique_and_sorted_by_creation(pauses_s, same_randomness):
    """Property 2: … all session IDs SHALL be unique; also where the source of randomness gives the same bytes."""
    clock = FakeClock()
    ids = IdSource(clock, (lambda size: b"\xff" * size) if same_randomness else counting_bytes())
    made = []
    for pause_s in pauses_s:
        clock.advance(pause_s)
        made.append(ids.new())
    assert made == sorted(set(made))
    assert all(len(made_id) == 26 for made_id in made)
