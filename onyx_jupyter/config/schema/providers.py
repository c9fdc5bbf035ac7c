"""`providers`, and `local` for the models of this machine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from onyx_jupyter.config.schema.section import Section


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
