"""The table of operations: each declared once, whole, and for nobody who may not ask."""

from typing import Any

import pytest

from onyx_jupyter.app.features import OPERATIONS
from onyx_jupyter.errors import (
    Forbidden,
)
from onyx_jupyter.notebook.browser_tabs import TabId
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.operation import Operation, Operations
from onyx_jupyter.operations.scope import ALL_SCOPES, Scope
from onyx_jupyter.operations.wire import NoParams, Ok

# What a program with that scope could do without anybody being asked.
HARMFUL = (
    "exec.approve",
    "grants.revoke",
    "skills.trust",
    "skills.run",
    "skills.answer",
    "project.trust",
    "memory.restore",
)


async def nothing(params: NoParams, caller: object) -> dict[str, Any]:
    return {"ok": True}


def operation(name: str = "a.b", **more: Any) -> Operation:
    return Operation(name, NoParams, Ok, nothing, **{"scope": "read", **more})


def caller(tab: TabId | None, *scopes: Scope) -> Caller:
    return Caller(Parts({}), tab, "ada", lambda told: None, scopes=frozenset(scopes))


def test_duplicate_names_are_rejected_and_order_is_kept() -> None:
    table = Operations([operation("b.c"), operation("a.b")])
    assert table.names == ("b.c", "a.b")
    assert "a.b" in table
    assert table.get("nobody") is None
    with pytest.raises(ValueError, match=r"'a\.b'"):
        Operations([operation(), operation()])


def test_only_ordered_operations_wait_for_their_reads() -> None:
    ordered = operation(dispatch="ordered", reads="context")
    assert [ordered.must_wait(params) for params in ({}, {"context": []}, {"context": [1]})] == [False, False, True]
    assert not operation(reads="context").must_wait({"context": [1]})
    assert [one.name for one in OPERATIONS if one.dispatch == "ordered"] == ["chat.send"]


@pytest.mark.parametrize("scope", sorted(ALL_SCOPES))
def test_missing_scope_is_rejected(scope: Scope) -> None:
    for one in OPERATIONS:
        allowed = caller(TabId("t"), scope)
        if one.scope == scope:
            allowed.check(one)
        else:
            with pytest.raises(Forbidden, match=one.name):
                allowed.check(one)


def test_programs_and_pages_are_distinguished() -> None:
    of_pages = [one for one in OPERATIONS if one.callers == "tab"]
    assert {one.name for one in of_pages} == {"client.update", "client.respond", "client.shows", "skills.ask"}
    for one in of_pages:
        with pytest.raises(Forbidden, match="page"):
            caller(None, *ALL_SCOPES).check(one)
        caller(TabId("t"), *ALL_SCOPES).check(one)


def test_operations_behind_approvals_need_highest_scope() -> None:
    assert {name: OPERATIONS[name].scope for name in HARMFUL} == dict.fromkeys(HARMFUL, "admin")
    # It holds what would run as it is, secrets included, for whoever decides.
    assert OPERATIONS["approvals.list"].scope == "admin"
