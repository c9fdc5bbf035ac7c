"""Providers and their keys on the socket. A key only ever comes in; none goes out."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from onyx_jupyter.operations.wire import Wire


class ProvidersListParams(Wire):
    refresh: bool = Field(default=False, description="ask the servers which models they have")


class SignInCode(Wire):
    """To be entered on the page at `verification_uri` within the time."""

    user_code: str
    verification_uri: str
    expires_in_s: int


class Subscription(Wire):
    """The sign-in to a provider. `kind` `device`: here, with a code; `program`: in the provider's own program."""

    kind: Literal["device", "program"]
    state: Literal["signed_out", "pending", "signed_in", "denied", "expired", "failed", "not_installed"]
    account: str | None = Field(default=None, description="who is signed in, if known")
    message: str | None = Field(default=None, description="why it failed, or what to do")
    code: SignInCode | None = None
    needs_client_id: bool | None = Field(default=None, description="providers.<name>.clientId has to be set first")


class SubscriptionParams(Wire):
    name: str = Field(description="the provider's name")


class SubscriptionsUpdatedData(Wire):
    """The sign-in to a provider has changed."""

    name: str
    state: Literal["signed_out", "pending", "signed_in", "denied", "expired", "failed"]
    message: str | None = None


class ProviderCard(Wire):
    """One provider as the settings show it.

    `state`: `connected` answered since this server started, `ready` has what it needs, `failing` did not answer,
    `not_configured` has no key or server, `locked` is not allowed here. `key` says where its key comes from.
    """

    name: str
    title: str
    state: Literal["connected", "ready", "failing", "not_configured", "locked"]
    message: str | None = None
    hint: str | None = None
    key: Literal["reference", "environment", "store", "file"] | None = None
    variable: str | None = Field(default=None, description="the environment variable that holds the key")
    key_in_file: bool = Field(default=False, description="onyx.json contains a key, whether or not it is the one used")
    key_variables: list[str] = Field(default_factory=list, description="variables that are looked at for a key")
    needs_key: bool
    base_url: str | None = None
    own_server: bool = Field(description="a server of this machine or at a configured address")
    models: list[str] = Field(description="model ids to choose from")
    subscription: Subscription | None = None


class KeyStore(Wire):
    """`place` is where the key of the stored keys is kept; omitted as long as nothing is stored."""

    place: Literal["keyring", "file"] | None = None
    problem: str | None = None


class ProviderList(Wire):
    providers: list[ProviderCard]
    key_store: KeyStore


class ProvidersTestParams(Wire):
    name: str
    model: str | None = Field(default=None, description="model id; default: the default model if it is one of theirs")


class ProviderTest(Wire):
    """One real completion; `costUsd` is omitted if the price is unknown. A failure has a `message`."""

    ok: bool
    model: str
    first_ms: int | None = None
    total_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    message: str | None = None
    hint: str | None = None


class CredentialsSetParams(Wire):
    name: str = Field(description="the provider's name")
    secret: SecretStr


class CredentialParams(Wire):
    name: str


class ProvidersUpdatedData(Wire):
    """Something about the providers has changed: read the list again."""
