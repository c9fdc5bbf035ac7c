"""Turns what a person attaches (cells, a selection, files, variables, an error) into the text that the model gets.

It reads through the same interfaces as the tools, and changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from onyx_jupyter.context.file_context import file_text
from onyx_jupyter.errors import NotebookError, OnyxError, PathNotAllowed
from onyx_jupyter.messages import head_and_tail, whole_text
from onyx_jupyter.notebook.cells import cell_label, find_cell
from onyx_jupyter.notebook.kernel_text import inspection_text
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.notebook.seen_cells import SeenCells
from onyx_jupyter.protocols import Cell, Kernels, Notebooks, NotebookView
from onyx_jupyter.security.external_content import Fences, escape_marks
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.sessions.attachments import format_item
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.text_tokens import text_tokens

log = logging.getLogger(__name__)

Item = Mapping[str, Any]
"""One attachment as on the wire: type, path, and, if set, cellId, name, startLine, endLine, text, label."""

TOTAL_CHARS = 32_000
ITEM_CHARS = 12_000
# A small model reads a few hundred tokens a second and forgets the question after a long text.
LIGHT_TOTAL_CHARS = 1_500
OUTPUT_CHARS = 4_000
TIMEOUT_S = 8.0


@dataclass(frozen=True, slots=True)
class _Read:
    """The content of an item. `source` names where its text comes from; anyone may have written it.

    `note` is a text of ours instead, and `cell` the one whose source the text begins with.
    """

    text: str = ""
    label: str | None = None
    source: str = "what the user sent along"
    is_memory: bool = False
    note: str = ""
    problem: str | None = None
    cell: Cell | None = None


class Attachments:
    """Resolves items when they are sent, so that the text is what the person saw.

    An unreadable item does not block the message: it tells the person and the model why it could not be read.
    """

    def __init__(
        self, notebooks: Notebooks, kernels: Kernels | None, redact: Callable[[str], str], key: bytes | None = None
    ) -> None:
        self._notebooks = notebooks
        self._kernels = kernels
        self._redact = redact
        self._fences = Fences(key)

    async def resolve(self, items: Sequence[Item], paths: PathGuard, *, light: bool = False) -> list[dict[str, Any]]:
        """The items with `text` and `tokens`, and `problem` if one could not be read; all within one budget."""
        reading = _Reading(self._notebooks, self._kernels, paths)
        try:
            found = await asyncio.gather(*(reading.read(item) for item in items))
        finally:
            reading.close()
        # Redacted before it is shortened: half a secret is not recognised.
        found = [replace(read, text=head_and_tail(self._redact(whole_text(read.text)), ITEM_CHARS)) for read in found]
        room = split_budget([len(read.text) for read in found], LIGHT_TOTAL_CHARS if light else TOTAL_CHARS)
        return await asyncio.to_thread(lambda: list(map(self._sent, items, found, room)))

    def _sent(self, item: Item, read: _Read, max_chars: int) -> dict[str, Any]:
        text = head_and_tail(read.text, max_chars)
        # Neither cut nor redacted: then the model knows the source, and a write may be based on it.
        known = read.cell if read.cell is not None and text.startswith(_beginning(read.cell)) else None
        if text:
            text = (self._fences.memory if read.is_memory else self._fences.external)(text, read.source)
        text = text or escape_marks(self._redact(read.note))
        seen = known.hash if known is not None else None
        facts = {"text": text, "label": read.label, "problem": read.problem, "hash": seen}
        sent = {**item, "text": None, "hash": None} | {name: value for name, value in facts.items() if value}
        sent = {name: value for name, value in sent.items() if value is not None}
        return sent | {"tokens": text_tokens(format_item(sent))}


def split_budget(lengths: Sequence[int], total: int) -> list[int]:
    """How much to keep of each so that all fit into `total`: short ones whole, long ones an equal share of the rest."""
    shares = [0] * len(lengths)
    left = total
    by_length = sorted(range(len(lengths)), key=lambda place: lengths[place])
    for done, place in enumerate(by_length):
        shares[place] = min(lengths[place], left // (len(lengths) - done))
        left -= shares[place]
    return shares


class _Reading:
    """The state of one `resolve`: each notebook is read once, however many of its cells are attached."""

    def __init__(self, notebooks: Notebooks, kernels: Kernels | None, paths: PathGuard) -> None:
        self._notebooks = notebooks
        self._kernels = kernels
        self._paths = paths
        self._views: dict[str, asyncio.Task[NotebookView]] = {}

    async def read(self, item: Item) -> _Read:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._by_type(item)
        except TimeoutError:
            return _failed(item, "It did not answer in time.")
        except OnyxError as error:
            return _failed(item, str(error))

    def close(self) -> None:
        """Cancels notebook reads that are no longer needed."""
        for view in self._views.values():
            view.cancel()

    async def _by_type(self, item: Item) -> _Read:
        path, text = str(item["path"]).removeprefix("RTC:"), item.get("text")
        match item["type"]:
            case "notebook":
                return _Read()
            case "variable":
                return await self._variable(self._paths.api_path(path), str(item.get("name") or ""))
            case "error":
                return await self._cell(path, item, error_text)
            case "cell" if not text:
                return await self._cell(path, item, cell_text)
            case "file" if not text:
                return await self._file(path)
            case _:  # read by the client itself, as a selection always is
                return _Read(str(text or ""), source=f"{item['type']} of {path}")

    async def _variable(self, path: str, name: str) -> _Read:
        if self._kernels is None:
            raise NotebookError("no_kernel", f"The variables of {path} cannot be read from here.")
        text = inspection_text(await self._kernels.inspect(path, name), name, ITEM_CHARS)[0]
        return _Read(text, source=f"the kernel of {path}")

    async def _cell(self, path: str, item: Item, render: Callable[[Cell], str]) -> _Read:
        view = await self._view(self._paths.api_path(path))
        cell = find_cell(view.cells, str(item.get("cellId") or ""), path)
        return _Read(render(cell), label=cell_label(view, cell.id), source=f"a cell of {path}", cell=cell)

    async def _file(self, path: str) -> _Read:
        text = await asyncio.to_thread(file_text, path, self._paths, ITEM_CHARS)
        real = self._paths.resolve(path)
        own = self._paths.in_workspace(real)
        return _Read(text, source=f"file {self._paths.shown(real)}", is_memory=own)

    def _view(self, path: str) -> Awaitable[NotebookView]:
        if path not in self._views:
            self._views[path] = asyncio.ensure_future(self._notebooks.read(path))
            self._views[path].add_done_callback(_consume_exception)
        return asyncio.shield(self._views[path])


def _consume_exception(view: asyncio.Task[NotebookView]) -> None:
    """Retrieves the exception, so that a failure after the timeout logs no warning."""
    if not view.cancelled():
        view.exception()


def cell_text(cell: Cell) -> str:
    """The cell's source and its outputs, shortened."""
    outputs = render_outputs(cell.outputs, OUTPUT_CHARS).text
    return "\n".join([_beginning(cell), *(["--- output:", outputs] if outputs else [])])


