"""The example notebook that asks from its cells runs from top to bottom beside a server."""

import json

import nbformat

from tests.e2e.stage import Stage
from tests.magics.cells import Cells
from tests.notebooks.kernel import NOTEBOOKS


def test_example_asks_about_frame_and_uses_answer(kernel: Cells, stage: Stage) -> None:
    cells = nbformat.read(NOTEBOOKS / "examples" / "magics.ipynb", as_version=4).cells
    stage.play("Gentoo penguins are.", json.dumps({"heaviest": "Gentoo", "mass_g": 5076}))
    shown = {}
    for cell in cells:
        if cell.cell_type == "code":
            ran = kernel.run(cell.source)
            assert ran.status == "ok", ran.traceback
            shown[cell.id] = ran
    assert shown["ask"].markdown == "Gentoo penguins are."
    assert shown["check"].stdout == "Gentoo: 5076 g, and the table says 5076.0 g\n"
    asked = [json.dumps(request.body["messages"][-1]) for request in stage.asked]
    assert all("bill_length_mm" in text and "5076.0" in text for text in asked)
