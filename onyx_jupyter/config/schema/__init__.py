"""Every configuration key with its type and default; an empty file works."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from onyx_jupyter.config.schema.agents import (
    AgentConfig,
    AgentDefaults,
    AgentsConfig,
    AgentTools,
    Binding,
    BindingMatch,
)
from onyx_jupyter.config.schema.memory import MemoryConfig
from onyx_jupyter.config.schema.providers import LocalModelConfig, ProviderConfig
from onyx_jupyter.config.schema.runtime import (
    ActiveHours,
    CompactionConfig,
    HeartbeatConfig,
    LoopDetectionConfig,
    RuntimeConfig,
)
from onyx_jupyter.config.schema.section import ANY_PROVIDER, REFUSED_ADDRESS, IfRefused, Section, conflict
from onyx_jupyter.config.schema.security import AUTO_DEFAULT, BudgetConfig, LoggingConfig, SecurityConfig
from onyx_jupyter.config.schema.tools import NotebooksConfig, SkillsConfig, ToolsConfig, WebConfig

__all__ = [
    "AUTO_DEFAULT",
    "ActiveHours",
    "AgentConfig",
    "AgentDefaults",
    "AgentTools",
    "AgentsConfig",
    "Binding",
    "BindingMatch",
    "BudgetConfig",
    "CompactionConfig",
    "Config",
    "HeartbeatConfig",
    "LocalModelConfig",
    "LoggingConfig",
    "LoopDetectionConfig",
    "MemoryConfig",
    "NotebooksConfig",
    "ProviderConfig",
    "RuntimeConfig",
    "Section",
    "SecurityConfig",
    "SkillsConfig",
    "ToolsConfig",
    "WebConfig",
    "defaults",
]


class Config(Section):
    """The whole configuration."""

    agents: AgentsConfig = Field(default_factory=AgentsConfig)
    bindings: list[Binding] = Field(default_factory=list)
    providers: Annotated[
        dict[str, ProviderConfig],
        IfRefused({ANY_PROVIDER: {"baseUrl": REFUSED_ADDRESS}}, "no provider is available"),
    ] = Field(default_factory=dict)
    runtime: RuntimeConfig = Field(default_factory=RuntimeConfig)
    heartbeat: HeartbeatConfig = Field(default_factory=HeartbeatConfig)
    memory: MemoryConfig = Field(default_factory=MemoryConfig)
    local: LocalModelConfig = Field(default_factory=LocalModelConfig)
    tools: ToolsConfig = Field(default_factory=ToolsConfig)
    skills: SkillsConfig = Field(default_factory=SkillsConfig)
    security: SecurityConfig = Field(default_factory=SecurityConfig)
    notebooks: NotebooksConfig = Field(default_factory=NotebooksConfig)
    logging: LoggingConfig = Field(default_factory=LoggingConfig)

    @model_validator(mode="after")
    def _bindings_name_agents(self) -> Config:
        ids = {agent.id for agent in self.agents.items}
        for position, binding in enumerate(self.bindings):
            if binding.agent_id not in ids:
                message = f"there is no agent {binding.agent_id!r}. Agents: {', '.join(sorted(ids))}"
                raise conflict(message, "bindings", position)
        return self

    @model_validator(mode="after")
    def _embedder_has_its_model(self) -> Config:
        section, key = ("runtime", "embeddingModel") if self.runtime.embedding_model else ("memory", "embeddingModel")
        named = self.runtime.embedding_model or self.memory.embedding_model or ""
        provider = named.partition("/")[0]
        if self.memory.embedder == "api" and provider in ("", "ollama"):
            message = "embedder is api, so embeddingModel must name a model, such as openai/text-embedding-3-small"
            raise conflict(message, "memory", "embedder")
        if self.memory.embedder == "ollama" and provider not in ("", "ollama"):
            message = f"embedder is ollama, so embeddingModel must be ollama/<model>, not a model of {provider}"
            raise conflict(message, section, key)
        return self

    def default_agent(self) -> AgentConfig:
        """The agent marked default, else the first."""
        return next((agent for agent in self.agents.items if agent.default), self.agents.items[0])

    def agent(self, agent_id: str) -> AgentConfig | None:
        """The agent of that id, or None."""
        return next((agent for agent in self.agents.items if agent.id == agent_id), None)


def defaults() -> dict[str, Any]:
    """The configuration of an empty file, as JSON."""
    return Config().model_dump(mode="json", by_alias=True)
