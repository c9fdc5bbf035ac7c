"""Sentences on what a cell has drawn, from the figures' data. No model writes them: a small one invents the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FIGURE = re.compile(r"^\[figure: (.*)\]$", re.MULTILINE)
_MAX_AXES = 4
_NAME = r'(?: "(?P<name>[^"]*)")?'
_SERIES = re.compile(
    rf"(?P<kind>bars|histogram|box plot|line|points|pie|heat map|image|filled area|box|violin|heatmap){_NAME}"
    r"(?:(?: with shares)?:)? ?(?P<says>.*)"
)
_LABEL = re.compile(r'(?P<axis>title|figure|[xy]) "(?P<text>[^"]*)"')
_CHARTS = {
    "bars": "bar chart",
    "line": "line chart",
    "points": "scatter plot",
    "pie": "pie chart",
    "heatmap": "heat map",
    "box": "box plot",
    "violin": "violin plot",
}
_AGAINST = ("scatter plot", "line chart")


def figures_of(output: str) -> list[str]:
    """The contents of the figures, a text for each pair of axes; empty if none are described."""
    return _FIGURE.findall(output)


def describe_figures(figures: Sequence[str]) -> str:
    """What each of them shows, in Markdown, with only their own names and numbers."""
    told = [_sentence(figure) for figure in figures[:_MAX_AXES]]
    left = len(figures) - len(told)
    return "\n\n".join([*told, *([f"And {left} more."] if left > 0 else [])])


def _sentence(figure: str) -> str:
    parts = figure.split("; ")
    labels = {found["axis"]: found["text"] for part in parts if (found := _LABEL.match(part))}
    series = [found for part in parts if (found := _SERIES.fullmatch(part)) and not _LABEL.match(part)]
    kinds = {found["kind"] for found in series} - {"filled area"}
    chart = _CHARTS.get(kind := min(kinds), kind) if len(kinds) == 1 else "chart"
    title = labels.get("title") or labels.get("figure")
    subject = f"The {chart}{f' “{title}”' if title else ''}"
    if not series:
        return f"{subject} is empty: nothing is drawn in it." if "nothing is drawn in it" in parts else f"{subject}."
    lines = [_line(found, alone=len(kinds) == 1) for found in series]
    about = _about(labels, chart)
    if about.casefold() == (title or "").casefold():
        about = ""  # the title says it already
    if len(lines) == 1:
        return f"{subject} shows {about}{': ' if about and lines[0] else ''}{lines[0]}".rstrip() + "."
    return "\n".join([f"{subject} shows {about}:" if about else f"{subject} shows:", *(f"- {line}" for line in lines)])


def _about(labels: dict[str, str], chart: str) -> str:
    x, y = labels.get("x"), labels.get("y")
    if x and y:
        return f"{y} {'against' if chart in _AGAINST else 'by'} {x}"
    return y or x or ""


def _line(series: re.Match[str], *, alone: bool) -> str:
    """One series: its name, its description, and its kind if there are others."""
    name = " ".join(filter(None, ("" if alone else series["kind"], f"“{series['name']}”" if series["name"] else "")))
    return ": ".join(filter(None, (name, series["says"].removeprefix("of ").strip())))
