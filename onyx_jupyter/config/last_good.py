"""The configuration while the file has an error: restrictions of the last good one and of what can still be read.

An error must never let the assistant do more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from onyx_jupyter.config.schema import (
    AgentConfig,
    AgentsConfig,
    AgentTools,
    Config,
    MemoryConfig,
    ProviderConfig,
    RuntimeConfig,
    Section,
    SecurityConfig,
)


def restrictions(config: Config) -> Config:
    """The restrictions of a good configuration, kept in case of a later error; contains no keys or passwords."""
    agents = [
        AgentConfig(id=agent.id, name=agent.name, default=agent.default, workspace=agent.workspace, tools=agent.tools)
        for agent in config.agents.items
    ]
    return Config(
        agents=AgentsConfig(list=agents),
        providers={
            name: ProviderConfig(base_url=_without_password(provider.base_url))
            for name, provider in config.providers.items()
            if provider.base_url
        },
        runtime=RuntimeConfig(max_tokens_per_run=config.runtime.max_tokens_per_run),
        memory=MemoryConfig(recall=config.memory.recall),
        security=SecurityConfig(approval_timeout_ms=config.security.approval_timeout_ms),
    )


def strictest(last_good: Config | None, raw: Mapping[str, Any]) -> Config:
    """The configuration while there is an error: nothing runs unasked, and what either of the two denies is denied.

    `last_good` comes from `restrictions`; `raw` is what can be read of file and environment, unchecked. Values in it
    that are valid on their own can make `last_good` stricter but never looser. All other keys have their default.
    """
    known = last_good or Config()
    budgets = (known.runtime.max_tokens_per_run, _valid(RuntimeConfig, raw.get("runtime"), "maxTokensPerRun"))
    waits_ms = _valid(SecurityConfig, raw.get("security"), "approvalTimeoutMs")
    recall = _valid(MemoryConfig, raw.get("memory"), "recall")
    return Config(
        agents=_agents(last_good, raw),
        providers={**_addresses(raw.get("providers")), **known.providers},
        runtime=RuntimeConfig(max_tokens_per_run=min((most for most in budgets if most is not None), default=None)),
        memory=MemoryConfig(recall=known.memory.recall and recall is not False, consolidation=False),
        security=SecurityConfig(
            approval_timeout_ms=min(known.security.approval_timeout_ms, waits_ms or known.security.approval_timeout_ms),
            auto=[],
            secrets_filter=True,
        ),
    )


def _agents(last_good: Config | None, raw: Mapping[str, Any]) -> AgentsConfig:
    """The last good agents, else those that can be read, else the default one; each with what is denied for all."""
    section = raw.get("agents")
    listed = section.get("list") if isinstance(section, Mapping) else None
    at_large = _denied({**raw, "agents": {**section, "list": None}} if isinstance(section, Mapping) else raw)
    agents = {agent.id: agent for agent in last_good.agents.items} if last_good else {}
    for entry in listed if isinstance(listed, list) else [listed]:
        agent_id = _valid(AgentConfig, {"id": "main", **entry}, "id") if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or agent_id is None:
            at_large |= _denied(entry)  # it is unknown which agent is meant, so it applies to all
        elif last_good is None or agent_id in agents:  # a new agent waits until the error is fixed
            agent = agents.get(agent_id) or _unknown(agent_id, entry)
            agents[agent_id] = _restricted(agent, _allowed(entry, is_known=last_good is not None), _denied(entry))
    items = [_restricted(agent, None, at_large) for agent in agents.values() or [AgentConfig(default=True)]]
    default = next((agent.id for agent in items if agent.default), items[0].id)
    return AgentsConfig(list=[agent.model_copy(update={"default": agent.id == default}) for agent in items])


def _unknown(agent_id: str, entry: Mapping[str, Any]) -> AgentConfig:
    facts = {name: _valid(AgentConfig, entry, name) for name in ("name", "default", "workspace") if name in entry}
    return AgentConfig(id=agent_id, **{name: value for name, value in facts.items() if value is not None})


def _restricted(agent: AgentConfig, allow: list[str] | None, deny: Iterable[str]) -> AgentConfig:
    """That agent with only what both allow, and without what either denies."""
    had = agent.tools.allow
    both = had if allow is None else allow if had is None else [name for name in had if name in allow]
    tools = AgentTools(allow=both, deny=sorted({*agent.tools.deny, *deny}))
    return agent.model_copy(update={"tools": tools})


def _allowed(entry: Mapping[str, Any], *, is_known: bool) -> list[str] | None:
    """What the agent may use, None for all. An unreadable value allows nothing, unless a good list is known."""
    unreadable: list[str] | None = None if is_known else []
    tools = entry.get("tools", {})
    if not isinstance(tools, Mapping):
        return unreadable
    allow = tools.get("allow")
    names = _names(allow)
    return names if names is not None or allow is None else unreadable


def _denied(value: object) -> set[str]:
    """The names in every `deny` at any depth: a misplaced one counts as well."""
    if isinstance(value, Mapping):
        return set(_names(value.get("deny")) or ()).union(*(_denied(part) for part in value.values()))
    if isinstance(value, list):
        return set().union(*(_denied(part) for part in value))
    return set()


def _names(value: object) -> list[str] | None:
    """The names of a list, or a single one; None if it is neither."""
    if isinstance(value, str):
        return [value]
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else None


def _addresses(raw: object) -> dict[str, ProviderConfig]:
    """Without the configured address, a provider's conversations would go to its usual one."""
    providers = raw if isinstance(raw, Mapping) else {}
    found = {str(name): _valid(ProviderConfig, provider, "baseUrl") for name, provider in providers.items()}
    return {name: ProviderConfig(base_url=_without_password(url)) for name, url in found.items() if url}


def _without_password(url: str | None) -> str | None:
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None  # no request can be sent there either
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl() or None


def _valid(section: type[Section], raw: object, key: str) -> Any:
    """The key's value if it is present and valid on its own, else None."""
    if not isinstance(raw, Mapping) or key not in raw:
        return None
    try:
        checked = section.model_validate({key: raw[key]})
    except ValidationError:
        return None
    return checked.model_dump(by_alias=True)[key]
