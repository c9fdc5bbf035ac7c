"""Every configuration key with its type and default; an empty file works."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from onyx_jupyter.events import to_camel

AUTO_DEFAULT = ("group:notebook", "group:kernel", "group:fs")
_HOST_AND_PORT = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")


class Section(BaseModel):
    """camelCase in the file, snake_case here, unknown keys refused."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, allow_inf_nan=False
    )


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


class ProviderConfig(Section):
    """How to reach a provider; `baseUrl` points `openai` or a name of your own at an OpenAI-compatible server."""

    api_key: SecretStr | None = Field(default=None, description="default: the provider's usual environment variable")
    base_url: str | None = Field(default=None, pattern=r"^https?://", description="address of the server")
    tool_mode: Literal["auto", "native", "json", "cell"] = Field(
        default="auto",
        description="cell: the model proposes notebook cells; json: one JSON action, for models without tool "
        "calls; auto means native. The model picker can override it",
    )
    context_window: int | None = Field(
        default=None, ge=1000, description="context window of its models, in tokens; default: looked up"
    )
    vision: bool | None = Field(default=None, description="whether its models accept images; default: looked up")
    models: list[str] = Field(default_factory=list, description="model names to offer in the model picker")


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
    max_tokens_per_run: int | None = Field(
        default=None, ge=1000, description="limit on input and output tokens in one run; default: none"
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


class HeartbeatConfig(Section):
    """Accepted so that a file written for a later version loads; nothing uses it yet."""

    enabled: bool = Field(default=True, description="not used yet")
    interval_ms: int = Field(default=1_800_000, ge=30_000, description="milliseconds; not used yet")


class MemoryConfig(Section):
    """How notes, conversations and documents are found again ([how](memory-search.md#how-it-is-ranked)), and what is
    remembered of them by itself."""

    embedder: Literal["auto", "ollama", "api", "local", "none"] = Field(
        default="auto",
        description="what makes embeddings for search by meaning; auto: Ollama, else the API model below, else the "
        "built-in one",
    )
    embedding_model: str | None = Field(
        default=None,
        pattern=r"^[^\s/]+/\S+$",
        description="provider/model; text is sent to an API only if this is set; default: Ollama's `nomic-embed-text`",
    )
    fusion: Literal["weighted", "rrf"] = Field(
        default="weighted",
        description="how keyword and vector results are combined: by weighted scores or by reciprocal rank (k = 60)",
    )
    vector_weight: float = Field(default=0.6, ge=0, le=1, description="weight of the vector score")
    text_weight: float = Field(default=0.4, ge=0, le=1, description="weight of the keyword score")
    min_score: float = Field(
        default=0.25, ge=0, le=1, description="minimum relevance; if nothing reaches it, keyword matches are returned"
    )
    half_life_days: float = Field(
        default=7, ge=0.1, le=36_500, description="half-life of the recency part of a score, in days"
    )
    recency_floor: float = Field(
        default=0.95,
        ge=0,
        le=1,
        description="share of the score that does not decay with age; 0: all of it decays, 1: none does",
    )
    mmr_lambda: float = Field(
        default=0.9, ge=0, le=1, description="1: rank by score alone; lower: prefer passages that add something new"
    )
    recall: bool = Field(default=True, description="whether relevant passages are added to each message automatically")
    recall_min_score: float = Field(
        default=0.35, ge=0, le=1, description="minimum score of such a passage; at most three are added"
    )
    consolidation: bool = Field(
        default=True, description="whether a model reviews conversations for things to remember"
    )
    consolidation_window: int = Field(
        default=25, ge=1, description="number of messages after which a conversation is reviewed"
    )
    consolidation_idle_ms: int = Field(
        default=600_000,
        ge=0,
        description="milliseconds of inactivity after which a conversation that was left is also reviewed",
    )
    consolidation_model: str | None = Field(
        default=None, description="provider/model for these reviews; default: the agent's own, unless it is a small one"
    )
    max_versions_bytes: int = Field(
        default=200_000_000,
        ge=1_000_000,
        description="size limit for earlier versions of memory files, in bytes; beyond it the oldest are deleted, but "
        "never the last 50 of a file",
    )

    @model_validator(mode="after")
    def _embedder_has_its_model(self) -> MemoryConfig:
        provider = (self.embedding_model or "").partition("/")[0]
        if self.embedder == "api" and provider in ("", "ollama"):
            raise ValueError(
                "embedder is api, so embeddingModel must name a model, such as openai/text-embedding-3-small"
            )
        if self.embedder == "ollama" and provider not in ("", "ollama"):
            raise ValueError(f"embedder is ollama, so embeddingModel must be ollama/<model>, not a model of {provider}")
        return self


class LocalModelConfig(Section):
    """Models that run on this machine (`local/…`)."""

    idle_timeout_ms: int = Field(
        default=600_000, ge=1000, description="milliseconds of inactivity before the model's process is stopped"
    )
    threads: int | None = Field(default=None, ge=1, description="CPU threads; default: all cores, at most eight")
    read_ahead: bool = Field(
        default=True,
        description="whether the model starts reading the context of a request (the active notebook, its tables) "
        "while you type",
    )
    models_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="base URL to try first for model downloads; the file name is appended",
    )


