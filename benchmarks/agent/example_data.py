"""The example notebooks and their frames: expected values are computed when an answer is judged."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import nbformat

_NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
WELCOME = _NOTEBOOKS / "welcome.ipynb"
PENGUINS = _NOTEBOOKS / "examples" / "penguins.ipynb"
MAGICS = _NOTEBOOKS / "examples" / "magics.ipynb"


@cache
def customers() -> Any:
    """The frame created by the first code cell of the welcome notebook."""
    cells = nbformat.read(WELCOME, as_version=4).cells
    names: dict[str, Any] = {}
    exec(next(cell.source for cell in cells if cell.cell_type == "code"), names)  # noqa: S102 - this project's own
    return names["customers"]


@cache
def penguins() -> Any:
    """The frame of the package that the other notebooks load."""
    from palmerpenguins import load_penguins

    return load_penguins()
