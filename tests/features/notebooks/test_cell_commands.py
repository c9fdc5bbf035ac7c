"""A cell that gives commands to a shell: its card shows them, and a yes for cells does not cover it."""

from typing import Any

import pytest

from onyx_jupyter.human_requests.approval_scope import scope_of
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ToolPreview
from tests.features.notebooks.desk import PATH, Desk
from tests.notebook.fake_tab import tab_cell

SHELL = "import pandas\n!ls -l"
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("notebook_insert_cell", {"path": PATH, "cellType": "code", "source": SHELL, "run": True}),
    ("notebook_edit_cell", {"path": PATH, "cellId": "plain", "source": SHELL, "run": True}),
    ("notebook_create", {"path": "new.ipynb", "cells": [{"cellType": "code", "source": SHELL}], "run": True}),
    ("notebook_run_cell", {"path": PATH, "cellId": "shell"}),
    ("notebook_run_all", {"path": PATH}),
    ("notebook_restart_kernel", {"path": PATH, "runAll": True}),
)


@pytest.fixture
def desk(make_context: Any) -> Desk:
    return Desk(make_context, [tab_cell("t", "!ls", "markdown"), tab_cell("plain", "x = 1"), tab_cell("shell", SHELL)])


def scope(name: str, arguments: dict[str, Any], preview: ToolPreview) -> Any:
    return scope_of(ToolCall("1", name, arguments), preview)


@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_card_shows_commands_and_cell_needs_exec_permission(desk: Desk, name: str, arguments: dict) -> None:
    shown = await desk.preview(name, **arguments)
    assert shown.details["commands"] == ["ls -l"]
    assert shown.summary.endswith(", with a shell command")
    assert shown.also == ("exec",)
    assert shown.grant_text == "exactly this again, with its command"


@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_approval_for_cells_does_not_cover_other_commands(desk: Desk, name: str, arguments: dict) -> None:
    def other(source: str) -> dict[str, Any]:
        desk.type("shell", source)
        cells = {"cells": [{"cellType": "code", "source": source}]} if "cells" in arguments else {}
        return {**arguments, **cells, **({"source": source} if "source" in arguments else {})}

    keys = []
    for source in ("y = 2", SHELL, "!ls", "import pandas\n!ls -l\ny = 2"):
        changed = other(source)
        keys.append(scope(name, changed, await desk.preview(name, **changed)).session_keys)
    assert len(set(keys)) == len(keys)
    again = other(SHELL)
    assert scope(name, again, await desk.preview(name, **again)).session_keys == keys[1]


@pytest.mark.parametrize("source", ["!ls | sh", "!ls {folder}", "%%bash\nls\npwd", "%unknown", "!curl x > y"])
async def test_unparsable_command_can_only_be_allowed_once(desk: Desk, source: str) -> None:
    name, arguments = CALLS[0]
    arguments = {**arguments, "source": source}
    found = scope(name, arguments, await desk.preview(name, **arguments))
    assert found.blocked
    assert found.session_keys == frozenset()


async def test_cell_that_does_not_run_is_asked_as_usual(desk: Desk) -> None:
    for name, arguments in CALLS[:3]:
        shown = await desk.preview(name, **{**arguments, "run": False})
        assert (shown.also, "commands" in shown.details) == ((), False)
    plain = await desk.preview("notebook_run_cell", path=PATH, cellId="plain")
    assert (plain.also, plain.grant_text) == ((), f"every cell run in {PATH}")
