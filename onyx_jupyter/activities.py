"""How a tool describes itself: a label made from a call's arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from onyx_jupyter.messages import Label, Link, ObjectKind, first_line

OBJECT_CHARS = 300
Opens = Literal["file", "memory"]


@dataclass(frozen=True, slots=True)
class Activity:
    """`action` is a key of the table in `action_words`, `of` the argument that it applies to, or several with spaces.

    `when` holds (argument, value, action): the first entry whose argument has that value provides the action instead.
    `counted` is the argument whose distinct items are counted. `opens` is what a screen may link to when it is done:
    the file or the lines of memory given by `path`. `otherwise` is shown if `of` is omitted.
    """

    action: str
    of: str = ""
    kind: ObjectKind = "text"
    when: tuple[tuple[str, Any, str], ...] = ()
    counted: str = ""
    opens: tuple[Opens, ...] = ()
    otherwise: str = ""

    def label(self, arguments: Mapping[str, Any], *, is_done: bool = False) -> Label:
        """The label of a call with these arguments, which may be anything that a model sent."""
        named = (action for name, value, action in self.when if arguments.get(name) == value)
        items = arguments.get(self.counted) if self.counted else None
        return Label(
            action=next(named, self.action),
            object=_object([arguments.get(name) for name in self.of.split()], self.kind) or self.otherwise,
            object_kind=self.kind,
            count=len({str(item) for item in items}) if isinstance(items, list | tuple) else None,
            links=(*cell_links(arguments), *(self._opened(arguments) if is_done else ())),
        )

    def _opened(self, arguments: Mapping[str, Any]) -> tuple[Link, ...]:
        path = arguments.get("path")
        if not isinstance(path, str) or not path or path.startswith("/"):
            return ()
        if "memory" not in self.opens:
            return (Link("file", path),) if self.opens else ()
        plain = path.removeprefix("onyx:")
        first, count = arguments.get("from"), arguments.get("lines")
        lines = (first, first + (count if isinstance(count, int) else 1) - 1) if isinstance(first, int) else None
        files = (Link("file", f"onyx:{plain}"),) if "file" in self.opens else ()
        return (Link("memory", plain, lines=lines), *files)


def cell_links(arguments: Mapping[str, Any]) -> tuple[Link, ...]:
    """Links to the cell that a call names."""
    path, cell_id = arguments.get("path"), arguments.get("cellId")
    if not isinstance(path, str) or not path or not isinstance(cell_id, str) or not cell_id:
        return ()
    return (Link("cell", path, cell_id),)


def _object(values: Sequence[Any], kind: ObjectKind) -> str:
    text = " ".join(value[: 4 * OBJECT_CHARS] for value in values if isinstance(value, str))
    return first_line(text if kind == "code" else " ".join(text.split()), OBJECT_CHARS)
