"""A new skill waits in a card of the cell: a yes is the server's word and nothing else, and silence is none."""

from collections.abc import Mapping
from typing import Any

import pytest

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.cell_user import CellUser
from onyx_jupyter.magics.connection import ConnectionGone, Refused, ServerConnection
from onyx_jupyter.magics.server_address import ServerAddress
from onyx_jupyter.magics.skill_consent import MIME_TYPE, SkillConsent
from onyx_jupyter.magics.skill_run import SkillRun

UPDATED = ("skills.updated", {})
PLACE = {"name": "fresh", "agentId": "writer"}


def skill(state: str, text: str = "print(1)") -> dict[str, Any]:
    facts = {"name": "fresh", "kind": "notebook", "state": state, "changed": False, "hash": "h1"}
    return {"skill": facts, "text": text, "diff": None}


def closed(outcome: str, question_id: str = "q1", **more: Any) -> tuple[str, dict[str, Any]]:
    return "skills.question_closed", {"questionId": question_id, "outcome": outcome, **more}


class Server(ServerConnection):
    """`told` is what comes as events; each question that is asked has the next id."""

    def __init__(self, *told: Any) -> None:
        super().__init__(ServerAddress("http://127.0.0.1:1/", ""))
        self.told = list(told)
        self.asked = list[tuple[str, dict[str, Any]]]()
        self.closings = 0

    def request(self, method: str, timeout_s: float = 30.0, **params: Any) -> dict[str, Any]:
        self.asked.append((method, params))
        match method:
            case "skills.ask":
                return {"questionId": f"q{self.methods.count('skills.ask')}"}
            case "skills.question":
                return {"open": True}
        assert method == "skills.get"
        return skill("ready", "print(2)")

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.asked]

    def next_event(self, timeout_s: float) -> Any:
        event = self.told.pop(0)
        if isinstance(event, BaseException):
            raise event
        return event

    def close(self) -> None:
        self.closings += 1


class Cell:
    """What is shown, and a person who must not be asked to type."""

    def __init__(self, *told: Any) -> None:
        self.server = Server(*told)
        self.shown: list[tuple[str, Mapping[str, Any]]] = []
        self.consent = SkillConsent(
            self.server, CellUser(self.typed), lambda text, beside: self.shown.append((text, beside))
        )

    def typed(self, prompt: str) -> str:
        raise AssertionError("the card asks, not input()")

    def given(self) -> Mapping[str, Any]:
        return self.consent.given(SkillRun(self.server, "fresh", "writer"), skill("untrusted"), has_card=True)


def test_trusted_skill_continues_and_magic_trusts_nothing_itself() -> None:
    cell = Cell(("chat.delta", {}), closed("trusted", "of another cell"), closed("trusted"))
    assert cell.given()["text"] == "print(2)"
    assert cell.server.asked == [("skills.ask", PLACE), ("skills.get", PLACE)]
    ((text, beside),) = cell.shown
    assert "print(1)" in text  # for front ends without a card
    assert beside == {MIME_TYPE: {"schemaVersion": 1, "questionId": "q1"}}


def test_server_rechecks_when_skills_change_or_after_silence() -> None:
    cell = Cell(UPDATED, None, closed("trusted"))
    assert cell.given()["skill"]["state"] == "ready"
    looked = ("skills.question", {"questionId": "q1"})
    assert cell.server.asked[1:3] == [looked, looked]


def test_broken_connection_is_reopened_and_asks_again() -> None:
    cell = Cell(ConnectionGone("broken"), closed("gone"), closed("trusted", "q2"))
    assert cell.given()["skill"]["state"] == "ready"
    assert [beside[MIME_TYPE]["questionId"] for _, beside in cell.shown] == ["q1", "q2"]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (closed("declined"), "not trusted, so it was not run"),
        (closed("expired"), "nobody answered in time, so it was not run"),
        (KeyboardInterrupt(), "not trusted, so it was not run"),
    ],
)
def test_denial_timeout_and_interrupt_run_nothing(told: Any, words: str) -> None:
    cell = Cell(told)
    with pytest.raises(MagicError, match="was not run: this version of it is not trusted") as denied:
        cell.given()
    assert denied.value.code == "untrusted"
    assert cell.server.methods == ["skills.ask"]
    assert cell.shown[-1] == (f"– **fresh** · {words}", {})
    # The question ends with the connection: no card goes on asking for a cell that waits no more.
    assert cell.server.closings == (1 if isinstance(told, KeyboardInterrupt) else 0)


def test_unusable_skill_says_why_and_leaves_no_pending_card() -> None:
    cell = Cell(closed("unusable", reason="There is no skill 'fresh'."))
    with pytest.raises(MagicError, match=r"fresh cannot be run\. There is no skill 'fresh'") as unusable:
        cell.given()
    assert unusable.value.code == "unusable"
    assert cell.shown[-1] == ("✗ **fresh** · The skill fresh cannot be run. There is no skill 'fresh'.", {})


def test_server_refusal_is_reported() -> None:
    cell = Cell(Refused("There is no method 'skills.ask'.", "-32601"))
    with pytest.raises(Refused):
        cell.given()
    assert cell.shown[-1] == ("✗ **fresh** · There is no method 'skills.ask'.", {})
