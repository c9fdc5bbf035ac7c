"""A kernel that runs notebooks as papermill would: values go into a cell below the tagged one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager

from onyx_jupyter.notebook.html_table import markdown_table

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
TIMEOUT_S = 120
# The modules stay imported, since they cost seconds each time; no name does.
CLEAN = "%reset -f"


class Outcome:
    """What a notebook that ran has shown, by the id of the cell; `error` is what ended it before its last cell."""

    def __init__(self) -> None:
        self.outputs: dict[str, list[Mapping[str, Any]]] = {}
        self.error: str | None = None

    def text(self, cell_id: str) -> str:
        """All its words: of a table its plain form, of Markdown its source."""
        return "\n".join(map(_words, self.outputs[cell_id]))

    def table(self, cell_id: str) -> dict[str, dict[str, str]]:
        """The first table of the cell: the name of a row, then of a column."""
        for output in self.outputs[cell_id]:
            table = markdown_table(output.get("data", {}).get("text/html", ""))
            if table is not None:
                head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
                return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}
        raise AssertionError(f"No table: {self.text(cell_id)}")

    def images(self, cell_id: str) -> int:
        return sum("image/png" in output.get("data", {}) for output in self.outputs[cell_id])

    @property
    def warnings(self) -> str:
        """What any cell wrote to stderr."""
        everything = (output for outputs in self.outputs.values() for output in outputs)
        return "\n".join(output["text"] for output in everything if output.get("name") == "stderr")


class Kernel:
    """A kernel whose working folder is `folder`. Each run begins with an empty namespace."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._manager = KernelManager(kernel_name="python3")

    def __enter__(self) -> Kernel:
        self._manager.start_kernel(cwd=str(self._folder))
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=TIMEOUT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def run(self, notebook: str, **values: Any) -> Outcome:
        """The notebook from top to bottom, until a cell fails."""
        outcome = Outcome()
        self._execute(CLEAN, [])
        for cell in nbformat.read(NOTEBOOKS / notebook, as_version=4).cells:
            if cell.cell_type != "code":
                continue
            outcome.error = self._execute(cell.source, outcome.outputs.setdefault(cell.id, []))
            if "parameters" in cell.metadata.get("tags", []):
                self._execute("\n".join(f"{name} = {value!r}" for name, value in values.items()), [])
            if outcome.error is not None:
                break
        return outcome

    def _execute(self, source: str, outputs: list[Mapping[str, Any]]) -> str | None:
        def keep(message: Mapping[str, Any]) -> None:
            if message["msg_type"] in ("stream", "display_data", "execute_result"):
                outputs.append(message["content"])

        reply = self._client.execute_interactive(source, timeout=TIMEOUT_S, output_hook=keep, allow_stdin=False)
        content = reply["content"]
        return None if content["status"] == "ok" else f"{content['ename']}: {content['evalue']}"


def _words(output: Mapping[str, Any]) -> str:
    data = output.get("data", {})
    return str(output.get("text") or data.get("text/markdown") or data.get("text/plain") or "")
