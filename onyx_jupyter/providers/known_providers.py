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

Protocol = Literal["openai", "anthropic", "litellm"]
LOCAL = "local"
ACP = "acp"
"""Begins the ids of other agents, which answer sessions and are no provider."""


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """`key_variables`: the first one that is set counts; empty means that no key is needed or it comes otherwise.

    `protocol` is how Onyx speaks to it: by LiteLLM, or directly at `address` unless a baseUrl is configured.
    `default_url` is where a server on this machine listens.
    """

    name: str
    title: str
    key_variables: tuple[str, ...] = ()
    prefix: str | None = None
    default_url: str | None = None
    protocol: Protocol = "litellm"
    address: str = ""

    @property
    def litellm_prefix(self) -> str:
        return self.prefix or self.name

    def key_from(self, environment: Mapping[str, str]) -> str | None:
        """The key in the environment, if there is one."""
        return next((environment[name] for name in self.key_variables if environment.get(name)), None)


def _openai(name: str, title: str, address: str, *key_variables: str) -> KnownProvider:
    return KnownProvider(name, title, key_variables, protocol="openai", address=address)


# Addresses and protocols as the providers documented them in November 2026. LiteLLM serves those whose own fields have
# to come back with a tool's result (Gemini's thought signatures, DeepSeek's reasoning), and those without tools.
_KNOWN = (
    KnownProvider("openai", "OpenAI", ("OPENAI_API_KEY",)),
    KnownProvider(
        "anthropic",
        "Anthropic",
        ("ANTHROPIC_API_KEY",),
        protocol="anthropic",
        address="https://api.anthropic.com",
    ),
    KnownProvider("gemini", "Google Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    _openai("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    _openai("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    _openai("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    KnownProvider("deepseek", "DeepSeek", ("DEEPSEEK_API_KEY",)),
    _openai("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY"),
    _openai("together_ai", "Together AI", "https://api.together.xyz/v1", "TOGETHERAI_API_KEY", "TOGETHER_API_KEY"),
    _openai(
        "fireworks_ai",
        "Fireworks AI",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        "FIREWORKS_AI_API_KEY",
    ),
    _openai("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    KnownProvider("perplexity", "Perplexity", ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY")),
    _openai("moonshot", "Moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    KnownProvider("azure", "Azure OpenAI", ("AZURE_API_KEY",)),
    KnownProvider("bedrock", "Amazon Bedrock"),
    KnownProvider("vertex", "Google Vertex AI", prefix="vertex_ai"),
    KnownProvider("ollama", "Ollama", prefix="ollama_chat", default_url="http://localhost:11434"),
    KnownProvider("lm_studio", "LM Studio", default_url="http://localhost:1234/v1", protocol="openai"),
)
KNOWN_PROVIDERS = {provider.name: provider for provider in _KNOWN}

# LiteLLM starts a device login on any request about these, so they never reach it.
LOGIN_PROVIDERS = frozenset({"github_copilot", "chatgpt", "copilot", "codex", "claude-subscription"})


def known_provider(name: str) -> KnownProvider | None:
    """The provider of that name, from the table or by LiteLLM's adapter; None if neither knows it."""
    if name in KNOWN_PROVIDERS:
        return KNOWN_PROVIDERS[name]
    if name in _litellm_adapters() and name not in LOGIN_PROVIDERS:
        return KnownProvider(name, name, (f"{name.upper().replace('-', '_')}_API_KEY",))
    return None


def provider_title(name: str) -> str:
    """The provider's name for people; user-defined providers keep their name."""
    return KNOWN_PROVIDERS[name].title if name in KNOWN_PROVIDERS else name


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
