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

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class AgentTools(Section):
    """Which tools an agent has, by name or by family (`group:fs`); None allows all, deny wins."""

    allow: list[str] | None = Field(default=None, description="tools and families that it has; all where unset")
    deny: list[str] = Field(default_factory=list, description="tools and families that it does not have; wins")


class AgentConfig(Section):
    """One agent of `agents.list`."""

    id: str = Field(
        default="main", pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$", description="names its folder and its conversations"
    )
    name: str = Field(default="Onyx", description="what it is called")
    default: bool = Field(default=False, description="answers where no agent is named; the first where none has it")
    workspace: str | None = Field(
        default=None, description="folder, relative to ONYX_HOME; `workspace` (main) or `workspace-<id>` where unset"
    )
    model: str | None = Field(default=None, description="provider/model; `agents.defaults.model` where unset")
    fallback_model: str | None = Field(
        default=None, description="provider/model that answers for one run where the agent's own cannot"
    )
    reflection_prompt: Literal[False] | str = Field(
        default=False, description="what the model is asked once before its answer counts"
    )
    temperature: float | None = Field(default=None, ge=0, le=2, description="the provider's own where unset")
    max_tokens: int | None = Field(
        default=None, ge=1, description="longest reply of the model, in tokens; the provider's own where unset"
    )
    tools: AgentTools = Field(default_factory=AgentTools)


