"""What a notebook's plots show: its cells are run again in a process that keeps every figure.

A picture in an output says nothing of its axes; the figure that it was made of does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.agent.task import NbCell

_TIMEOUT_S = 180
_ROOT = Path(__file__).parents[2]
# They would choose another backend, or ask Onyx.
_LEFT_OUT = re.compile(r"^\s*%+(matplotlib|onyx|load_ext onyx).*$", re.MULTILINE)
_NAMED = re.compile(r"\w")


@dataclass(frozen=True)
class Picture:
    """The axes of a figure: their `labels` (axes, title), the `names` at ticks and in legends, what is drawn.

    `heights` are those of bars (lengths of lying ones) and the y of lines; `points` counts what is scattered, in
    `colours` different ones.
    """

    labels: list[str]
    names: list[str]
    heights: list[float]
    points: int
    colours: int


def pictures_of(cells: Sequence[NbCell], wanted: frozenset[str]) -> list[Picture]:
    """The figures of the given cells, when the notebook is run from top to bottom. Raises: RuntimeError."""
    code = [[cell["id"] in wanted, cell["source"]] for cell in cells if cell["cell_type"] == "code"]
    with tempfile.TemporaryDirectory(prefix="onyx-bench-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.agent.pictures"],
            input=json.dumps(code),
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(_ROOT), "MPLBACKEND": "Agg", "IPYTHONDIR": folder},
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"The notebook could not be run again: {done.stderr[-1000:]}")
    return [Picture(**found) for found in json.loads(done.stdout.splitlines()[-1])]


def _run(code: Sequence[tuple[bool, str]]) -> list[Picture]:
    import matplotlib.pyplot as plt
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    found = []
    for is_wanted, source in code:
        plt.close("all")
        shell.run_cell(_LEFT_OUT.sub("", source))  # a cell that fails leaves the others as they are, as in JupyterLab
        if is_wanted:
            found += [_picture(plt.figure(number)) for number in plt.get_fignums()]
    return [picture for picture in found if picture is not None]


def _picture(figure: Any) -> Picture | None:
    """None if nothing is drawn."""
    if not figure.axes:
        return None
    figure.canvas.draw()  # ticks get their names when they are drawn
    labels, names, heights, points, colours = [], [], [], 0, set()
    for axes in figure.axes:
        labels += [axes.get_xlabel(), axes.get_ylabel(), axes.get_title()]
        names += [tick.get_text() for tick in (*axes.get_xticklabels(), *axes.get_yticklabels())]
        legend = axes.get_legend()
        names += [text.get_text() for text in legend.get_texts()] if legend else []
        for bars in axes.containers:
            lie = getattr(bars, "orientation", "vertical") == "horizontal"
            heights += [float(bar.get_width() if lie else bar.get_height()) for bar in getattr(bars, "patches", [])]
        heights += [float(y) for line in axes.get_lines() for y in line.get_ydata()]
        for scattered in axes.collections:
            points += len(scattered.get_offsets())
            colours |= {tuple(colour) for colour in scattered.get_facecolors()}
        points += sum(len(line.get_xdata()) for line in axes.get_lines() if line.get_linestyle() == "None")
        colours |= {str(line.get_color()) for line in axes.get_lines() if line.get_linestyle() == "None"}
    said = [[text for text in texts if _NAMED.search(text)] for texts in (labels, names)]
    return Picture(*said, heights, points, len(colours))


if __name__ == "__main__":
    drawn = _run(json.load(sys.stdin))
    print("\n" + json.dumps([asdict(picture) for picture in drawn]))
