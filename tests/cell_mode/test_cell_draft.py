"""The cell while it is written: the server's lines at once, then code alone, and anew where it is thrown away."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from onyx_jupyter.cell_mode.cell_draft import drafted
from onyx_jupyter.cell_mode.cell_source import cell_of
from onyx_jupyter.protocols import CellDraft, ModelEvent, ModelProgress, TextDelta, TextWasThinking

READ = "import pandas as pd\ndf = pd.read_csv('fees.csv')"


def drafts(*answer: ModelEvent | str, begun: str = READ) -> list[CellDraft]:
    async def asking() -> AsyncGenerator[ModelEvent, None]:
        for event in answer:
            for one in event if isinstance(event, str) else [event]:
                yield TextDelta(one) if isinstance(one, str) else one

    async def run() -> list[CellDraft]:
        return [event async for event in drafted(asking(), begun) if isinstance(event, CellDraft)]

    return asyncio.run(run())


def seen(pieces: list[CellDraft]) -> list[str]:
    """What stands there after each piece."""
    shown = [""]
    for piece in pieces:
        shown.append(piece.text if piece.begins else shown[-1] + piece.text)
    return shown[1:]


def test_loading_lines_appear_before_first_token() -> None:
    assert drafts() == [CellDraft(READ, begins=True)]


@pytest.mark.parametrize(
    "answer",
    [
        "print('mean', df['fee'].mean())\nfor x in df:\n    print(x)",
        "```python\nprint(1)\n\nprint(2)\n```",
        "```python\nprint(1)\n```\nThis prints one.",
        f"```python\n{READ}\nprint(df.shape)\n```",
        "Here is the cell:\n```python\nprint(1)\n```",
        "Sure! It is this one.\n\n```\nX = 1\n```",
        "X = 1\nprint(X)",
        "print(`",
    ],
)
@pytest.mark.parametrize("begun", [READ, ""])
def test_draft_grows_monotonically_into_the_cell(answer: str, begun: str) -> None:
    pieces = drafts(answer, begun=begun)
    assert [piece.begins for piece in pieces] == [True, *[False] * (len(pieces) - 1)]
    assert seen(pieces)[-1] == cell_of(answer, begun)
    assert "```" not in "".join(seen(pieces))


def test_text_reclassified_as_thought_is_discarded() -> None:
    pieces = drafts("print(1)", TextWasThinking(), "print(2)")
    assert seen(pieces)[-1] == f"{READ}\nprint(2)"
    assert sum(piece.begins for piece in pieces) == 2


def test_other_events_pass_through() -> None:
    async def asking() -> AsyncGenerator[ModelEvent, None]:
        yield ModelProgress("Loading")

    async def run() -> list[ModelEvent]:
        return [event async for event in drafted(asking(), "")]

    assert asyncio.run(run())[-1] == ModelProgress("Loading")
