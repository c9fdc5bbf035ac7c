"""Every configuration key with its type and default; an empty file works. It never reads files or the environment."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from onyx_jupyter.events import to_camel

EMBEDDED_MODEL = "local/smollm2"
_HOST_AND_PORT = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")


class Section(BaseModel):
    """camelCase in the file, snake_case here, unknown keys refused."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class AgentTools(Section):
    """Which tools an agent has, by name or by family (`group:fs`); None allows all, deny wins."""

    allow: list[str] | None = None
    deny: list[str] = Field(default_factory=list)


class AgentConfig(Section):
    """One agent of `agents.list`."""

    id: str = Field(default="main", pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    name: str = "Onyx"
    default: bool = False
    workspace: str | None = Field(default=None, description="folder, relative to ONYX_HOME")
    model: str | None = Field(default=None, description="provider/model; agents.defaults.model where unset")
    fallback_model: str | None = Field(default=None, description="answers for one turn where the model cannot")
    reflection_prompt: Literal[False] | str = Field(default=False, description="asked once before the last answer")
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, description="longest answer, in tokens")
    tools: AgentTools = Field(default_factory=AgentTools)


class AgentDefaults(Section):
    """What agents use where they say nothing themselves."""

    model: str = EMBEDDED_MODEL


class AgentsConfig(Section):
    defaults: AgentDefaults = Field(default_factory=AgentDefaults)
    items: list[AgentConfig] = Field(default_factory=lambda: [AgentConfig(default=True)], min_length=1, alias="list")

    @model_validator(mode="after")
    def _ids_are_unique(self) -> AgentsConfig:
        ids = [agent.id for agent in self.items]
        doubled = sorted({agent_id for agent_id in ids if ids.count(agent_id) > 1})
        if doubled:
            raise ValueError(f"agent ids must differ, {', '.join(doubled)} is there more than once")
        if sum(agent.default for agent in self.items) > 1:
            raise ValueError("only one agent can be the default")
        return self


class BindingMatch(Section):
    """Which conversations go to an agent."""

    channel: str
    guild_id: str | None = None
    chat_id: str | None = None


class Binding(Section):
    agent_id: str
    match: BindingMatch


class ProviderConfig(Section):
    """How to reach one provider; `baseUrl` points `openai` or a name of your own at an OpenAI-compatible server."""

    api_key: SecretStr | None = None
    base_url: str | None = Field(default=None, pattern=r"^https?://")
    tool_mode: Literal["auto", "native", "json"] = "auto"
    context_window: int | None = Field(default=None, ge=1000, description="tokens; looked up where unset")
    vision: bool | None = Field(default=None, description="its models see pictures; looked up where unset")
    models: list[str] = Field(default_factory=list, description="names to offer in the model picker")


class LoopDetectionConfig(Section):
    """When calls that lead nowhere are pointed out to the model, and when they end the run."""

    enabled: bool = True
    window: int = Field(default=30, ge=2, le=500, description="calls of the run that are looked at")
    warn_at: int = Field(default=3, ge=2, description="equal calls until the model is warned")
    stop_at: int = Field(default=6, ge=2, description="equal calls until the run ends")


class CompactionConfig(Section):
    """When an older part of a conversation is summed up, and how much of the newest stays whole."""

    enabled: bool = True
    reserve_tokens: int = Field(default=20_000, ge=0, description="kept free; never over a quarter of the window")
    keep_recent_tokens: int = Field(default=20_000, ge=0)
    keep_turns: int = Field(default=3, ge=1, description="newest messages of the user, with all that followed")


class RetryConfig(Section):
    attempts: int = Field(default=3, ge=1, le=10, description="calls of a provider in all, before anything was shown")
    max_wait_ms: int = Field(default=30_000, ge=0, description="between two calls; a longer wish is not waited for")
    timeout_ms: int = Field(default=120_000, ge=100, description="silence of a provider after which a call failed")


class CircuitBreakerConfig(Section):
    failures: int = Field(default=3, ge=1, description="failures in a row until a provider is left alone")
    pause_ms: int = Field(default=60_000, ge=0)


class RuntimeConfig(Section):
    max_turns: int = Field(default=20, ge=1, le=500)
    default_timeout_ms: int = Field(
        default=300_000, ge=1000, description="work of one run; waiting for you not counted"
    )
    max_tokens_per_run: int | None = Field(default=None, ge=1000, description="input and output tokens of one run")
    when_busy: Literal["steer", "followup", "interrupt"] = "steer"
    memory_search_top_k: int = Field(default=6, ge=1, le=100)
    loop_detection: LoopDetectionConfig = Field(default_factory=LoopDetectionConfig)
    compaction: CompactionConfig = Field(default_factory=CompactionConfig)
    retry: RetryConfig = Field(default_factory=RetryConfig)
    circuit_breaker: CircuitBreakerConfig = Field(default_factory=CircuitBreakerConfig)


