"""What every section has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from onyx_jupyter.events import to_camel


class Section(BaseModel):
    """camelCase in the file, snake_case here, unknown keys refused."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, allow_inf_nan=False
    )
