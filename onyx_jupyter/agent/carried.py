"""What providers want back with the results of their models' calls, kept in memory for one run and written nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onyx_jupyter.messages import CarriedFields, Message, ToolCall


@dataclass(slots=True)
class _Kept:
    """`made` is `given`, as the transcript has it, with the fields: the same one again as long as that is unchanged."""

    fields: CarriedFields
    given: Message | None = None
    made: Message | None = None


class CarriedInRun:
    """The fields of one run's replies, found again by the ids of their calls. After a restart there are none."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], _Kept] = {}

    def keep(self, calls: Sequence[ToolCall], model_id: str, fields: Mapping[str, Any] | None) -> None:
        """Keeps the fields of that model's reply; a reply without calls has no results, so nothing is to go back."""
        if calls and fields:
            self._kept[_ids(calls)] = _Kept(CarriedFields(model_id, fields))

    def given_back(self, messages: Sequence[Message]) -> list[Message]:
        """The messages, with its fields on each reply that has any."""
        return [self._with_fields(message) for message in messages]

    def _with_fields(self, message: Message) -> Message:
        kept = self._kept.get(_ids(message.tool_calls)) if message.tool_calls else None
        if kept is None:
            return message
        if kept.made is None or kept.given is not message:
            kept.given, kept.made = message, replace(message, carried=kept.fields)
        return kept.made


def _ids(calls: Sequence[ToolCall]) -> tuple[str, ...]:
    return tuple(call.id for call in calls)
