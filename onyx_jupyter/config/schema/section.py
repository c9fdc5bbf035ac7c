"""What every section has in common, and what holds in place of a value that is refused."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from onyx_jupyter.events import to_camel

# Stand for an address, a model and a key that cannot be read: whatever asked the usual ones instead would send a
# conversation elsewhere. No name below `.invalid` ever resolves (RFC 2606).
REFUSED_ADDRESS = "https://refused.invalid"
REFUSED_MODEL = "refused/refused"
REFUSED_KEY = "refused-by-onyx"
ANY_PROVIDER = "*"

ModelId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[^\s/]+/\S+$")]


class Section(BaseModel):
    """camelCase in the file, snake_case here, unknown keys refused."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, allow_inf_nan=False
    )


class Entry(Enum):
    """`REFUSED` instead of a value: the whole entry of the list is refused."""

    REFUSED = "this entry has no effect"


@dataclass(frozen=True)
class IfRefused:
    """Marks a key of which the default would allow more than what may have been meant.

    `value` (as in the file) holds where the key's own value, or the section that should contain it, cannot be read; at
    a section, where anything in it cannot be read. `words` say so to the user.
    """

    value: Any
    words: str | None = None


def conflict(message: str, *key: str | int) -> PydanticCustomError:
    """An error of a key that is valid by itself, for a validator to raise; `key` is the path from its section."""
    return PydanticCustomError("conflict", "{message}", {"message": message, "key": key})


def is_section(kind: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def field_named(section: type[BaseModel], key: str) -> FieldInfo | None:
    """The field of that key, also by its name here: the file may have either."""
    return next((info for name, info in section.model_fields.items() if key in (info.alias or name, name)), None)


def value_type(field: FieldInfo | None) -> Any:
    """The type of a field's value, without what else it may be: None, constraints, marks."""
    kind = _bare(field.annotation) if field else Any
    if get_origin(kind) in (Union, UnionType):
        kinds = [_bare(one) for one in get_args(kind) if one is not NoneType]
        return kinds[0] if len(kinds) == 1 else kind
    return kind


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind
