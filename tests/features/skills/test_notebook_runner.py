"""What an executed copy keeps of its outputs: within bounds, however they come."""

import json
from typing import Any

import nbformat
import pytest

from onyx_jupyter.features.skills import notebook_runner as skill_notebook
from onyx_jupyter.features.skills.notebook_runner import LEFT_OUT, SkillNotebook, notebook_client
from tests.skills.notebooks import cell, notebook

MOST = 1000


class Kernel:
    """Sends what a kernel would to a notebook of two cells."""

    def __init__(self) -> None:
        self.nb = nbformat.from_dict(notebook([cell("1"), cell("2")]))
        self.client = notebook_client(SkillNotebook({"notebook": self.nb}, lambda said: None))
        self.client.clear_before_next_output = False  # as at the beginning of each cell

    def sends(self, kind: str, index: int = 0, text: str = "", display_id: str | None = None, **content: Any) -> None:
        data = {"data": {"text/plain": text}, "metadata": {}, **content} if kind.endswith("data") else content
        transient = {"transient": {"display_id": display_id}} if display_id else {}
        message = {"msg_type": kind, "header": {"msg_type": kind}, "parent_header": {"msg_id": "m"}}
        self.client.process_message({**message, "content": {**data, **transient}}, self.nb.cells[index], index)

    def kept(self) -> int:
        return sum(len(json.dumps(made.outputs)) for made in self.nb.cells)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    monkeypatch.setattr(skill_notebook, "MAX_CELL_BYTES", MOST)
    monkeypatch.setattr(skill_notebook, "MAX_NOTEBOOK_BYTES", 2 * MOST)
    return Kernel()


def test_update_cannot_exceed_output_limit(kernel: Kernel) -> None:
    kernel.sends("display_data", text="small", display_id="a")
    kernel.sends("display_data", index=1, text="small", display_id="a")
    for _ in range(3):
        kernel.sends("update_display_data", index=1, text="x" * 50 * MOST, display_id="a")
    assert kernel.kept() < 3 * MOST
    assert [made["text"] for made in kernel.nb.cells[1].outputs if "text" in made] == [LEFT_OUT]
    kernel.sends("update_display_data", index=1, text="later", display_id="a")
    assert [made.outputs[0].data["text/plain"] for made in kernel.nb.cells] == ["later", "later"]


def test_updates_count_towards_limit(kernel: Kernel) -> None:
    kernel.sends("display_data", text="small", display_id="a")
    for _ in range(20):
        kernel.sends("update_display_data", text="x" * 600, display_id="a")  # in place of one another
    assert len(kernel.nb.cells[0].outputs[0].data["text/plain"]) == 600
    kernel.sends("display_data", text="y" * 600)
    assert kernel.kept() < 2 * MOST
    assert kernel.nb.cells[0].outputs[-1]["text"] == LEFT_OUT


@pytest.mark.parametrize("wait", [False, True])
def test_cleared_output_frees_its_budget(kernel: Kernel, wait: bool) -> None:
    for number in range(20):
        kernel.sends("display_data", text=f"{number} " + "x" * 600)
        kernel.sends("clear_output", wait=wait)
    kernel.sends("display_data", text="the last".ljust(600))
    assert [made.data["text/plain"] for made in kernel.nb.cells[0].outputs] == ["the last".ljust(600)]


def test_metadata_counts(kernel: Kernel) -> None:
    for _ in range(20):
        kernel.sends("display_data", text="small", metadata={"note": "m" * 600})
    assert kernel.kept() < 2 * MOST
    assert kernel.nb.cells[0].outputs[-1]["text"] == LEFT_OUT


def test_update_leaves_replacement_of_its_output_alone(kernel: Kernel) -> None:
    kernel.sends("display_data", text="small", display_id="a")
    kernel.nb.cells[0].outputs[:] = [nbformat.v4.new_output("stream", text="joined")]
    kernel.sends("update_display_data", text="other", display_id="a")
    assert [dict(output) for output in kernel.nb.cells[0].outputs] == [
        {"output_type": "stream", "name": "stdout", "text": "joined"}
    ]
