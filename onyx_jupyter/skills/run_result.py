"""Selects the result of a run: the outputs in its executed copy that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.skills.notebook_skill import tags_of

RESULT_TAG = "result"

Output = Mapping[str, Any]


def result_outputs(notebook: Mapping[str, Any], status: str) -> list[Output]:
    """The outputs of cells tagged `result`, else of the last cell with any; after a failure, of the failed cell.

    Cells that were not reached have none.
    """
    cells = [cell for cell in notebook.get("cells", ()) if cell.get("cell_type") == "code"]
    with_outputs = [cell for cell in cells if cell.get("outputs")]
    if status != "ok":
        failed = [cell for cell in with_outputs if _has_error(cell["outputs"])]
        return list((failed or with_outputs)[-1]["outputs"]) if with_outputs else []
    tagged = [cell for cell in cells if RESULT_TAG in tags_of(cell)]
    chosen = tagged or with_outputs[-1:]
    return [output for cell in chosen for output in cell.get("outputs") or ()]


def _has_error(outputs: Sequence[Output]) -> bool:
    return any(output.get("output_type") == "error" for output in outputs)