class AgentDefaults(Section):
    """What agents use where they say nothing themselves."""

    model: str | None = Field(
        default=None,
        description="provider/model; where unset, a model of this machine ([which](local-models.md#which-one-answers))",
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
            raise ValueError(f"agent ids must differ, {', '.join(doubled)} is there more than once")
        if sum(agent.default for agent in self.items) > 1:
            raise ValueError("only one agent can be the default")
        return self


class BindingMatch(Section):
    """Which conversations go to an agent."""

    channel: str = Field(description="name of the channel")
    guild_id: str | None = Field(default=None, description="any where unset")
    chat_id: str | None = Field(default=None, description="any where unset")


class Binding(Section):
    """Which agent answers in which channel. Read and checked, and without effect: there are no channels yet."""

    agent_id: str = Field(description="an id of `agents.list`")
    match: BindingMatch


class ProviderConfig(Section):
    """How to reach a provider; `baseUrl` points `openai` or a name of your own at an OpenAI-compatible server."""

    api_key: SecretStr | None = Field(default=None, description="the provider's usual variable where unset")
    base_url: str | None = Field(default=None, pattern=r"^https?://", description="address of the server")
    tool_mode: Literal["auto", "native", "json", "cell"] = Field(
        default="auto",
        description="cell: the model proposes notebook cells; json: one JSON action, for models that have no tool "
        "calls; auto means native. The model picker can choose otherwise",
    )
    context_window: int | None = Field(
        default=None, ge=1000, description="tokens that its models read; looked up where unset"
    )
    vision: bool | None = Field(default=None, description="whether its models see pictures; looked up where unset")
    models: list[str] = Field(default_factory=list, description="names to offer in the model picker")


class LoopDetectionConfig(Section):
    """When calls that lead nowhere are pointed out to the model, and when they end the run."""

    enabled: bool = Field(default=True, description="whether repeated calls are looked for")
    window: int = Field(default=30, ge=2, le=500, description="calls of the run that are looked at")
    warn_at: int = Field(default=3, ge=2, description="equal calls until the model is warned")
    stop_at: int = Field(default=6, ge=2, description="equal calls until the run ends")


class CompactionConfig(Section):
    """When an older part of a conversation is summed up, and how much of the newest stays whole."""

    enabled: bool = Field(default=True, description="false: only what a provider refuses as too long is made shorter")
    reserve_tokens: int = Field(
        default=20_000, ge=0, description="tokens kept free for the answer; never over a quarter of the window"
    )
    keep_recent_tokens: int = Field(default=20_000, ge=0, description="tokens of the newest part that stay whole")
    keep_turns: int = Field(
        default=3, ge=1, description="newest messages of yours that stay whole with all that followed"
    )


class RetryConfig(Section):
    """How often and how long a provider that is busy, late or down is asked again."""

    attempts: int = Field(default=3, ge=1, le=10, description="calls in all, as long as nothing was shown")
    max_wait_ms: int = Field(
        default=30_000, ge=0, description="milliseconds between two calls; a longer wish is not waited for"
    )
    timeout_ms: int = Field(
        default=120_000, ge=100, description="milliseconds of a provider's silence after which a call has failed"
    )


class CircuitBreakerConfig(Section):
    """When a provider that keeps failing is left alone."""

    failures: int = Field(default=3, ge=1, description="failed requests in a row, each with all its retries")
    pause_ms: int = Field(default=60_000, ge=0, description="milliseconds for which the provider is left alone then")


class RuntimeConfig(Section):
    """What keeps the answer to one message (a run) within bounds."""

    max_turns: int = Field(
        default=20, ge=1, le=500, description="how often the model is asked in one run; then once without tools"
    )
    default_timeout_ms: int = Field(
        default=300_000,
        ge=1000,
        description="milliseconds of work in one run; waiting for you and cells that run are not counted",
    )
    max_tokens_per_run: int | None = Field(
        default=None, ge=1000, description="input and output tokens of one run; no limit where unset"
    )
    when_busy: Literal["steer", "followup", "interrupt"] = Field(
        default="steer", description="a message during a run: joins it, waits for its end, or stops it"
    )
    memory_search_top_k: int = Field(default=6, ge=1, le=100, description="passages that a search gives, at most")
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
        description="who finds meaning; auto: Ollama, else the API's model below, else the embedded one",
    )
    embedding_model: str | None = Field(
        default=None,
        pattern=r"^[^\s/]+/\S+$",
        description="provider/model; an API gets texts by this word alone; Ollama's `nomic-embed-text` where unset",
    )
    fusion: Literal["weighted", "rrf"] = Field(
        default="weighted",
        description="how words and meaning come together: by weighted scores, or by reciprocal ranks (k = 60)",
    )
    vector_weight: float = Field(default=0.6, ge=0, le=1, description="share of the meaning in a weighted score")
    text_weight: float = Field(default=0.4, ge=0, le=1, description="share of the words in a weighted score")
    min_score: float = Field(
        default=0.25, ge=0, le=1, description="least relevance; where nothing reaches it, what holds the words is given"
    )
    half_life_days: float = Field(
        default=7, ge=0.1, le=36_500, description="days in which what can be lost by age is lost by half"
    )
    recency_floor: float = Field(
        default=0.95, ge=0, le=1, description="share of the score that age never takes; 0: all fades, 1: nothing does"
    )
    mmr_lambda: float = Field(
        default=0.9, ge=0, le=1, description="1: only by score; less: what says something new is preferred"
    )
    recall: bool = Field(default=True, description="whether passages that answer a message go along with it unasked")
    recall_min_score: float = Field(
        default=0.35, ge=0, le=1, description="least score of such a passage; three go along at most"
    )
    consolidation: bool = Field(
        default=True, description="whether a model looks through conversations for what to remember of them"
    )
    consolidation_window: int = Field(
        default=25, ge=1, description="messages of a conversation after which it is looked through"
    )
    consolidation_idle_ms: int = Field(
        default=600_000, ge=0, description="milliseconds of quiet after which one that was left is looked through, too"
    )
    consolidation_model: str | None = Field(
        default=None, description="provider/model that does it; the agent's own where unset, unless that is a small one"
    )
    max_versions_bytes: int = Field(
        default=200_000_000,
        ge=1_000_000,
        description="bytes of all former states of memory files; then the oldest go, but never the last 50 of a file",
    )

    @model_validator(mode="after")
    def _embedder_has_its_model(self) -> MemoryConfig:
        provider = (self.embedding_model or "").partition("/")[0]
        if self.embedder == "api" and provider in ("", "ollama"):
            raise ValueError("embedder is api, so embeddingModel has to name its model: openai/text-embedding-3-small")
        if self.embedder == "ollama" and provider not in ("", "ollama"):
            raise ValueError(f"embedder is ollama, so embeddingModel cannot be one of {provider}: ollama/<model>")
        return self


