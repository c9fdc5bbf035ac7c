"""Configuration sections of features, which appear in onyx.json beside the built-in ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, Field, create_model

from onyx_jupyter.config.schema import Config

S = TypeVar("S", bound=BaseModel)


@runtime_checkable
class HoldsSecrets(Protocol):
    """A section with secrets of which the base knows nothing."""

    def secrets(self) -> Mapping[str, str]:
        """Value → kind."""
        ...


def with_sections(sections: Mapping[str, type[BaseModel]]) -> type[Config]:
    """The whole configuration extended by these sections; each may be omitted, as a whole or key by key.

    Raises: ValueError if one has the name of a built-in section.
    """
    if not sections:
        return Config
    if taken := Config.model_fields.keys() & sections.keys():
        raise ValueError(f"The configuration already has a section {min(taken)!r}. Give the feature another name.")
    return _extended(tuple(sections.items()))


@cache
def _extended(sections: tuple[tuple[str, type[BaseModel]], ...]) -> type[Config]:
    """One class for the same sections: configurations of different classes never equal each other."""
    fields: dict[str, Any] = {name: (model, Field(default_factory=model)) for name, model in sections}
    return create_model("Config", __base__=Config, **fields)


def section(config: Config, name: str, model: type[S]) -> S:
    """A feature's section; its defaults if the file is not in force."""
    found = getattr(config, name, None)
    return found if isinstance(found, model) else model()
