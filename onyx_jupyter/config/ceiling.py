"""The most that a server's administrator allows: `c.OnyxApp.ceiling`. It only restricts, and nothing can loosen it."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, StrictBool, ValidationError, field_validator

from onyx_jupyter.config.schema import Config, Section
from onyx_jupyter.errors import ConfigError, InvalidRequest

SETTING = "c.OnyxApp.ceiling"
NOT_HERE = "Not allowed on this server"
NOTHING_ALWAYS = "this server does not allow “Always”"
Mode = Literal["ask", "agent", "auto"]
STRICTEST_FIRST: tuple[Mode, ...] = ("ask", "agent", "auto")
_PROVIDER = re.compile(r"https?://[^/\s]+\S*|[^\s/:]+")


class Ceiling(Section):
    """Without a key nothing is forbidden."""

    deny: list[str] = Field(
        default_factory=list, description="tools and families that nobody may use, as in `tools.deny`"
    )
    modes: list[Mode] = Field(
        default_factory=lambda: list(STRICTEST_FIRST), description="modes that users may choose; must include `ask`"
    )
    providers: list[str] | None = Field(
        default=None,
        description="allowed providers: a name (at its usual address) or the start of a `baseUrl`; default: all",
    )
    allow_always: StrictBool = Field(default=True, description="false: “Always” is not offered, so Onyx asks each time")

    @field_validator("modes")
    @classmethod
    def _can_ask(cls, modes: list[Mode]) -> list[Mode]:
        if "ask" not in modes:
            raise ValueError("it must include 'ask', the strictest mode")
        return modes

    @field_validator("providers")
    @classmethod
    def _are_names_or_addresses(cls, providers: list[str] | None) -> list[str] | None:
        for one in providers or ():
            if not _PROVIDER.fullmatch(one):
                raise ValueError(f"{one!r} is neither a provider name (ollama) nor a URL (https://…)")
        return providers

    def mode(self, wished: Mode) -> Mode:
        """The wished mode, or the next stricter one that is allowed."""
        can_be = [mode for mode in self.modes if STRICTEST_FIRST.index(mode) <= STRICTEST_FIRST.index(wished)]
        return max(can_be, key=STRICTEST_FIRST.index)

    def check_mode(self, wished: Mode) -> None:
        """Raises: InvalidRequest."""
        if wished not in self.modes:
            choices = " or ".join(mode.capitalize() for mode in STRICTEST_FIRST if mode in self.modes)
            raise InvalidRequest(f"`mode`: {NOT_HERE}: {wished.capitalize()} mode. Choose {choices}.", field="mode")

    def allows_provider(self, name: str, base_url: str | None, usual_url: str | None = None) -> bool:
        """`base_url` is the configured address, `usual_url` the provider's address without one."""
        if self.providers is None:
            return True
        if name in self.providers and base_url in (None, usual_url):
            return True
        return base_url is not None and any(_begins_with(base_url, one) for one in self.providers)

    def over(self, config: Config) -> Config:
        """The configuration with `deny` added to every agent."""
        if not self.deny:
            return config
        items = [
            agent.model_copy(update={"tools": agent.tools.model_copy(update={"deny": [*agent.tools.deny, *self.deny]})})
            for agent in config.agents.items
        ]
        return config.model_copy(update={"agents": config.agents.model_copy(update={"items": items})})


def read_ceiling(value: object) -> Ceiling:
    """The ceiling as the administrator wrote it. Raises: ConfigError."""
    if not isinstance(value, dict):
        raise ConfigError(f"{SETTING} must be a dict ({{…}}), not {value!r}.")
    try:
        return Ceiling.model_validate(dict(value))
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        known = ", ".join(str(field.alias) for field in Ceiling.model_fields.values())
        raise ConfigError(f"{SETTING}: unknown key {key!r}. Known here: {known}.", key=key)
    reason = problem["msg"].removeprefix("Value error, ")
    raise ConfigError(f"{SETTING}: {key} is {problem['input']!r}: {reason[0].lower()}{reason[1:]}.", key=key)


def _begins_with(url: str, address: str) -> bool:
    """Compares whole path segments: https://host/v1 does not match https://host/v1beta or https://host.evil/v1."""
    if "://" not in address or re.search(r"[\\@?#]|/\.\.?(/|$)|%", url):
        return False
    return f"{url.rstrip('/').lower()}/".startswith(f"{address.rstrip('/').lower()}/")
