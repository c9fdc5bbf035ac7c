"""A run whose end nobody tells is asked for, over a new connection where the old one is dead."""

from typing import Any

import pytest

from onyx_jupyter.magics import skill_run
from onyx_jupyter.magics.connection import ConnectionGone, ServerConnection
from onyx_jupyter.magics.server_address import ServerAddress
from onyx_jupyter.magics.skill_run import SkillRun

OVER = {"runId": "r1", "skill": "count", "status": "ok"}
OTHER = {"runId": "r0", "skill": "count", "status": "running"}


class Silent(ServerConnection):
    """A server that tells of no event; `listed` is what it has of the run each time it is asked."""

    def __init__(self, *listed: Any) -> None:
        super().__init__(ServerAddress("http://127.0.0.1:1/", ""))
        self.listed = list(listed)
        self.closed = 0

    def request(self, method: str, timeout_s: float = 30.0, **params: Any) -> dict[str, Any]:
        if method == "skills.run":
            return {"runId": "r1"}
        if method == "skills.result":
            return {"run": OVER, "outputs": [], "text": "done"}
        assert method == "skills.runs"
        found = self.listed.pop(0)
        if isinstance(found, Exception):
            raise found
        return {"runs": [OTHER, *found]}

    def next_event(self, timeout_s: float) -> None:
        assert self.listed, "it is over, and still an event is waited for"

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    ("listed", "closed"),
    [
        (([{**OVER, "status": "running"}], [OVER]), 0),
        (([],), 0),  # the server was started anew and knows nothing of it
        ((ConnectionGone("dead"), [OVER]), 1),
    ],
)
def test_silent_run_is_polled_until_it_ends(
    listed: tuple[Any, ...], closed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_run, "SILENCE_S", 0.0)
    connection = Silent(*listed)
    result = SkillRun(connection, "count").run({}, None, lambda line, share: None)
    assert result.text == "done"
    assert connection.listed == []
    assert connection.closed == closed


def test_briefly_silent_run_is_not_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skill_run, "SILENCE_S", 3600.0)

    class Once(Silent):
        def next_event(self, timeout_s: float) -> Any:
            self.polls = getattr(self, "polls", 0) + 1
            return None if self.polls < 3 else ("skills.run_finished", {"runId": "r1"})

    connection = Once(AssertionError("nobody asks"))
    assert SkillRun(connection, "count").run({}, None, lambda line, share: None).text == "done"
    assert len(connection.listed) == 1
