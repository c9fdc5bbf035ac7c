"""`agents` and `bindings`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from onyx_jupyter.config.schema.runtime import ActiveHours
from onyx_jupyter.config.schema.section import REFUSED_MODEL, Entry, IfRefused, ModelId, Section, conflict

NO_TOOLS = {"id": "main", "default": True, "tools": {"allow": []}}


class AgentTools(Section):
    """Which tools an agent has, by name or by family (`group:fs`); None allows all, deny wins."""

    allow: list[str] | None = Field(default=None, description="tools and families it may use; default: all")
    deny: list[str] = Field(default_factory=list, description="tools and families it may not use; overrides `allow`")


class AgentHeartbeat(Section):
    """What differs from `heartbeat` for one agent."""

    enabled: Annotated[bool | None, IfRefused(False)] = Field(default=None, description="default: as in `heartbeat`")
    interval_ms: int | None = Field(default=None, ge=1000, description="default: as in `heartbeat`")
    active_hours: ActiveHours | None = Field(default=None)
    quiet_mode: bool | None = Field(default=None, description="default: as in `heartbeat`")
    model: ModelId | None = Field(default=None, description="provider/model; default: the agent's own")


class AgentConfig(Section):
    """One agent of `agents.list`."""

    id: Annotated[str, IfRefused(Entry.REFUSED)] = Field(
        default="main",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$",
        description="used in the names of its folder and conversations",
    )
    name: str = Field(default="Onyx", description="display name")
    default: Annotated[bool, IfRefused(Entry.REFUSED)] = Field(
        default=False, description="used when no agent is named; if no agent has it, the first one is used"
    )
    workspace: str | None = Field(
        default=None, description="folder, relative to ONYX_HOME; default: `workspace` (main) or `workspace-<id>`"
    )
    model: Annotated[str | None, IfRefused(REFUSED_MODEL, "the agent has no model")] = Field(
        default=None, description="provider/model; default: `runtime.defaultModel`"
    )
    fallback_model: str | None = Field(
        default=None, description="provider/model that takes over for one run when the agent's own model fails"
    )
    reflection_prompt: Literal[False] | str = Field(
        default=False, description="a prompt that makes the model review its answer once before it is final"
    )
    temperature: float | None = Field(default=None, ge=0, le=2, description="default: the provider's own")
    max_tokens: int | None = Field(
        default=None, ge=1, description="maximum length of a reply, in tokens; default: the provider's own"
    )
    tools: Annotated[AgentTools, IfRefused({"allow": []}, "the agent has no tools")] = Field(default_factory=AgentTools)
    heartbeat: AgentHeartbeat = Field(default_factory=AgentHeartbeat)


class AgentDefaults(Section):
    """What agents use where they say nothing themselves."""

    model: str | None = Field(
        default=None,
        description="provider/model; default: a model on this machine ([which one](local-models.md#which-one-answers))",
    )


class AgentsConfig(Section):
    """The agents, each with a folder, a memory and tools of its own."""

    defaults: AgentDefaults = Field(default_factory=AgentDefaults)
    items: Annotated[list[AgentConfig], IfRefused([NO_TOOLS], "there is one agent, without tools")] = Field(
        default_factory=lambda: [AgentConfig(default=True)], min_length=1, alias="list"
    )

    @model_validator(mode="after")
    def _ids_are_unique(self) -> AgentsConfig:
        ids: set[str] = set()
        for position, agent in enumerate(self.items):
            if agent.id in ids:
                message = f"agent ids must be unique; used more than once: {agent.id}"
                raise conflict(message, "list", position)
            ids.add(agent.id)
        defaults = [position for position, agent in enumerate(self.items) if agent.default]
        if len(defaults) > 1:
            raise conflict("only one agent can be the default", "list", defaults[1], "default")
        return self


class BindingMatch(Section):
    """Which conversations go to an agent."""

    channel: str = Field(description="name of the channel")
    guild_id: str | None = Field(default=None, description="default: any")
    chat_id: str | None = Field(default=None, description="default: any")


class Binding(Section):
    """Which agent answers in which channel. Read and checked, and without effect: there are no channels yet."""

    agent_id: str = Field(description="an id of `agents.list`")
    match: BindingMatch