def error_text(cell: Cell) -> str:
    """The cell with its traceback, shortened in the middle. Raises: NotebookError (no_error)."""
    errors = [output for output in cell.outputs if output.get("output_type") == "error"]
    if not errors:
        raise NotebookError("no_error", f"Cell {cell.id} no longer has an error.")
    return "\n".join([_beginning(cell), "--- error:", render_outputs(errors, OUTPUT_CHARS).text])


def mark_sent_as_seen(seen_cells: SeenCells, message: Entry, paths: PathGuard) -> None:
    """Records the cells that a message contains in full as seen by the model that gets it."""
    for item in message.context or ():
        path, cell_id, source_hash = (item.get(name) for name in ("path", "cellId", "hash"))
        if isinstance(path, str) and isinstance(cell_id, str) and isinstance(source_hash, str):
            with suppress(PathNotAllowed):
                seen_cells.wrote(paths.api_path(path.removeprefix("RTC:")), cell_id, source_hash)


def _beginning(cell: Cell) -> str:
    count = f" run [{cell.execution_count}]" if cell.execution_count is not None else ""
    return f"--- {cell.cell_type} id={cell.id} hash={cell.hash}{count}\n{cell.source}"


def _failed(item: Item, problem: str) -> _Read:
    log.info("A %s could not be sent along: %s", item["type"], problem)
    return _Read(note=f"[Not sent: {problem}]", problem=problem)