class WebConfig(Section):
    """Where the web is searched, and which private hosts its tools may reach all the same."""

    search: Literal["auto", "searxng", "brave", "ddgs"] = Field(
        default="auto", description="search backend of `web_search`; auto: the first that is set up"
    )
    searxng_url: str | None = Field(default=None, pattern=r"^https?://", description="URL of a SearXNG server")
    brave_api_key: SecretStr | None = Field(default=None, description="Brave Search API key")
    allow_private: list[str] = Field(
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


class LoggingConfig(Section):
    """The log in ONYX_HOME/logs: JSON lines, a new file when one is full."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="minimum level to log")
    max_bytes: int = Field(default=10_000_000, ge=10_000, description="maximum size of a log file, in bytes")
    files: int = Field(default=5, ge=1, le=100, description="number of full files to keep")


class BudgetConfig(Section):
    """What paid models may use up, silent runs included, across all servers on one ONYX_HOME."""

    day_usd: float | None = Field(
        default=None, ge=0, description="US dollars a day, in your time zone; 0: no paid call"
    )
    session_usd: float | None = Field(default=None, ge=0, description="US dollars in one conversation; 0: no paid call")
    day_tokens: int | None = Field(default=None, ge=0, description="input and output tokens a day; 0: no paid call")
    session_tokens: int | None = Field(
        default=None, ge=0, description="input and output tokens in one conversation; 0: no paid call"
    )


class SecurityConfig(Section):
    """Approvals, secrets and the budget."""

    approval_timeout_ms: int = Field(
        default=1_800_000, ge=1000, description="milliseconds to answer an approval; without an answer it is denied"
    )
    auto: list[str] = Field(
        default_factory=lambda: list(AUTO_DEFAULT),
        description="tools and families that run without approval in Auto mode; all others still ask",
    )
    secrets_filter: bool = Field(
        default=True, description="detect secrets by their format too; false: only by their exact value"
    )
    budget: BudgetConfig = Field(default_factory=BudgetConfig)


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
    skills: SkillsConfig = Field(default_factory=SkillsConfig)
    security: SecurityConfig = Field(default_factory=SecurityConfig)
    notebooks: NotebooksConfig = Field(default_factory=NotebooksConfig)
    logging: LoggingConfig = Field(default_factory=LoggingConfig)

    @model_validator(mode="after")
    def _bindings_name_agents(self) -> Config:
        ids = {agent.id for agent in self.agents.items}
        for binding in self.bindings:
            if binding.agent_id not in ids:
                raise ValueError(f"bindings: there is no agent {binding.agent_id!r}. Agents: {', '.join(sorted(ids))}")
        return self

    def default_agent(self) -> AgentConfig:
        """The agent marked default, else the first."""
        return next((agent for agent in self.agents.items if agent.default), self.agents.items[0])

    def agent(self, agent_id: str) -> AgentConfig | None:
        """The agent of that id, or None."""
        return next((agent for agent in self.agents.items if agent.id == agent_id), None)

    def model_of(self, agent: AgentConfig) -> str | None:
        """The model that the configuration names for this agent, or None."""
        return agent.model or self.agents.defaults.model


def defaults() -> dict[str, Any]:
    """The configuration of an empty file, as JSON."""
    return Config().model_dump(mode="json", by_alias=True)
