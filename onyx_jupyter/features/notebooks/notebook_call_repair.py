"""Repairs calls of the notebook tools: cells named by number or position ("3", "cell 3", "last"), code inside a fence.

A cell that is named ambiguously is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onyx_jupyter.errors import InvalidArguments, OnyxError
from onyx_jupyter.features.notebooks.notebook_access import api_path, opened_cells, plain_id
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.toolsets.call_shapes import without_fence
from onyx_jupyter.toolsets.context import ToolContext

_AFTER = "afterCellId"
_KEYS = ("cellId", _AFTER, "fromCellId", "toCellId")
_NUMBER = re.compile(r"(?:cell)?[ _#-]*(\d{1,4})", re.IGNORECASE)
_PLACE = re.compile(r"(?:the )?(first|last)(?: cell)?", re.IGNORECASE)
_START = frozenset({"0", "start", "beginning", "top"})
_END = frozenset({"", "end", "bottom"})


async def repair(call: ToolCall, context: ToolContext, reads: bool) -> tuple[Mapping[str, Any], Sequence[str]]:
    """The `Repair` of these tools. Raises: InvalidArguments if a number may mean another cell."""
    given, reasons = await by_id(call.name, call.arguments, context, reads=reads)
    bare = await _without_fences(call.name, given, context)
    return bare, [*reasons, *(["without the code fence"] if bare != given else [])]


async def _without_fences(name: str, given: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
    """Removes a fence that a model put around all of a code cell. Source that may be Markdown keeps its fence."""
    key = "code" if name == "kernel_execute" else "source"
    text = given.get(key)
    bare = without_fence(text) if isinstance(text, str) else None
    if bare is None:
        return dict(given)
    is_code = given.get("cellType") == "code" or name == "kernel_execute"
    if is_code or (name == "notebook_edit_cell" and await _is_code_cell(given, context)):
        return {**given, key: bare}
    return dict(given)


async def _is_code_cell(given: Mapping[str, Any], context: ToolContext) -> bool:
    cell_id = str(given.get("cellId"))
    try:
        view = await opened_cells(api_path(str(given.get("path")), context), context, [cell_id])
    except OnyxError:
        return False
    return any(cell.id == cell_id and cell.cell_type == "code" for cell in view.cells)


async def by_id(
    name: str, arguments: Mapping[str, Any], context: ToolContext, *, reads: bool
) -> tuple[dict[str, Any], Sequence[str]]:
    """The arguments with each cell named by id, and the notes on repairs; `reads`: the call changes nothing.

    Raises: InvalidArguments if a number may mean a different cell than the model saw under it.
    """
    inserts = name == "notebook_insert_cell" and isinstance(arguments.get(_AFTER), str)
    if not inserts and not any(map(_is_word, _named(arguments))):
        return dict(arguments), ()
    try:
        path = api_path(str(arguments.get("path", "")), context)
        view = await opened_cells(path, context, ())
    except OnyxError:
        return dict(arguments), ()  # the tool reports the error itself
    ids = [cell.id for cell in view.order]
    seen = None if reads else context.seen_cells.order_of(view.path)
    cells = _Cells(ids, may_count=seen is None or seen == ids)
    placed = _placed(arguments, cells) if _AFTER in arguments and name != "notebook_run_all" else dict(arguments)
    right = {key: cells.found(key, value) for key, value in placed.items()}
    if inserts and right.get(_AFTER) is not None and right[_AFTER] not in ids:
        del right[_AFTER]
        return right, (f"at the end, since there is no cell {arguments[_AFTER][:40]!r}",)
    return right, ()


class _Cells:
    """A notebook's cells in order; `may_count`: the model saw them in this order, or has not seen any yet."""

    def __init__(self, ids: Sequence[str], *, may_count: bool) -> None:
        self.ids = ids
        self._may_count = may_count

    def found(self, key: str, value: Any) -> Any:
        """An argument with ids instead of words. Raises: InvalidArguments."""
        if key == "cellIds" and isinstance(value, list):
            return [self._id(key, one) for one in value]
        return self._id(key, value) if key in _KEYS else value

    def _id(self, key: str, value: Any) -> Any:
        if not isinstance(value, str) or value in self.ids or not self.ids:
            return value
        place, number = _PLACE.fullmatch(value.strip()), _NUMBER.fullmatch(value.strip())
        if place is not None:
            at = 0 if place[1].lower() == "first" else len(self.ids) - 1
        elif number is not None and 1 <= int(number[1]) <= len(self.ids):
            at = int(number[1]) - 1
        else:
            return value
        found = self.ids[at]
        if plain_id(found) != found:  # an id from a file may be prose, which the model would take for ours
            return value
        if number is None or self._may_count:
            return found
        raise InvalidArguments(
            f"`{key}` is {value!r}, a number, but cells have moved since you last saw them. Cell {number[1]} is now "
            f"{plain_id(found)}. If you mean that one, use its id."
        )


def _placed(arguments: Mapping[str, Any], cells: _Cells) -> dict[str, Any]:
    """Translates words for the start and the end into `atStart` or a missing `afterCellId`."""
    after = arguments[_AFTER]
    others = {key: value for key, value in arguments.items() if key != _AFTER}
    word = after.strip().lower() if isinstance(after, str) and after not in cells.ids else None
    if word in _START and not arguments.get("atStart"):
        return {**others, "atStart": True}
    return others if word in _END else dict(arguments)


def _named(arguments: Mapping[str, Any]) -> Iterator[Any]:
    yield from (arguments[key] for key in _KEYS if key in arguments)
    several = arguments.get("cellIds")
    yield from several if isinstance(several, list) else ()


def _is_word(value: Any) -> bool:
    """Whether it looks like a number or a position rather than an id."""
    if not isinstance(value, str):
        return False
    word = value.strip()
    return bool(_NUMBER.fullmatch(word) or _PLACE.fullmatch(word)) or word.lower() in _START | _END
