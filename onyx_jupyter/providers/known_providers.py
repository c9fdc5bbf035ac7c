"""The providers that Onyx knows by name: their titles, and where their keys come from. It imports no client library.

All other providers with a LiteLLM adapter work under LiteLLM's prefix. They are found by the folder of that name in
its package, since asking LiteLLM would import it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

Protocol = Literal["openai", "responses", "anthropic", "litellm"]
EffortField = Literal["", "reasoning_effort", "reasoning_effort or thinking", "reasoning", "thinking"]
"""How a request says how much to think: `reasoning_effort` is a word (with `thinking: {type: disabled}` for none, where
that is the second way), `reasoning` an object, `thinking` Anthropic's own form. Empty: not at all."""
CarriedKind = Literal[
    "", "reasoning_items", "thinking_blocks", "thought_signature", "reasoning_content", "reasoning_details"
]
"""The fields of a reply that go back with the results of its calls, by the provider's name for them."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a provider is spoken to: the protocol, how it is told how much to think (with which of the EFFORTS), and what
    goes back with the results of calls.
    """

    protocol: Protocol = "litellm"
    effort_field: EffortField = ""
    efforts: tuple[str, ...] = ()
    carried: CarriedKind = ""


THROUGH_LITELLM = Dialect()
OWN_SERVER = Dialect("openai", "reasoning_effort", ("low", "medium", "high"))
LOCAL = "local"
ACP = "acp"
"""Begins the ids of other agents, which answer sessions and are no provider."""
COPILOT = "copilot"
PROGRAM_SUBSCRIPTIONS: Mapping[str, str] = {"claude-subscription": "claude", "codex": "codex", "chatgpt": "codex"}
"""Subscriptions that are used through the provider's own program: the name of the agent that it is."""


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """`key_variables`: the first one that is set counts; empty means that no key is needed or it comes otherwise.

    Onyx speaks to it in its `dialect`: by LiteLLM, or directly at `address` unless a baseUrl is configured.
    `default_url` is where a server on this machine listens. `checked` is the day when address and dialect were last
    compared with the provider's documentation; empty if they were not, or if LiteLLM knows them.
    """

    name: str
    title: str
    key_variables: tuple[str, ...] = ()
    prefix: str | None = None
    default_url: str | None = None
    dialect: Dialect = THROUGH_LITELLM
    address: str = ""
    checked: str = ""

    @property
    def litellm_prefix(self) -> str:
        return self.prefix or self.name

    def key_from(self, environment: Mapping[str, str]) -> str | None:
        """The key in the environment, if there is one."""
        return next((environment[name] for name in self.key_variables if environment.get(name)), None)


_CHAT = Dialect("openai", "reasoning_effort", ("none", "low", "medium", "high"))
# Thinking is on unless it is switched off, and what was thought has to come back.
_THINKING_CHAT = Dialect("openai", "reasoning_effort or thinking", ("none", "low", "high", "max"), "reasoning_content")
_CHECKED = "2026-11-26"


def _openai(
    name: str, title: str, address: str, *key_variables: str, dialect: Dialect = _CHAT, checked: str = _CHECKED
) -> KnownProvider:
    return KnownProvider(name, title, key_variables, dialect=dialect, address=address, checked=checked)


# For OpenAI and Anthropic, `efforts` are those of models that the table of models does not list.
_KNOWN = (
    KnownProvider(
        "openai",
        "OpenAI",
        ("OPENAI_API_KEY",),
        dialect=Dialect(
            "responses", "reasoning", ("none", "minimal", "low", "medium", "high", "xhigh"), "reasoning_items"
        ),
        address="https://api.openai.com/v1",
        checked=_CHECKED,
    ),
    KnownProvider(
        "anthropic",
        "Anthropic",
        ("ANTHROPIC_API_KEY",),
        dialect=Dialect("anthropic", "thinking", ("none", "low", "medium", "high", "xhigh", "max"), "thinking_blocks"),
        address="https://api.anthropic.com",
        checked=_CHECKED,
    ),
    _openai(
        "gemini",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        dialect=Dialect(
            "openai", "reasoning_effort", ("none", "minimal", "low", "medium", "high"), "thought_signature"
        ),
    ),
    _openai("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    _openai("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", checked=""),
    _openai(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        dialect=Dialect(
            "openai", "reasoning", ("none", "minimal", "low", "medium", "high", "xhigh", "max"), "reasoning_details"
        ),
    ),
    _openai(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        dialect=_THINKING_CHAT,
    ),
    _openai("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY"),
    _openai(
        "together_ai",
        "Together AI",
        "https://api.together.xyz/v1",
        "TOGETHERAI_API_KEY",
        "TOGETHER_API_KEY",
        checked="",
    ),
    _openai(
        "fireworks_ai",
        "Fireworks AI",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        "FIREWORKS_AI_API_KEY",
        checked="",
    ),
    _openai("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    KnownProvider("perplexity", "Perplexity", ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY")),
    _openai(
        "moonshot",
        "Moonshot",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        dialect=_THINKING_CHAT,
    ),
    # The address is a plan's; the token of a sign-in names its own.
    KnownProvider(
        COPILOT,
        "GitHub Copilot",
        prefix="github_copilot",
        dialect=OWN_SERVER,
        address="https://api.githubcopilot.com",
    ),
    KnownProvider("azure", "Azure OpenAI", ("AZURE_API_KEY",)),
    KnownProvider("bedrock", "Amazon Bedrock"),
    KnownProvider("vertex", "Google Vertex AI", prefix="vertex_ai"),
    KnownProvider("ollama", "Ollama", prefix="ollama_chat", default_url="http://localhost:11434"),
    KnownProvider("lm_studio", "LM Studio", default_url="http://localhost:1234/v1", dialect=OWN_SERVER),
)
KNOWN_PROVIDERS = {provider.name: provider for provider in _KNOWN}

# LiteLLM starts a device login on any request about some of these, so they never reach it.
LOGIN_PROVIDERS = frozenset({"github_copilot", COPILOT, *PROGRAM_SUBSCRIPTIONS})
_PROGRAM_TITLES = {"claude": "Claude subscription", "codex": "ChatGPT (Codex)"}


def known_provider(name: str) -> KnownProvider | None:
    """The provider of that name, from the table or by LiteLLM's adapter; None if neither knows it."""
    if name in KNOWN_PROVIDERS:
        return KNOWN_PROVIDERS[name]
    if name in _litellm_adapters() and name not in LOGIN_PROVIDERS:
        return KnownProvider(name, name, (f"{name.upper().replace('-', '_')}_API_KEY",))
    return None


def provider_title(name: str) -> str:
    """The provider's name for people; user-defined providers keep their name."""
    agent = PROGRAM_SUBSCRIPTIONS.get(name, "")
    return KNOWN_PROVIDERS[name].title if name in KNOWN_PROVIDERS else _PROGRAM_TITLES.get(agent, name)


def is_agent(model_id: str) -> bool:
    """Whether another agent answers under that id, in a session that chose it."""
    name = model_id.partition("/")[0]
    return name == ACP or name in PROGRAM_SUBSCRIPTIONS


def has_key(provider: KnownProvider, configured: str | None) -> bool:
    """Whether a key is available, in the settings or in the environment."""
    return bool(configured or provider.key_from(os.environ))


@cache
def _litellm_adapters() -> frozenset[str]:
    spec = find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        return frozenset()
    adapters = Path(spec.submodule_search_locations[0]) / "llms"
    return frozenset(path.name for path in adapters.iterdir() if path.is_dir() and not path.name.startswith("_"))
