"""Finding one's way in notebooks: which there are, what stands where, and lines in them, in few words."""

from typing import Any

import pytest

from onyx_jupyter.errors import InvalidArguments, NotebookError
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.output_kinds import output_words
from onyx_jupyter.text_tokens import text_tokens
from tests.features.notebooks.desk import PATH, Desk
from tests.notebook.fake_tab import tab_cell

TABLE = {"output_type": "display_data", "data": {"text/html": "<table><tr><td>1</td></tr></table>", "text/plain": "1"}}
PLOT = {"output_type": "display_data", "data": {"image/png": "cG5n"}}
ERROR = {"output_type": "error", "ename": "KeyError", "evalue": "x", "traceback": []}
CELLS = [
    tab_cell("t", "# Churn", "markdown"),
    tab_cell("l", "import pandas as pd\ndf = pd.read_csv('churn.csv')\ndf")
    | {"executionCount": 3, "outputs": [TABLE, PLOT]},
    tab_cell("m", "Some words\n\n## Fit\n```\n# no heading\n```", "markdown"),
    tab_cell("f", "model.fit(df)") | {"executionCount": 4, "outputs": [ERROR]},
    tab_cell("p", "plot(df)"),
]


def long(count: int, headings_every: int | None = 20) -> list[dict[str, Any]]:
    def one(number: int) -> dict[str, Any]:
        if headings_every and number % headings_every == 0:
            level = "#" if number % (5 * headings_every) == 0 else "##"
            return tab_cell(f"c{number}", f"{level} Part {number}", "markdown")
        return tab_cell(f"c{number}", f"value_{number} = compute({number})\nprint(value_{number})") | {
            "executionCount": 1
        }

    return [one(number) for number in range(count)]


@pytest.fixture
def desk(make_context: Any) -> Desk:
    return Desk(make_context, CELLS)


async def test_each_cell_of_a_short_notebook_has_a_line(desk: Desk) -> None:
    result = await desk.run("notebook_outline", path=PATH)
    assert not result.truncated
    assert result.output.splitlines() == [
        "churn.ipynb: 5 cells, kernel python3 (idle), open in a browser tab",
        "1 t md: # Churn",
        "2 l code [3] 3 lines → table, image: import pandas as pd",
        "3 m md 6 lines: Some words",
        "4 f code [4] → error KeyError: model.fit(df)",
        "5 p code [ ]: plot(df)",
    ]


async def test_stale_outputs_are_marked_if_kernel_can_tell(desk: Desk) -> None:
    desk.kernels.ran = {3: cell_hash(CELLS[1]["source"]), 4: cell_hash("model.fit(old)"), 5: cell_hash("other")}
    lines = (await desk.run("notebook_outline", path=PATH)).output.splitlines()
    assert lines[2].startswith("2 l code [3] 3 lines")
    assert lines[4].startswith("4 f code [4] edited since → error")
    desk.kernels.ran = None
    assert "4 f code [4] → error" in (await desk.run("notebook_outline", path=PATH)).output


async def test_thousand_cells_are_listed_by_headings_that_expand(make_context: Any) -> None:
    cells = long(1000)
    cells[555] |= {"outputs": [ERROR]}
    desk = Desk(make_context, cells)
    whole = await desk.run("notebook_outline", path=PATH)
    assert whole.truncated
    assert text_tokens(whole.output) <= 4_000
    assert "cells 41–60 (19 code): ## Part 40" in whole.output
    assert "errors in cells 556 (c555)" in whole.output
    assert "from and cells" in whole.output
    part = await desk.run("notebook_outline", path=PATH, **{"from": 41, "cells": 20})
    assert "41 c40 md: ## Part 40\n42 c41 code [1] 2 lines: value_41 = compute(41)" in part.output
    assert "61 c60" not in part.output
    assert not part.truncated
    section = await desk.run("notebook_outline", path=PATH, heading="part 40")
    assert section.output == part.output


