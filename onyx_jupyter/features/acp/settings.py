"""`acp` in onyx.json, and the agents that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field, SecretStr, StringConstraints, model_validator

from onyx_jupyter.acp.registry import KNOWN_AGENTS, AgentCommand
from onyx_jupyter.config.schema import Section
from onyx_jupyter.security.known_secrets import environment_secrets

DEFAULT_MODEL = "default"
AgentName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]


class AcpAgentSettings(Section):
    """One agent of `acp.agents`: a known one, changed, or another program."""

    command: str | None = Field(
        default=None, min_length=1, description="the program; required unless Onyx knows the agent by its name"
    )
    args: list[str] = Field(default_factory=list, description="its arguments")
    env: dict[str, SecretStr] = Field(default_factory=dict, description="variables added to its environment")
    cwd: str | None = Field(
        default=None, description="the folder it works in, from the server's root; default: the root"
    )


class AcpSettings(Section):
    """`acp` in onyx.json."""

    agents: dict[AgentName, AcpAgentSettings] = Field(default_factory=dict)
    silence_timeout_ms: int = Field(
        default=600_000, ge=1_000, description="ends an agent that has said nothing for this long"
    )

    @model_validator(mode="after")
    def _have_a_command(self) -> AcpSettings:
        for name, agent in self.agents.items():
            if agent.command is None and name not in KNOWN_AGENTS:
                raise ValueError(f"acp.agents.{name} needs a `command`. Known by name: {', '.join(KNOWN_AGENTS)}")
        return self

    def secrets(self) -> Mapping[str, str]:
        """Value → kind of the variables that are secrets by their name, as in the server's own environment."""
        found: dict[str, str] = {}
        for agent in self.agents.values():
            found |= environment_secrets({name: value.get_secret_value() for name, value in agent.env.items()})
        return found

    def commands(self) -> Mapping[str, AgentCommand]:
        """All agents by name: the configured ones first."""
        return {name: self._command(name) for name in dict.fromkeys([*self.agents, *KNOWN_AGENTS])}

    def subscribed(self, name: str, model: str, cli_path: str | None) -> AgentCommand:
        """The known agent of that name with its own login: keys, which are paid for by the call, are kept from it.

        `model` is its name for one, or `default`; `cli_path` the program that it is to run.
        """
        command, known = self._command(name), KNOWN_AGENTS[name]
        paid = set(known.keys) - set(known.subscription_keys)
        env = {variable: value for variable, value in command.env.items() if variable not in paid}
        if cli_path is not None:
            env[known.path_variable] = cli_path
        chosen = "" if model == DEFAULT_MODEL else model
        return replace(command, keys=known.subscription_keys, key_method="", env=env, model=chosen)

    def _command(self, name: str) -> AgentCommand:
        own, known = self.agents.get(name, AcpAgentSettings()), KNOWN_AGENTS.get(name)
        command = (own.command, *own.args) if own.command else (*(known.command if known else ()), *own.args)
        return AgentCommand(
            name,
            known.title if known else name,
            command,
            known.install if known and not own.command else "",
            known.sign_in if known else "",
            known.keys if known else (),
            known.key_method if known else "",
            {variable: value.get_secret_value() for variable, value in own.env.items()},
            own.cwd,
        )
