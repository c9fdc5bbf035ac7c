"""The agents that Onyx knows by name: how each is started, and how to install it. Onyx installs none itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """`keys` are the environment variables with which it signs in: it gets those, and no other key of the server.

    `path_variable` names its own program to it, `subscription_keys` are those of `keys` that are of a subscription.
    `sign_in` is the command with which a person signs in, `key_method` the protocol's way to sign in with a key, for an
    agent that does not look for one by itself. `checked` is the day of the last look at all this (ISO 8601).
    """

    name: str
    title: str
    command: tuple[str, ...]
    install: str
    sign_in: str
    keys: tuple[str, ...] = ()
    key_method: str = ""
    path_variable: str = ""
    subscription_keys: tuple[str, ...] = ()
    checked: str = "2026-11-26"


_ANTHROPIC = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_GOOGLE = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_ANY = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", *_GOOGLE)
_KNOWN = (
    KnownAgent(
        "claude",
        "Claude Code",
        ("claude-agent-acp",),
        "npm install -g @agentclientprotocol/claude-agent-acp",
        "claude",
        _ANTHROPIC,
        path_variable="CLAUDE_CODE_EXECUTABLE",
        subscription_keys=("CLAUDE_CODE_OAUTH_TOKEN",),
    ),
    KnownAgent(
        "codex",
        "Codex",
        ("codex-acp",),
        "npm install -g @agentclientprotocol/codex-acp",
        "codex login",
        ("OPENAI_API_KEY", "CODEX_API_KEY"),
        "api-key",
        path_variable="CODEX_PATH",
    ),
    KnownAgent(
        "copilot",
        "GitHub Copilot CLI",
        ("copilot", "--acp"),
        "npm install -g @github/copilot",
        "copilot login",
        ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
    ),
    KnownAgent("gemini", "Gemini CLI", ("gemini", "--acp"), "npm install -g @google/gemini-cli", "gemini", _GOOGLE),
    KnownAgent("goose", "Goose", ("goose", "acp"), "see https://block.github.io/goose", "goose configure", _ANY),
    KnownAgent("opencode", "OpenCode", ("opencode", "acp"), "npm install -g opencode-ai", "opencode auth login", _ANY),
)
KNOWN_AGENTS: Mapping[str, KnownAgent] = {agent.name: agent for agent in _KNOWN}


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """How one agent is started. `env` is added to the server's environment, of which `keys` are kept.

    `model` is the one that it works with; empty: as the agent has it.
    """

    name: str
    title: str
    command: tuple[str, ...]
    install: str = ""
    sign_in: str = ""
    keys: tuple[str, ...] = ()
    key_method: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    model: str = ""

    @property
    def has_key(self) -> bool:
        """Whether its environment has one of its keys."""
        return any(self.env.get(name) or os.environ.get(name) for name in self.keys)

    @property
    def is_installed(self) -> bool:
        """Whether the program can be found. Looks at the disk."""
        return shutil.which(self.command[0], path=self.env.get("PATH")) is not None

    @property
    def model_id(self) -> str:
        """How a session names the agent."""
        return f"acp/{self.name}"

    def folder(self, root: Path) -> Path:
        """Where the agent works: `root`, or the folder in it that was configured."""
        return root / self.cwd if self.cwd else root
