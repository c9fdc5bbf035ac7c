"""What a scheduled job is: when it runs, what it does, in which conversation, and what it may do unattended."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.events import to_camel
from onyx_jupyter.schedule.cron import check_cron, check_zone

SessionTarget = Literal["main", "isolated"]
Wake = Literal["now", "heartbeat"]
MAX_NAME_CHARS = 120
MAX_TEXT_CHARS = 20_000
MAX_CALLS = 20
MAX_EVERY_MS = 10 * 366 * 86_400_000
_YEARS = range(1970, 9000)


def _is_of_our_time(moment: datetime) -> datetime:
    """So that every zone's clocks can show it, and what is counted from it."""
    if moment.year not in _YEARS:
        raise ValueError(f"the year {moment.year} is not one of {_YEARS[0]} to {_YEARS[-1]}")
    return moment


Moment = Annotated[AwareDatetime, AfterValidator(_is_of_our_time)]


class _Part(BaseModel):
    """camelCase in the file and on the wire, unknown keys refused."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class At(_Part):
    """Once."""

    kind: Literal["at"] = "at"
    at: Moment


class Every(_Part):
    """At `anchor` + n × `every_ms`, for n from 1: never counted from the end of the last run, so it doesn't drift."""

    kind: Literal["every"] = "every"
    every_ms: int = Field(ge=1000, le=MAX_EVERY_MS)
    anchor: Moment


class Cron(_Part):
    """By a cron expression (five fields, or `@daily` and the like), on the clocks of the time zone `tz`."""

    kind: Literal["cron"] = "cron"
    cron: str
    tz: str

    @field_validator("cron")
    @classmethod
    def _is_possible(cls, expression: str) -> str:
        check_cron(expression)
        return expression

    @field_validator("tz")
    @classmethod
    def _is_known(cls, zone: str) -> str:
        check_zone(zone)
        return zone


Schedule = Annotated[At | Every | Cron, Field(discriminator="kind")]


class PlannedCall(_Part):
    """A tool call that is made without asking a model."""

    tool: str = Field(min_length=1, max_length=64)
    arguments: dict[str, Any] = Field(default_factory=dict)


class Job(_Part):
    """It sends a `message`, makes `tool_calls`, or runs the notebook `skill` with its `parameters`: one of these.

    `synthesis_prompt` tells a model what to make of the calls' results; without one, no model is asked. `target_reason`
    says why it runs in the main session or in one of its own. `policy` lists tools and families that it may use with
    nobody there. `wake` is when a job of the main session starts: now, or with the next heartbeat. With `catch_up`, the
    newest run that was missed is made up for.
    """

    id: str = Field(pattern=r"^[0-9A-Za-z_-]{1,64}$")
    name: str = Field(min_length=1, max_length=MAX_NAME_CHARS)
    agent_id: str = "main"
    schedule: Schedule
    message: str | None = Field(default=None, min_length=1, max_length=MAX_TEXT_CHARS)
    tool_calls: tuple[PlannedCall, ...] = Field(default=(), max_length=MAX_CALLS)
    skill: str | None = Field(default=None, min_length=1, max_length=64)
    parameters: dict[str, Any] = Field(default_factory=dict)
    synthesis_prompt: str | None = Field(default=None, min_length=1, max_length=MAX_TEXT_CHARS)
    session_target: SessionTarget = "isolated"
    target_reason: str = Field(default="", max_length=300)
    model: str | None = Field(default=None, pattern=r"^[^\s/]+/\S+$")
    policy: tuple[str, ...] = Field(default=(), max_length=100)
    wake: Wake = "now"
    enabled: bool = True
    catch_up: bool = False
    created_at: Moment

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        given = [bool(self.message), bool(self.tool_calls), bool(self.skill)]
        if sum(given) != 1:
            raise ValueError("a job has a `message`, `toolCalls` or a `skill`, and only one of them")
        if self.parameters and not self.skill:
            raise ValueError("`parameters` belong to a `skill`")
        if self.synthesis_prompt and self.message:
            raise ValueError("`synthesisPrompt` belongs to `toolCalls` or a `skill`")
        return self

    def to_json(self) -> dict[str, Any]:
        """As in the file; what equals its default is left out."""
        whole = self.model_dump(mode="json", by_alias=True)
        short = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {**short, "schedule": whole["schedule"]}


_MAIN_WORDS = (
    "remind",
    "we talked",
    "we discussed",
    "our conversation",
    "this conversation",
    "as discussed",
    "tell me",
)


def choose_target(message: str | None) -> tuple[SessionTarget, str]:
    """Where a job runs if nobody said so, and why, in words for the user."""
    if message is None:
        return "isolated", "it runs tools and needs no conversation"
    text = message.casefold()
    word = next((word for word in _MAIN_WORDS if word in text), None)
    if word is not None:
        return "main", f"it says “{word}”, so its answer belongs in your conversation"
    return "isolated", "it can be done without your conversation"


def job_of(given: dict[str, Any]) -> Job:
    """Raises: InvalidRequest, with the key and the reason."""
    try:
        return Job.model_validate(given)
    except ValidationError as error:
        raise InvalidRequest(reason_of(error)) from error


def reason_of(error: ValidationError) -> str:
    """The first thing that is wrong, as a sentence."""
    first = error.errors(include_url=False)[0]
    place = [str(part) for part in first["loc"]]
    if place[:1] == ["schedule"]:
        del place[1:2]  # the kind
    words = words_of(error)
    return f"`{'.'.join(place)}`: {words}." if place else f"{words[:1].upper()}{words[1:]}."


def words_of(error: ValidationError) -> str:
    """What is wrong first, without its place."""
    return str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ").rstrip(".")
