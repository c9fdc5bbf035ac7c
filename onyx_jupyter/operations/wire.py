"""The common base of all parameters, results and events that leave the process."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from onyx_jupyter.events import to_camel


class Wire(BaseModel):
    """camelCase on the wire, snake_case here, nothing unknown accepted."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class NoParams(Wire):
    pass


class Ok(Wire):
    ok: bool


class RunData(Wire):
    """What every event of a run carries, `chat.delta`, `chat.thought` and `tool.draft` aside."""

    run_id: str
    session_key: str
    seq: int
