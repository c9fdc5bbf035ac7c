"""`security` and `logging`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from onyx_jupyter.config.schema.section import IfRefused, Section

AUTO_DEFAULT = ("group:notebook", "group:kernel", "group:fs")


class BudgetConfig(Section):
    """What paid models may use up, silent runs included, across all servers on one ONYX_HOME."""

    day_usd: Annotated[float | None, IfRefused(0)] = Field(
        default=None, ge=0, description="US dollars a day, in the time zone of `schedule`; 0: no paid call"
    )
    session_usd: Annotated[float | None, IfRefused(0)] = Field(
        default=None, ge=0, description="US dollars in one conversation; 0: no paid call"
    )
    day_tokens: Annotated[int | None, IfRefused(0)] = Field(
        default=None, ge=0, description="input and output tokens a day; 0: no paid call"
    )
    session_tokens: Annotated[int | None, IfRefused(0)] = Field(
        default=None, ge=0, description="input and output tokens in one conversation; 0: no paid call"
    )


class SecurityConfig(Section):
    """Approvals, secrets and the budget."""

    approval_timeout_ms: Annotated[int, IfRefused(1000)] = Field(
        default=1_800_000, ge=1000, description="milliseconds to answer an approval; without an answer it is denied"
    )
    auto: Annotated[list[str], IfRefused([])] = Field(
        default_factory=lambda: list(AUTO_DEFAULT),
        description="tools and families that run without approval in Auto mode; all others still ask",
    )
    secrets_filter: Annotated[bool, IfRefused(True)] = Field(
        default=True, description="detect secrets by their format too; false: only by their exact value"
    )
    budget: BudgetConfig = Field(default_factory=BudgetConfig)


class LoggingConfig(Section):
    """The log in ONYX_HOME/logs: JSON lines, a new file when one is full."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="minimum level to log")
    max_bytes: int = Field(default=10_000_000, ge=10_000, description="maximum size of a log file, in bytes")
    files: int = Field(default=5, ge=1, le=100, description="number of full files to keep")