class HeartbeatConfig(Section):
    """Accepted from the first version on, so that a file written for a later one loads."""

    enabled: bool = True
    interval_ms: int = Field(default=1_800_000, ge=30_000)


class MemoryConfig(Section):
    """Accepted from the first version on, so that a file written for a later one loads."""

    vector_weight: float = Field(default=0.7, ge=0, le=1)
    text_weight: float = Field(default=0.3, ge=0, le=1)
    min_score: float = Field(default=0.35, ge=0, le=1)
    consolidation_window: int = Field(default=25, ge=1, description="messages")


class LocalModelConfig(Section):
    idle_timeout_ms: int = Field(default=600_000, ge=1000, description="the embedded model stops after this")
    threads: int | None = Field(default=None, ge=1, description="CPU threads; all cores where unset")


class WebConfig(Section):
    """Where the web is searched, and which private hosts its tools may reach all the same."""

    search: Literal["auto", "searxng", "brave", "ddgs"] = "auto"
    searxng_url: str | None = Field(default=None, pattern=r"^https?://")
    brave_api_key: SecretStr | None = None
    allow_private: list[str] = Field(default_factory=list, description="host, host:port or network (10.0.0.0/8)")

    @field_validator("allow_private")
    @classmethod
    def _can_be_read(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            try:
                readable = bool(_HOST_AND_PORT.fullmatch(entry)) or bool(ip_network(entry, strict=False))
            except ValueError:
                readable = False
            if not readable:
                raise ValueError(f"{entry!r} is no host, host:port or network: write 10.0.0.0/8 or wiki.example:8080")
        return entries


class ToolsConfig(Section):
    timeout: int = Field(default=120_000, ge=1000, description="milliseconds that exec may take")
    max_output_bytes: int = Field(default=100_000, ge=1000, description="kept of a command's output")
    max_result_chars: int = Field(default=16_000, ge=1000, description="of a result for the model; the rest in a file")
    web: WebConfig = Field(default_factory=WebConfig)


class LoggingConfig(Section):
    """The log in ONYX_HOME/logs: JSON lines, a new file when one is full."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    max_bytes: int = Field(default=10_000_000, ge=10_000)
    files: int = Field(default=5, ge=1, le=100, description="full files that are kept")


class SecurityConfig(Section):
    approval_timeout_ms: int = Field(default=1_800_000, ge=1000, description="silence denies after this")
    secrets_filter: bool = True


class Config(Section):
    """The whole configuration."""

    agents: AgentsConfig = Field(default_factory=AgentsConfig)
    bindings: list[Binding] = Field(default_factory=list)
    providers: dict[str, ProviderConfig] = Field(default_factory=dict)
    runtime: RuntimeConfig = Field(default_factory=RuntimeConfig)
    heartbeat: HeartbeatConfig = Field(default_factory=HeartbeatConfig)
    memory: MemoryConfig = Field(default_factory=MemoryConfig)
    local: LocalModelConfig = Field(default_factory=LocalModelConfig)
    tools: ToolsConfig = Field(default_factory=ToolsConfig)
    security: SecurityConfig = Field(default_factory=SecurityConfig)
    logging: LoggingConfig = Field(default_factory=LoggingConfig)

    @model_validator(mode="after")
    def _bindings_name_agents(self) -> Config:
        ids = {agent.id for agent in self.agents.items}
        for binding in self.bindings:
            if binding.agent_id not in ids:
                raise ValueError(f"bindings: there is no agent {binding.agent_id!r}, only {', '.join(sorted(ids))}")
        return self

    def default_agent(self) -> AgentConfig:
        """The agent marked default, else the first."""
        return next((agent for agent in self.agents.items if agent.default), self.agents.items[0])

    def agent(self, agent_id: str) -> AgentConfig | None:
        """The agent of that id, or None."""
        return next((agent for agent in self.agents.items if agent.id == agent_id), None)

    def model_of(self, agent: AgentConfig) -> str:
        """The model that answers for this agent when a session names none."""
        return agent.model or self.agents.defaults.model


def defaults() -> dict[str, Any]:
    """The configuration of an empty file, as JSON."""
    return Config().model_dump(mode="json", by_alias=True)