async def test_thousand_cells_without_headings_are_listed_by_ranges(make_context: Any) -> None:
    desk = Desk(make_context, long(1000, headings_every=None))
    whole = (await desk.run("notebook_outline", path=PATH)).output
    assert text_tokens(whole) <= 4_000
    assert "cells 1–17 (17 code): value_0 = compute(0)" in whole


def test_image_left_out_on_read_is_identified_by_neighbouring_output() -> None:
    figure = {"output_type": "display_data", "data": {"text/plain": "<Figure size 640x480 with 1 Axes>"}}
    bare = {"output_type": "display_data", "data": {}}
    words = {"output_type": "execute_result", "data": {"text/plain": "Figure it out"}}
    assert [output_words([output]) for output in (figure, bare, words)] == ["image", "image", "text"]
    widget = {"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {}}}
    chart = {"output_type": "display_data", "data": {"application/vnd.plotly.v1+json": {}, "text/html": "<table>"}}
    assert output_words([widget, chart, chart, figure]) == "widget, chart, image"


async def test_missing_cell_lists_existing_ones(desk: Desk) -> None:
    with pytest.raises(NotebookError, match="Headings: Churn, Fit") as caught:
        await desk.run("notebook_outline", path=PATH, heading="Plot")
    assert caught.value.code == "no_heading"
    with pytest.raises(NotebookError, match="has cells 1 to 5"):
        await desk.run("notebook_outline", path=PATH, **{"from": 9})


async def test_cells_are_read_by_range_and_outputs_by_kind(desk: Desk) -> None:
    some = (await desk.run("notebook_read", path=PATH, **{"from": 2, "cells": 3}, outputs=["error"])).output
    assert [part in some for part in ("id=t", "id=l", "id=m", "id=f", "id=p")] == [False, True, True, True, False]
    assert "KeyError: x" in some
    assert "image/png" not in some
    assert "| 1 |" not in some
    assert (await desk.run("notebook_read", path=PATH, cellIds=["l"], outputs=["table"])).attachments == ()
    assert len((await desk.run("notebook_read", path=PATH, cellIds=["l"])).attachments) == 1


async def test_lines_are_found_in_sources_and_outputs(desk: Desk) -> None:
    sources = await desk.run("notebook_find", path=PATH, pattern="DF")
    assert sources.output.splitlines() == [
        "cell 2 (l) line 2: df = pd.read_csv('churn.csv')",
        "cell 2 (l) line 3: df",
        "cell 4 (f) line 1: model.fit(df)",
        "cell 5 (p) line 1: plot(df)",
    ]
    outputs = await desk.run("notebook_find", path=PATH, pattern=r"Key\w+: x$", regex=True, where="outputs")
    assert outputs.output == "cell 4 (f) output, line 1: KeyError: x"
    assert (await desk.run("notebook_find", path=PATH, pattern=r"Key\w+")).output == "Nothing found."
    with pytest.raises(InvalidArguments, match="not a regular expression"):
        await desk.run("notebook_find", path=PATH, pattern="(", regex=True)


async def test_catastrophic_pattern_is_abandoned(make_context: Any) -> None:
    desk = Desk(make_context, [tab_cell("a", "a" * 40 + "!")])
    result = await desk.run("notebook_find", path=PATH, pattern=r"(a|a|aa)+$", regex=True)
    assert "took too long" in result.output


async def test_current_notebook_comes_first_then_open_ones_then_folder(desk: Desk) -> None:
    root = desk.context.server_root
    (root / "deep").mkdir()
    for name in ("churn.ipynb", "other.ipynb", "deep/third.ipynb", "notes.txt"):
        (root / name).write_text("{}")
    desk.tab.show("other.ipynb", [], active=False)
    whole = await desk.run("notebook_list")
    assert whole.output.splitlines() == ["churn.ipynb (in front)", "other.ipynb (open)", "deep/third.ipynb"]
    deep = await desk.run("notebook_list", path="deep")
    assert deep.output.splitlines() == ["churn.ipynb (in front)", "other.ipynb (open)", "deep/third.ipynb"]
    with pytest.raises(NotebookError, match="There is no folder"):
        await desk.run("notebook_list", path="nowhere")
