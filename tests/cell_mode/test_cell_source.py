"""The cell in an answer, however the model wrote it, and while it is written."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.cell_mode.cell_source import cell_of, drafted, is_code, problem_in
from onyx_jupyter.protocols import CellDraft, ModelEvent, ModelProgress, TextDelta, TextWasThinking

BEGUN = "import pandas as pd\ndf = pd.read_csv('a b.csv')"
READ = "import pandas as pd\ndf = pd.read_csv('fees.csv')"


@pytest.mark.parametrize(
    "answer",
    [
        "print(df.shape)",
        "print(df.shape)\n",
        "```python\nprint(df.shape)\n```",
        "```\nprint(df.shape)\n```\nThat prints the shape.",
        f"{BEGUN}\nprint(df.shape)",
        f"```python\n{BEGUN}\nprint(df.shape)",
        "Here it is:\n```py\nprint(df.shape)\n```\n```python\nprint(1)\n```",
    ],
)
def test_first_block_after_started_code(answer: str) -> None:
    assert cell_of(answer, BEGUN) == f"{BEGUN}\nprint(df.shape)"


@pytest.mark.parametrize("answer", ["", "\n", BEGUN, "```python\n```"])
def test_nothing_beyond_started_code_is_no_cell(answer: str) -> None:
    assert cell_of(answer, BEGUN) == ""


def test_code_that_cannot_run_is_reported_and_magics_are_accepted() -> None:
    assert problem_in("print(1)\n%matplotlib inline\n!ls") is None
    assert problem_in("%%bash\nls | wc -l") is None
    assert "SyntaxError" in (problem_in("@mean[1]") or "")
    assert "line 2" in (problem_in("x = 1\nprint(x") or "")
    assert problem_in("x = '\0'") is not None


@given(st.text(max_size=200))
def test_any_text_yields_a_cell_or_none(answer: str) -> None:
    cell = cell_of(answer, BEGUN)
    assert cell == "" or cell.startswith(BEGUN)
    problem_in(cell)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("mean = fees.mean()", True),
        ("print(12)", True),
        ("Chinstrap", False),
        ("48.83", False),
        ("The mean fee is 12.5.", False),
        ("@mean_fee[12.5]", False),
    ],
)
def test_python_code_is_not_a_text_answer(answer: str, code: bool) -> None:
    assert is_code(answer) == code


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
