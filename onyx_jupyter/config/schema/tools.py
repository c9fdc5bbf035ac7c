"""`tools`, `skills` and `notebooks`."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator

from onyx_jupyter.config.schema.section import REFUSED_ADDRESS, IfRefused, Section

_HOST_AND_PORT = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")


class WebConfig(Section):
    """Where the web is searched, and which private hosts its tools may reach all the same."""

    search: Literal["auto", "searxng", "brave", "ddgs"] = Field(
        default="auto", description="search backend of `web_search`; auto: the first that is set up"
    )
    searxng_url: Annotated[str | None, IfRefused(REFUSED_ADDRESS, "the web is not searched")] = Field(
        default=None, pattern=r"^https?://", description="URL of a SearXNG server"
    )
    brave_api_key: SecretStr | None = Field(default=None, description="Brave Search API key")
    allow_private: Annotated[list[str], IfRefused([])] = Field(
        default_factory=list,
        description="private hosts, host:port pairs or networks (`10.0.0.0/8`) that the web tools may reach",
    )

    @field_validator("allow_private")
    @classmethod
    def _can_be_read(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            try:
                readable = bool(_HOST_AND_PORT.fullmatch(entry)) or bool(ip_network(entry, strict=False))
            except ValueError:
                readable = False
            if not readable:
                raise ValueError(
                    f"{entry!r} is not a host, host:port or network. Examples: 10.0.0.0/8, wiki.example:8080"
                )
        return entries


class ToolsConfig(Section):
    """Limits of all agents' tools, and the web."""

    timeout: int = Field(
        default=120_000, ge=1000, description="default time limit for a shell command, in milliseconds"
    )
    max_output_bytes: int = Field(
        default=100_000, ge=1000, description="bytes of a command's output or an HTTP response kept in memory"
    )
    max_result_chars: int = Field(
        default=16_000,
        ge=1000,
        description="characters of a result passed to the model; the full result is kept in a file",
    )
    web: WebConfig = Field(default_factory=WebConfig)


class SkillsConfig(Section):
    """Notebook skills as they run, and how much of that is kept."""

    timeout_ms: int = Field(default=3_600_000, ge=1000, description="time limit for a notebook run, in milliseconds")
    keep_runs: int = Field(
        default=500, ge=1, description="number of executed copies to keep; copies less than a day old are always kept"
    )
    max_runs_bytes: int = Field(
        default=2_000_000_000,
        ge=1_000_000,
        description="size limit for executed copies, in bytes; copies less than a day old are always kept",
    )


class NotebooksConfig(Section):
    """What is kept of the changes that the assistant makes to notebooks, so that they can be reviewed and undone."""

    keep_changes_days: int = Field(
        default=180, ge=1, description="days after a conversation's last change during which its changes can be undone"
    )
    max_changes_bytes: int = Field(
        default=1_000_000_000,
        ge=1_000_000,
        description="size limit for kept changes, in bytes; beyond it the oldest are deleted",
    )
    max_output_chars: int = Field(
        default=2_000_000, ge=0, description="characters of one cell's outputs; larger outputs cannot be restored"
    )
