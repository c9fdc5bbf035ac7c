"""A kill at any line of a session: no message is lost or answered twice."""

import asyncio
import shutil
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.sessions.run_order import begun_runs, unjoined_messages
from onyx_jupyter.sessions.transcript_repair import read_session
from onyx_jupyter.testing.script import Call
from tests.properties.session_invariants import check_session
from tests.runs.house import House
from tests.waiting import until

WAYS = st.sampled_from(["steer", "followup", "interrupt"])


def _reply(request):
    """Calls tools for some messages, one of them with a question that nobody answers."""
    last = request.messages[-1]
    if last.role == "user" and last.content.endswith(("1", "4")):
        return ["I will", Call("peek"), Call("touch", {"word": last.content}), Call("peek")]
    return f"heard {next(m.content for m in reversed(request.messages) if m.role == 'user')}"


async def _played(folder: Path, sendings: list[tuple[str, int]]) -> tuple[House, str]:
    house = House(folder, _reply)
    key = await house.session()
    for number, (way, ticks) in enumerate(sendings):
        await house.send(key, f"message {number}", when_busy=way)
        for _ in range(ticks):
            await asyncio.sleep(0)
    await until(lambda: not house.onyx.runs.busy or house.onyx.approvals.pending())
    await house.close()
    return house, key


async def _at_rest(house: House, key: str) -> None:
    """Questions are answered with a no, until nothing goes on."""
    while house.onyx.runs.busy:
        await until(lambda: not house.onyx.runs.busy or house.onyx.approvals.pending())
        for pending in house.onyx.approvals.pending():
            await house.onyx.approvals.deny(pending.request.approval_id, "ada", None)


async def _cut_and_start(folder: Path, session: Path, lines: list[bytes]) -> None:
    home = folder / "home" / "sessions" / session.parent.name
    home.mkdir(parents=True)
    path = home / session.name
    path.write_bytes(b"".join(lines))
    before = read_session(path).entries
    under_way = [run_id for run_id, run in begun_runs(before).items() if not any(e.kind == "run_end" for e in run)]
    waited = _waited(before, under_way)
    house = House(folder, _reply)
    await house.onyx.ready()
    await _at_rest(house, session.stem)
    await house.close()
    after = read_session(path).entries
    outcomes = check_session(after, [e.content for e in before if e.role == "user"])
    assert house.touch.done == []
    house.results(session.stem)
    for message in waited:
        assert outcomes[message] == "final", f"{message!r} waited and was not answered"
    for run_id in under_way:
        ends = [e.meta["outcome"] for e in after if e.kind == "run_end" and e.run_id == run_id]
        assert ends in (["interrupted"], ["final"])
        questions = [e for e in before if e.kind == "approval_request" and e.run_id == run_id]
        assert questions or ends == ["interrupted"], "a run that was under way was begun anew"
    size = path.stat().st_size
    again = House(folder, _reply)
    await again.onyx.ready()
    assert not again.onyx.runs.busy
    assert path.stat().st_size == size, "a second start did something again"
    await again.close()


def _waited(entries, under_way) -> list[str]:
    """Messages that no run has begun to answer: those queued, and those that had not joined a run under way."""
    begun = begun_runs(entries)
    queued = [e.content for e in entries if e.is_queued and e.run_id not in begun]
    return queued + [e.content for run_id in under_way for e in unjoined_messages(entries, run_id)]


@given(sendings=st.lists(st.tuples(WAYS, st.integers(0, 12)), min_size=2, max_size=6), place=st.floats(0, 1))
def test_kill_at_any_line_loses_no_message_and_answers_none_twice(tmp_path_factory, sendings, place):
    """SE8: what waited is answered after the start, what was under way is ended, and a second start changes nothing."""

    async def play() -> None:
        folder = tmp_path_factory.mktemp("house")
        house, key = await _played(folder, sendings)
        session = house.file(key)
        lines = session.read_bytes().splitlines(keepends=True)
        count = 2 + round(place * (len(lines) - 2))
        cut = tmp_path_factory.mktemp("cut")
        await _cut_and_start(cut, session, lines[:count])
        shutil.rmtree(folder)
        shutil.rmtree(cut)

    asyncio.run(play())


def test_kill_at_every_line_of_one_session(tmp_path_factory):
    """The same at each line of a session that has all of it: calls, a question, steering, queueing, an interrupt."""
    sendings = [
        ("steer", 3),
        ("steer", 6),
        ("followup", 0),
        ("steer", 4),
        ("interrupt", 9),
        ("steer", 2),
        ("followup", 9),
    ]

    async def play() -> None:
        house, key = await _played(tmp_path_factory.mktemp("house"), sendings)
        session = house.file(key)
        lines = session.read_bytes().splitlines(keepends=True)
        for count in range(2, len(lines) + 1):
            await _cut_and_start(tmp_path_factory.mktemp("cut"), session, lines[:count])

    asyncio.run(play())
