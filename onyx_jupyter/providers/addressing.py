"""Resolves a model id and the settings to an endpoint, without any network access."""

from __future__ import annotations

import os

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.endpoint import Endpoint
from onyx_jupyter.providers.error_map import Provider, missing_key
from onyx_jupyter.providers.known_providers import (
    COPILOT,
    KNOWN_PROVIDERS,
    LOCAL,
    LOGIN_PROVIDERS,
    OWN_SERVER,
    Dialect,
    KnownProvider,
    is_agent,
    known_provider,
)
from onyx_jupyter.providers.network_guard import check_allowed
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings

# Sent to servers that need no key: the client library insists on one.
_NO_KEY = "none"
SIGN_IN = "Sign in: Settings, Providers, GitHub Copilot."


def endpoint_of(model_id: str, settings: ModelsSettings) -> Endpoint:
    """Raises: ModelError (not_found, authentication, refused)."""
    name, _, model = model_id.partition("/")
    if not model:
        raise ModelError("not_found", f'"{model_id}" is not a model id.', hint=_id_hint())
    if is_agent(model_id):
        message = (
            f"{model_id} is another agent: it answers in sessions that chose it, and does no work in the background."
        )
        raise ModelError("not_found", message, hint="Choose a model for that.", permanent=True)
    provider = settings.providers.get(name, ProviderSettings())
    if name == COPILOT:
        return _copilot(model_id, settings, provider)
    if name in LOGIN_PROVIDERS:
        raise ModelError("not_found", f'There is no provider "{name}".', hint=f"Use {COPILOT}/{model}.")
    known = known_provider(name)
    endpoint = _known(known, model_id, settings, provider) if known else _compatible(name, model_id, settings, provider)
    check_allowed(endpoint.address or None, endpoint.provider.title)
    return endpoint


def dialect_of(known: KnownProvider | None, base_url: str | None) -> Dialect:
    """How a provider is spoken to at its own address, or at the configured one; None: a provider of the user's own.

    Only OpenAI itself is sure to have Responses: another address gets what all servers of its kind understand.
    """
    return OWN_SERVER if known is None or (known.name == "openai" and base_url) else known.dialect


def address_in_environment(name: str) -> str | None:
    """Where that provider's own library and LiteLLM would send requests without a baseUrl, a gateway for example."""
    prefix = name.upper().replace("-", "_")
    return os.environ.get(f"{prefix}_BASE_URL") or os.environ.get(f"{prefix}_API_BASE")


def usual_address(known: KnownProvider) -> str | None:
    """Where requests go without a baseUrl, if that is not the provider's own address."""
    return known.default_url or (address_in_environment(known.name) if known.address else None)


def is_self_hosted(endpoint: Endpoint) -> bool:
    """Whether it is a server with OpenAI's protocol at an address that was configured for it."""
    name = endpoint.provider.setting
    return known_provider(name) is None or (name == "openai" and endpoint.provider.base_url is not None)


def _known(known: KnownProvider, model_id: str, settings: ModelsSettings, own: ProviderSettings) -> Endpoint:
    model = model_id.partition("/")[2]
    key = own.api_key or known.key_from(os.environ)
    base_url = own.base_url or usual_address(known)
    provider = Provider(
        title=known.title,
        setting=known.name,
        model=model,
        key_variable=known.key_variables[0] if known.key_variables else None,
        base_url=base_url,
        secrets=(key,) if key else (),
    )
    if key is None and known.name in KNOWN_PROVIDERS and known.key_variables and base_url is None:
        raise missing_key(provider)
    return Endpoint(
        model_id=model_id,
        litellm_name=f"{known.litellm_prefix}/{model}",
        provider=provider,
        api_key=key or (_NO_KEY if base_url else None),
        json_actions=own.tool_mode == "json",
        timeout_s=settings.request_timeout_s,
        context_window=own.context_window,
        vision=own.vision,
        # A server of one's own, or on this machine, may serve any model by a name that has a price elsewhere.
        priced=known.default_url is None and not (known.name == "openai" and base_url),
        effort=own.effort,
        dialect=dialect_of(known, base_url),
        address=base_url or known.address,
        options=own.options,
    )


def _copilot(model_id: str, settings: ModelsSettings, own: ProviderSettings) -> Endpoint:
    known, model = KNOWN_PROVIDERS[COPILOT], model_id.partition("/")[2]
    if own.api_key is None:
        message = f"You are not signed in to {known.title}."
        raise ModelError("authentication", message, hint=SIGN_IN, permanent=True)
    return Endpoint(
        model_id=model_id,
        litellm_name=f"{known.litellm_prefix}/{model}",
        provider=Provider(known.title, known.name, model, secrets=(own.api_key,), sign_in=SIGN_IN),
        api_key=own.api_key,
        json_actions=own.tool_mode == "json",
        timeout_s=settings.request_timeout_s,
        context_window=own.context_window,
        vision=own.vision,
        priced=False,
        effort=own.effort,
        dialect=known.dialect,
        address=known.address,
    )


def _compatible(name: str, model_id: str, settings: ModelsSettings, own: ProviderSettings) -> Endpoint:
    if own.base_url is None:
        raise ModelError("not_found", f'There is no provider "{name}" (in "{model_id}").', hint=_id_hint(name))
    model = model_id.partition("/")[2]
    secrets = (own.api_key,) if own.api_key else ()
    return Endpoint(
        model_id=model_id,
        litellm_name=f"openai/{model}",
        provider=Provider(name, name, model, base_url=own.base_url, secrets=secrets),
        api_key=own.api_key or _NO_KEY,
        json_actions=own.tool_mode == "json",
        timeout_s=settings.request_timeout_s,
        context_window=own.context_window,
        vision=bool(own.vision),
        priced=False,
        effort=own.effort,
        dialect=dialect_of(None, own.base_url),
        address=own.base_url,
    )


def _id_hint(name: str | None = None) -> str:
    known = ", ".join([LOCAL, *KNOWN_PROVIDERS])
    hint = f"A model id is provider/model; providers are {known} and others that LiteLLM supports."
    return f"{hint} For your own server, set providers.{name}.baseUrl." if name else hint
