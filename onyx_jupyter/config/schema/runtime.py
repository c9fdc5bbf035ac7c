"""`runtime` and `heartbeat`."""

from __future__ import annotations

from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator

from onyx_jupyter.config.schema.section import IfRefused, ModelId, Section

TIME_OF_DAY = r"^([01]\d|2[0-3]):[0-5]\d$|^24:00$"


class LoopDetectionConfig(Section):
    """When calls that lead nowhere are pointed out to the model, and when they end the run."""

    enabled: bool = Field(default=True, description="whether to detect repeated calls")
    window: int = Field(default=30, ge=2, le=500, description="number of recent calls to check")
    warn_at: int = Field(default=3, ge=2, description="identical calls before the model is warned")
    stop_at: int = Field(default=6, ge=2, description="identical calls before the run is stopped")


class CompactionConfig(Section):
    """When an older part of a conversation is summed up, and how much of the newest stays whole."""

    enabled: bool = Field(
        default=True, description="false: shorten a conversation only when a provider rejects it as too long"
    )
    reserve_tokens: int = Field(
        default=20_000, ge=0, description="tokens kept free for the answer; at most a quarter of the context window"
    )
    keep_recent_tokens: int = Field(default=20_000, ge=0, description="tokens of the newest part to keep in full")
    keep_turns: int = Field(
        default=3, ge=1, description="number of your newest messages to keep in full, with everything after them"
    )


class RetryConfig(Section):
    """How often and how long a provider that is busy, late or down is asked again."""

    attempts: int = Field(
        default=3, ge=1, le=10, description="total number of attempts; no retry once part of an answer has been shown"
    )
    max_wait_ms: int = Field(
        default=30_000,
        ge=0,
        description="longest wait between attempts, in milliseconds; if the provider asks for more, the call fails",
    )
    timeout_ms: int = Field(
        default=120_000, ge=100, description="milliseconds without data from the provider before a call fails"
    )


class CircuitBreakerConfig(Section):
    """When a provider that keeps failing is left alone."""

    failures: int = Field(default=3, ge=1, description="consecutive failed requests, each including its retries")
    pause_ms: int = Field(default=60_000, ge=0, description="milliseconds before the provider is tried again")


class RuntimeConfig(Section):
    """What keeps the answer to one message (a run) within bounds."""

    max_turns: int = Field(
        default=20, ge=1, le=500, description="model calls in one run; after that, one last call without tools"
    )
    default_timeout_ms: int = Field(
        default=300_000,
        ge=1000,
        description="time limit for one run, in milliseconds, not counting time spent waiting for you or running cells",
    )
    max_tokens_per_run: Annotated[int | None, IfRefused(1000)] = Field(
        default=None, ge=1000, description="limit on input and output tokens in one run; default: none"
    )
    default_model: ModelId | None = Field(
        default=None, description="the model that answers; also `agents.defaults.model`; default: one of this machine"
    )
    heartbeat_model: ModelId | None = Field(
        default=None, description="for heartbeats; also `heartbeat.model`; default: the default model"
    )
    cron_model: ModelId | None = Field(default=None, description="for scheduled jobs; default: the default model")
    subagent_model: ModelId | None = Field(
        default=None, description="for agents started by an agent; default: the default model; not used yet"
    )
    consolidation_model: ModelId | None = Field(
        default=None,
        description="reviews conversations for things to remember; also `memory.consolidationModel`; default: the "
        "conversation's own, unless it is a small one",
    )
    completion_model: ModelId | None = Field(
        default=None, description="completes code while you type; default: the default model; not used yet"
    )
    embedding_model: ModelId | None = Field(
        default=None,
        description="makes embeddings; also `memory.embeddingModel`; text is sent to an API only if one of them is "
        "set; default: Ollama's `nomic-embed-text`",
    )
    when_busy: Literal["steer", "followup", "interrupt"] = Field(
        default="steer", description="what a message sent during a run does: join it, wait for it to end, or stop it"
    )
    memory_search_top_k: int = Field(
        default=6, ge=1, le=100, description="maximum number of passages in a search result"
    )
    loop_detection: LoopDetectionConfig = Field(default_factory=LoopDetectionConfig)
    compaction: CompactionConfig = Field(default_factory=CompactionConfig)
    retry: RetryConfig = Field(default_factory=RetryConfig)
    circuit_breaker: CircuitBreakerConfig = Field(default_factory=CircuitBreakerConfig)


class ActiveHours(Section):
    """When heartbeats may happen."""

    start: str = Field(default="00:00", pattern=TIME_OF_DAY, description="first minute of the day with heartbeats")
    end: str = Field(
        default="24:00", pattern=TIME_OF_DAY, description="first minute without; earlier than `start`: on the next day"
    )
    tz: str | None = Field(default=None, description="a time zone such as Europe/Vienna; default: that of `schedule`")

    @field_validator("tz")
    @classmethod
    def _is_known(cls, name: str | None) -> str | None:
        try:
            return name and ZoneInfo(name).key
        except (ValueError, OSError, KeyError) as error:  # ZoneInfoNotFoundError is a KeyError
            raise ValueError(f"{name!r} is not a time zone. Example: Europe/Vienna") from error


class HeartbeatConfig(Section):
    """What each agent looks after by itself, by its HEARTBEAT.md; an agent with an empty one asks no model."""

    enabled: Annotated[bool, IfRefused(False)] = Field(default=True, description="false: no heartbeats")
    interval_ms: int = Field(default=1_800_000, ge=1000, description="milliseconds from one heartbeat to the next")
    active_hours: ActiveHours | None = Field(default=None)
    quiet_mode: bool = Field(
        default=False, description="true: what a heartbeat says waits in the log, and is not said in the conversation"
    )
    model: ModelId | None = Field(default=None, description="provider/model; `runtime.heartbeatModel` overrides it")
