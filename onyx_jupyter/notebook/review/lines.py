"""The lines of a file of changes: what was planned, what was done, what a user decided. It does no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from onyx_jupyter.events import to_camel

BESIDE = 10
EffectKind = Literal["insert", "edit", "delete", "move", "restore", "run"]
Verdict = Literal["accept", "reject", "undo", "put_back"]


@dataclass(frozen=True, slots=True)
class LineReference:
    """A line's position in its file, for parts that are not in memory. `number` is the index of an effect in it."""

    file: Path
    offset: int
    length: int
    number: int = 0


class _Part(BaseModel):
    """camelCase in the file; what a later version adds is passed over."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)


class Effect(_Part):
    """What one change did to one cell. Of `before` and `after` only that is kept which the change could touch.

    `above` are the ids over the place that a moved or deleted cell left, nearest first; `place` is the id over the one
    where a move put it, `now_above` and `now_below` are those around that place, nearest first and `BESIDE` at most.
    `after` of a run is None where nobody knows how it ended. `kept` says where to read outputs that `before` has there.
    """

    cell_id: str
    kind: EffectKind
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    above: tuple[str, ...] | None = None
    place: str | None = None
    now_above: tuple[str, ...] | None = None
    now_below: tuple[str, ...] | None = None
    outputs_left_out: bool = False
    kept: LineReference | None = Field(default=None, exclude=True)


class _Line(_Part):
    """`path` stands right behind `kind`, so that a file can be asked for its notebooks without reading all of it."""

    schema_version: Literal[1] = Field(default=1, alias="schema_version")
    kind: str
    path: str
    id: str


class ChangeStarted(_Line):
    """On disk before the notebook is touched. `revert_id` names a person's undo, reject or putting back.

    `creates` says that the notebook itself is made, with the inserted cells in it.
    """

    kind: Literal["begun"] = "begun"
    ts: str
    run_id: str
    call_id: str = ""
    revert_id: str | None = None
    creates: bool = False
    effects: tuple[Effect, ...]


class Done(_Line):
    """The notebook's own answer to the change of that id: it counts instead of what was expected.

    `path` is another one than where it began, where the notebook was renamed in between.
    """

    kind: Literal["done"] = "done"
    effects: tuple[Effect, ...]


class ChangeRefused(_Line):
    """The change, or the removal, of that id was refused: nothing happened."""

    kind: Literal["not_done"] = "not_done"


class Removed(_Line):
    """A revert is about to take a notebook away that its run had made; `cells` are all that stand in it.

    In memory they are but their ids where `kept` says where to read them.
    """

    kind: Literal["removed"] = "removed"
    ts: str
    run_id: str
    revert_id: str
    cells: tuple[dict[str, Any], ...]
    kernel_name: str | None = None
    kept: LineReference | None = Field(default=None, exclude=True)


class Reverting(_Line):
    """A person's undo is about to change the notebook. Once it has, they are taken to have decided about `cells`."""

    kind: Literal["reverting"] = "reverting"
    ts: str
    run_id: str
    by: str
    cells: tuple[str, ...]
    revert_id: str


class UserDecision(_Line):
    """A person's word about cells that a run changed. No cells: about the run as a whole."""

    kind: Literal["decided"] = "decided"
    ts: str
    run_id: str
    what: Verdict
    by: str
    cells: tuple[str, ...]
    revert_id: str | None = None


class Renamed(_Line):
    """From here on the notebook, or the folder, at `from_path` is found at `path`."""

    kind: Literal["renamed"] = "renamed"
    from_path: str


Line = ChangeStarted | Done | ChangeRefused | Removed | Reverting | UserDecision | Renamed
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])


def to_json(line: Line) -> dict[str, Any]:
    """The line as it is written: `kind` and `path` first."""
    dumped = line.model_dump(by_alias=True, exclude_none=True)
    head = {"schema_version": dumped.pop("schema_version"), "kind": dumped.pop("kind"), "path": dumped.pop("path")}
    return head | dumped


def from_json(objects: Iterable[Mapping[str, Any]]) -> tuple[list[Line], int]:
    """The lines that this version understands, in order, and the number of those it doesn't."""
    lines: list[Line] = []
    unknown = 0
    for item in objects:
        try:
            lines.append(_LINE.validate_python(item))
        except ValidationError:
            unknown += 1
    return lines, unknown
