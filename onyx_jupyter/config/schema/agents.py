"""`agents` and `bindings`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from onyx_jupyter.config.schema.section import Section


class AgentTools(Section):
    """Which tools an agent has, by name or by family (`group:fs`); None allows all, deny wins."""

    allow: list[str] | None = Field(default=None, description="tools and families it may use; default: all")
    deny: list[str] = Field(default_factory=list, description="tools and families it may not use; overrides `allow`")


class AgentConfig(Section):
    """One agent of `agents.list`."""

    id: str = Field(
        default="main",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$",
        description="used in the names of its folder and conversations",
    )
    name: str = Field(default="Onyx", description="display name")
    default: bool = Field(
        default=False, description="used when no agent is named; if no agent has it, the first one is used"
    )
    workspace: str | None = Field(
        default=None, description="folder, relative to ONYX_HOME; default: `workspace` (main) or `workspace-<id>`"
    )
    model: str | None = Field(default=None, description="provider/model; default: `agents.defaults.model`")
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
    tools: AgentTools = Field(default_factory=AgentTools)


class AgentDefaults(Section):
    """What agents use where they say nothing themselves."""

    model: str | None = Field(
        default=None,
        description="provider/model; default: a model on this machine ([which one](local-models.md#which-one-answers))",
    )


class AgentsConfig(Section):
    """The agents, each with a folder, a memory and tools of its own."""

    defaults: AgentDefaults = Field(default_factory=AgentDefaults)
    items: list[AgentConfig] = Field(default_factory=lambda: [AgentConfig(default=True)], min_length=1, alias="list")

    @model_validator(mode="after")
    def _ids_are_unique(self) -> AgentsConfig:
        ids = [agent.id for agent in self.items]
        doubled = sorted({agent_id for agent_id in ids if ids.count(agent_id) > 1})
        if doubled:
            raise ValueError(f"agent ids must be unique; used more than once: {', '.join(doubled)}")
        if sum(agent.default for agent in self.items) > 1:
            raise ValueError("only one agent can be the default")
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
