"""A new skill waits in a card of the cell: a yes is the server's word and nothing else, and silence is none."""

from collections.abc import Mapping
from typing import Any

import pytest

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.connection import ConnectionGone, Refused, ServerConnection
from onyx_jupyter.magics.person import Person
from onyx_jupyter.magics.server_address import ServerAddress
from onyx_jupyter.magics.skill_consent import MIME_TYPE, SkillConsent
from onyx_jupyter.magics.skill_run import SkillRun

UPDATED = ("skills.updated", {})


def skill(state: str, text: str = "print(1)") -> dict[str, Any]:
    facts = {"name": "fresh", "kind": "notebook", "state": state, "changed": False, "hash": "h1"}
    return {"skill": facts, "text": text, "diff": None}


class Server(ServerConnection):
    """`told` is what comes as events, `known` what it has of the skill each time it is asked."""

    def __init__(self, told: list[Any], known: list[Any]) -> None:
        super().__init__(ServerAddress("http://127.0.0.1:1/", ""))
        self.told, self.known, self.asked = told, known, list[str]()

    def request(self, method: str, timeout_s: float = 30.0, **params: Any) -> dict[str, Any]:
        self.asked.append(method)
        found = self.known.pop(0)
        if isinstance(found, BaseException):
            raise found
        assert params == {"name": "fresh", "agentId": "writer"}
        return dict(found)

    def next_event(self, timeout_s: float) -> Any:
        event = self.told.pop(0)
        if isinstance(event, BaseException):
            raise event
        return event


class Cell:
    """What is shown, and a person who must not be asked to type."""

    def __init__(self, server: Server, waits_s: float = 60.0) -> None:
        self.server = server
        self.shown: list[tuple[str, Mapping[str, Any]]] = []
        self.consent = SkillConsent(
            server, Person(self.typed), lambda text, beside: self.shown.append((text, beside)), "k1", waits_s=waits_s
        )

    def typed(self, prompt: str) -> str:
        raise AssertionError("the card asks, not input()")

    def given(self) -> Mapping[str, Any]:
        return self.consent.given(SkillRun(self.server, "fresh", "writer"), skill("untrusted"), has_card=True)


def test_it_goes_on_with_what_was_trusted_and_trusts_nothing_itself() -> None:
    server = Server(
        [("chat.delta", {}), UPDATED, None, UPDATED],
        [skill("untrusted"), skill("untrusted"), skill("ready", "print(2)")],
    )
    cell = Cell(server)
    assert cell.given()["text"] == "print(2)"
    assert server.asked == ["skills.get"] * 3  # not for what concerns no skill; now and then where nothing is told
    ((text, beside),) = cell.shown
    assert "print(1)" in text  # for front ends without a card
    assert beside == {MIME_TYPE: {"schemaVersion": 1, "kernelId": "k1", "name": "fresh", "agentId": "writer"}}


def test_a_connection_that_breaks_is_opened_again_and_asked() -> None:
    cell = Cell(Server([ConnectionGone("broken")], [skill("ready")]))
    assert cell.given()["skill"]["state"] == "ready"


@pytest.mark.parametrize(("told", "waits_s"), [([], 0.0), ([KeyboardInterrupt()], 60.0)])
def test_silence_and_an_interrupt_are_a_no(told: list[Any], waits_s: float) -> None:
    cell = Cell(Server(told, []), waits_s)
    with pytest.raises(MagicError, match="was not run: this version of it is not trusted") as denied:
        cell.given()
    assert denied.value.code == "untrusted"
    assert cell.server.asked == []
    assert cell.shown[-1] == ("– **fresh** · not trusted, so it was not run", {})


def test_a_skill_that_goes_away_meanwhile_leaves_no_card_that_waits() -> None:
    cell = Cell(Server([UPDATED], [Refused("There is no skill 'fresh'.", "not_found")]))
    with pytest.raises(Refused):
        cell.given()
    assert cell.shown[-1] == ("✗ **fresh** · There is no skill 'fresh'.", {})