class LocalModelConfig(Section):
    """Models that run on this machine (`local/…`)."""

    idle_timeout_ms: int = Field(
        default=600_000, ge=1000, description="milliseconds without a question until the model's process ends"
    )
    threads: int | None = Field(default=None, ge=1, description="CPU threads; all cores, eight at most, where unset")
    read_ahead: bool = Field(
        default=True,
        description="whether a model reads what a request will begin with (the notebook in front, its tables) while "
        "it is written",
    )
    models_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="where model files are downloaded from before any other server: their names are added to it",
    )


class WebConfig(Section):
    """Where the web is searched, and which private hosts its tools may reach all the same."""

    search: Literal["auto", "searxng", "brave", "ddgs"] = Field(
        default="auto", description="where `web_search` asks; auto takes the first that is set up"
    )
    searxng_url: str | None = Field(default=None, pattern=r"^https?://", description="address of a SearXNG server")
    brave_api_key: SecretStr | None = Field(default=None, description="key of the Brave Search API")
    allow_private: list[str] = Field(
        default_factory=list, description="host, host:port or network (`10.0.0.0/8`) that may be reached all the same"
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
                raise ValueError(f"{entry!r} is no host, host:port or network: write 10.0.0.0/8 or wiki.example:8080")
        return entries


class ToolsConfig(Section):
    """Limits of all agents' tools, and the web."""

    timeout: int = Field(
        default=120_000, ge=1000, description="milliseconds for a shell command, unless it names others"
    )
    max_output_bytes: int = Field(
        default=100_000, ge=1000, description="bytes kept in memory of a command's output or an HTTP answer"
    )
    max_result_chars: int = Field(
        default=16_000, ge=1000, description="characters of a result for the model; the whole stands in a file"
    )
    web: WebConfig = Field(default_factory=WebConfig)


class NotebooksConfig(Section):
    """What is kept of the changes that the assistant makes to notebooks, so that they can be reviewed and undone."""

    keep_changes_days: int = Field(
        default=180, ge=1, description="days after a conversation's last change for which its changes can be undone"
    )
    max_changes_bytes: int = Field(
        default=1_000_000_000, ge=1_000_000, description="bytes of all kept changes; then the oldest are let go"
    )
    max_output_chars: int = Field(
        default=2_000_000, ge=0, description="characters of one cell's outputs; larger ones cannot be put back"
    )


class SkillsConfig(Section):
    """Notebook skills as they run, and how much of that is kept."""

    timeout_ms: int = Field(
        default=3_600_000, ge=1000, description="milliseconds after which a notebook that still runs is stopped"
    )
    keep_runs: int = Field(
        default=500, ge=1, description="executed copies; then the oldest go, but never one of the last day"
    )
    max_runs_bytes: int = Field(
        default=2_000_000_000, ge=1_000_000, description="bytes of all executed copies; then the oldest go likewise"
    )


class LoggingConfig(Section):
    """The log in ONYX_HOME/logs: JSON lines, a new file when one is full."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="the least that is kept")
    max_bytes: int = Field(default=10_000_000, ge=10_000, description="bytes after which a file is full")
    files: int = Field(default=5, ge=1, le=100, description="full files that are kept")


class SecurityConfig(Section):
    """Approvals and secrets."""

    approval_timeout_ms: int = Field(
        default=1_800_000, ge=1000, description="milliseconds in which you can answer; then silence denies"
    )
    auto: list[str] = Field(
        default_factory=lambda: list(AUTO_DEFAULT),
        description="tools and families that run unasked in Auto mode; all others ask there, too",
    )
    secrets_filter: bool = Field(
        default=True, description="secrets are known by their shape, too; false: only by their exact value"
    )


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
                raise ValueError(f"bindings: there is no agent {binding.agent_id!r}, only {', '.join(sorted(ids))}")
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
