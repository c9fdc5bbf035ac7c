"""Plotly figures in words, from JSON as Plotly writes it."""

import base64
import struct
from typing import Any

import pytest

from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.notebook.plotly_figure import PLOTLY, describe_plotly

LAYOUT = {"title": {"text": "Churn"}, "xaxis": {"title": {"text": "contract"}}, "yaxis": {"title": "rate"}}


def packed(code: str, *numbers: float) -> dict[str, str]:
    types = {"d": "f8", "h": "i2"}
    data = struct.pack(f"<{len(numbers)}{code}", *numbers)
    return {"dtype": types[code], "bdata": base64.b64encode(data).decode()}


def told(**trace: Any) -> str:
    return describe_plotly({"data": [trace], "layout": {}})


def test_bars_are_described_with_names_even_for_packed_numbers() -> None:
    bars = {"type": "bar", "name": "left", "x": ["monthly", "one year"], "y": packed("d", 0.4271, 0.1127)}
    assert describe_plotly({"data": [bars], "layout": LAYOUT}) == (
        'title "Churn"; x "contract"; y "rate"; bars "left": monthly 0.4271, one year 0.1127'
    )
    assert told(type="bar", orientation="h", x=[1, 2], y=["a", "b"]) == "bars: a 1, b 2"
    many = told(type="bar", x=packed("h", *range(30)), y=list(range(30)))
    assert many == "bars: 30 of them, the highest at 29 with 29, the lowest at 0 with 0"


def test_other_kinds_are_described_by_ranges() -> None:
    days = ["2024-01-01T00:00:00.000000", "2024-01-03T00:00:00"]
    assert told(type="scatter", mode="lines", x=days, y=[1.5, None]) == (
        "line: 2 points, x from 2024-01-01 to 2024-01-03, y from 1.5 to 1.5"
    )
    assert (
        told(type="scattergl", mode="markers", x=[1, 2], y=[3, 4]) == "points: 2 points, x from 1 to 2, y from 3 to 4"
    )
    assert told(type="histogram", x=[1, 5, 3]) == "histogram of 3 values from 1 to 5"
    assert told(type="pie", labels=["u", "v"], values=[1, 3]) == "pie: u 1, v 3"
    assert told(type="sunburst") == "sunburst"


@pytest.mark.parametrize("bad", ["", None, [], {}, {"data": 3}, {"data": {}}])
def test_non_figure_is_not_described(bad: Any) -> None:
    assert describe_plotly(bad) == ""


def test_unreadable_parts_do_not_affect_the_rest() -> None:
    assert told(type="bar", x=["a"], y={"dtype": "f8", "bdata": "!!"}) == "bars: "
    assert told(type="bar", x=["a"], y={"dtype": "f8", "bdata": "AAA="}) == "bars: "
    assert describe_plotly({"data": [], "layout": None}) == "nothing is drawn in it"


def test_figure_is_one_line_in_output() -> None:
    figure = {"data": [{"type": "bar", "x": ["a]\nb"], "y": [2]}]}
    output = {"output_type": "display_data", "data": {PLOTLY: figure, "text/html": "<div>script</div>"}, "metadata": {}}
    assert render_outputs([output], 1000).text == "[figure: bars: a) b 2]"
