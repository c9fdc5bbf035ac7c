"""`providers`, and `local` for the models of this machine."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from onyx_jupyter.config.schema.section import REFUSED_ADDRESS, REFUSED_KEY, IfRefused, Section

UNAVAILABLE = "the provider is unavailable"


class ProviderConfig(Section):
    """How to reach a provider; `baseUrl` points `openai` or a name of your own at an OpenAI-compatible server."""

    api_key: Annotated[SecretStr | None, IfRefused(REFUSED_KEY, UNAVAILABLE)] = Field(
        default=None, description="default: the provider's usual environment variable"
    )
    base_url: Annotated[str | None, IfRefused(REFUSED_ADDRESS, UNAVAILABLE)] = Field(
        default=None, pattern=r"^https?://", description="address of the server"
    )
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
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = Field(
        default=None, description="how much its models think before they answer; default: the model's own"
    )
    region: str | None = Field(default=None, description="Amazon Bedrock: AWS region")
    profile: str | None = Field(default=None, description="Amazon Bedrock: profile in the AWS configuration")
    project: str | None = Field(default=None, description="Google Vertex AI: project")
    location: str | None = Field(default=None, description="Google Vertex AI: location, such as `europe-west4`")
    api_version: str | None = Field(default=None, description="Azure OpenAI: API version")
    client_id: str | None = Field(
        default=None, min_length=1, description="GitHub Copilot: client id of the OAuth app that you sign in with"
    )
    cli_path: str | None = Field(
        default=None, min_length=1, description="Claude or ChatGPT subscription: the program `claude` or `codex`"
    )

    @property
    def is_refused(self) -> bool:
        """Whether its address or key cannot be read, so that nothing may be sent to it."""
        return self.base_url == REFUSED_ADDRESS or (
            self.api_key is not None and self.api_key.get_secret_value() == REFUSED_KEY
        )


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
