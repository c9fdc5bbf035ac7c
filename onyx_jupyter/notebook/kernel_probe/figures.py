"""Notes what the figures hold that a cell displays. It runs in the kernel, around one cell at a time.

IPython closes a figure as soon as it is shown, so it is read at that moment: where displays are formatted. What is
shown stays as it is, and nothing listens any more once the cell has been asked about, or some cells later.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import Look, is_a, loaded
from onyx_jupyter.notebook.kernel_probe.axes import describe_axes, is_known_artist

_MAX_FIGURES = 6
_MAX_AXES = 6
_MAX_CHARS = 1_500
_CELLS = 20
_HOLDS = "onyx_figures"


def watch_figures(shell: Any, question: dict[str, Any], look: Look) -> dict[str, Any]:
    """From now on, until it was asked about as often as it was told to watch."""
    formatter, held = shell.display_formatter, _held(shell)
    if held is None:
        held = {"waiting": 0, "drawn": []}
        vars(formatter)["format"] = _listening(shell, formatter, formatter.format, held)
    held["waiting"] += 1
    held["since"] = _cell_number(shell)
    return {"watching": True}


def drawn_figures(shell: Any, question: dict[str, Any], look: Look) -> dict[str, Any]:
    """What the cell of that number has drawn, a text for each of its axes."""
    held = _held(shell)
    if held is None:
        return {"figures": []}
    held["waiting"] -= 1
    if held["waiting"] <= 0:
        vars(shell.display_formatter).pop("format", None)
    lines = [line for number, told in held["drawn"] if number == question["number"] for line in told]
    return {"figures": list(dict.fromkeys(lines))}


def _held(shell: Any) -> Any:
    return getattr(vars(shell.display_formatter).get("format"), _HOLDS, None)


def _cell_number(shell: Any) -> int:
    """Of the cell that runs, also while IPython tells its callbacks that it has ended."""
    return len(shell.history_manager.input_hist_raw) - 1


def _listening(shell: Any, formatter: Any, plain: Any, held: dict[str, Any]) -> Any:
    def listening(value: Any, *arguments: Any, **named: Any) -> Any:
        shown = plain(value, *arguments, **named)  # drawn by this, so that its ticks are where they are
        with contextlib.suppress(Exception):  # a figure without a description is still a figure
            number = _cell_number(shell)
            if number > held["since"] + _CELLS:
                vars(formatter).pop("format", None)  # whoever asked for it has gone
            elif _is_figure(value) and sum(one == number for one, _ in held["drawn"]) < _MAX_FIGURES:
                held["drawn"] = [one for one in held["drawn"] if one[0] > number - _CELLS]
                held["drawn"].append((number, _describe_figure(value)))
        return shown

    setattr(listening, _HOLDS, held)
    return listening


def _is_figure(value: Any) -> bool:
    kind: Any = loaded("matplotlib.figure", "Figure")
    return isinstance(kind, type) and is_a(type(value), (kind,)) and is_known_artist(value)


def _describe_figure(figure: Any) -> list[str]:
    """One text for each of its axes; those that only hold a scale of colours are left out."""
    shown = [axes for axes in figure.axes if axes.get_visible() and axes.get_label() != "<colorbar>"]
    heading = getattr(figure, "_suptitle", None)
    above = f'figure "{heading.get_text()[:80]}"; ' if heading is not None and heading.get_text().strip() else ""
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at, axes in enumerate(shown[:_MAX_AXES], 1):
            which = f"axes {at} of {len(shown)}; " if len(shown) > 1 else ""
            if is_known_artist(axes):
                told.append(f"{above}{which}{describe_axes(axes)}"[:_MAX_CHARS])
    return told
