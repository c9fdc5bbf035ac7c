"""Which model does what: the models of the configuration by role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from onyx_jupyter.config.schema import AgentConfig, Config

Role = Literal["default", "heartbeat", "cron", "subagent", "consolidation", "completion", "embedding"]
ROLES: tuple[Role, ...] = get_args(Role)
# In these roles the agent itself answers, so its own model comes before that of the role.
_OF_AGENT: tuple[Role, ...] = ("default", "heartbeat", "cron", "subagent")

# They work unasked, for hours: what a subscription or another agent does for a person, it does not do for them.
_BACKGROUND: tuple[Role, ...] = ("heartbeat", "cron", "consolidation")
PLAN_PROVIDERS = frozenset({"acp", "copilot", "github_copilot", "codex", "chatgpt", "claude-subscription"})
"""Those whose calls a subscription pays for, or may."""

_ALIASES: dict[Role, str] = {
    "default": "agents.defaults.model",
    "heartbeat": "heartbeat.model",
    "consolidation": "memory.consolidationModel",
    "embedding": "memory.embeddingModel",
}


def model_for(config: Config, role: Role, agent: AgentConfig | None = None, job: str | None = None) -> str | None:
    """The configured model for a role: the job's own, the agent's own, the role's, the default one.

    Where no agent answers (consolidation, completion), the role's comes before the agent's; embeddings are made by a
    model of that role only. In the background a subscription or another agent works only if it is chosen for the job
    or the role itself. None if none is configured.
    """
    of_agent, of_role = agent.model if agent else None, role_model(config, role)
    if role == "embedding":
        return job or of_role
    first, second = (of_agent, of_role) if role in _OF_AGENT else (of_role, of_agent)
    wished = (job, first, second, role_model(config, "default"))
    usable = (one for one in wished if one in (job, of_role) or role not in _BACKGROUND or not is_on_plan(one or ""))
    return next(filter(None, usable), None)


def is_on_plan(model_id: str) -> bool:
    """Whether a subscription pays for its calls, or may."""
    return model_id.partition("/")[0] in PLAN_PROVIDERS


def role_model(config: Config, role: Role) -> str | None:
    """The model that is configured for the role itself."""
    return getattr(config.runtime, f"{role}_model") or _of_alias(config, role)


def keys_of(role: Role) -> tuple[str, ...]:
    """The keys that name the role's model, the one that counts first."""
    alias = _ALIASES.get(role)
    return (f"runtime.{role}Model", *([alias] if alias else []))


def differing(config: Config) -> Iterator[tuple[str, str]]:
    """The keys of two different models for one role, the one that counts first."""
    for role in ROLES:
        model, other = getattr(config.runtime, f"{role}_model"), _of_alias(config, role)
        if model and other and model != other:
            yield f"runtime.{role}Model", _ALIASES[role]


def _of_alias(config: Config, role: Role) -> str | None:
    """The value of the older key for a role's model."""
    models = {
        "default": config.agents.defaults.model,
        "heartbeat": config.heartbeat.model,
        "consolidation": config.memory.consolidation_model,
        "embedding": config.memory.embedding_model,
    }
    return models.get(role)
