"""Turns what LiteLLM and httpx raise into ModelError: in plain words, with a next step, and without keys.

Both libraries are recognised by class name and status code, since importing them here would cost seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.key_redaction import scrub

_DETAIL_CHARS = 300
_OVERFLOW = re.compile(
    r"(?i)context.{0,20}(length|window|size)|maximum context|too many tokens|prompt is too long|exceed_context_size"
)
_NO_TOOLS = re.compile(r"(?i)(tool|function).{0,40}(not supported|unsupported|not support)|does not support.{0,20}tool")
_NO_CREDIT = re.compile(r"(?i)insufficient[_ ]quota|billing|credit balance|exceeded your current quota")
_WEB_PAGE = re.compile(r"(?i)<!doctype|<html|<body")
_MARKUP = re.compile(r"(?is)<(style|script|title)\b.*?</\1\s*>|<[^>]*>")
_CANNOT_CONNECT = {"ConnectError", "ConnectTimeout", "ClientConnectorError", "ConnectionRefusedError", "gaierror"}
_BROKEN_OFF = {
    "ReadError",
    "RemoteProtocolError",
    "ClientPayloadError",
    "ServerDisconnectedError",
    "IncompleteRead",
    "WriteError",
    "ConnectionResetError",
}
_TIMED_OUT = {"Timeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "APITimeoutError", "TimeoutError"}
_NOT_JSON = {"JSONDecodeError", "APIResponseValidationError"}


@dataclass(frozen=True, slots=True)
class Provider:
    """The provider that was called, as far as a message needs it. `setting` is its name in the configuration.

    `sign_in` says how to sign in, if it takes no key.
    """

    title: str
    setting: str
    model: str
    key_variable: str | None = None
    base_url: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    sign_in: str = ""

    @property
    def address(self) -> str:
        """Host and port, if a baseUrl is set."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2] if self.base_url else self.title


def model_error(error: BaseException, provider: Provider, *, started: bool = False) -> ModelError:
    """The ModelError for what a call to that provider raised; `started` says that part of the answer had arrived."""
    chain = list(_chain(error))
    names = {type(link).__name__ for link in chain}
    status = _status(error)
    detail = _detail(error, provider)
    if names & _CANNOT_CONNECT:
        return _unreachable(provider)
    if "ContextWindowExceededError" in names or (status in (400, 413, 500) and _OVERFLOW.search(detail)):
        return ModelError(
            "overflow",
            f"The conversation is longer than the context window of {provider.model}.",
            hint="Start a new session, or choose a model with a larger context window.",
        )
    if "ContentPolicyViolationError" in names:
        return refused(provider)
    if status in (401, 403) or names & {"AuthenticationError", "PermissionDeniedError"}:
        return _authentication(provider, status)
    if status == 402 or (status == 429 and _NO_CREDIT.search(detail)):
        return ModelError(
            "refused",
            f"{provider.title} says that the account has no credit left.",
            hint=f"Add credit at {provider.title}, or choose another model.",
        )
    if status == 429 or "RateLimitError" in names:
        return _rate_limit(error, provider)
    if names & _TIMED_OUT or status in (408, 504):
        return ModelError(
            "timeout",
            f"{provider.title} did not answer in time.",
            hint="Ask again. If it keeps happening, choose a smaller model or raise runtime.retry.timeoutMs.",
        )
    if status == 404 or "NotFoundError" in names:
        return ModelError(
            "not_found",
            f'{provider.title} has no model "{provider.model}".',
            hint="Check its spelling, or choose another model from the list.",
        )
    return _broken(error, names, status, detail, provider, started)


def missing_key(provider: Provider) -> ModelError:
    """No key is set for a provider that needs one."""
    return ModelError("authentication", f"No API key is set for {provider.title}.", hint=_key_hint(provider))


def incomplete_stream(provider: Provider) -> ModelError:
    """The connection or the stream ended before the answer was complete."""
    return ModelError(
        "unavailable",
        f"{provider.title} closed the connection in the middle of the answer.",
        hint="Ask again. What was written so far has been kept.",
    )


def no_answer(provider: Provider) -> ModelError:
    """The server's answer contains nothing from a model: an empty stream, or a web page."""
    hint = f"Check providers.{provider.setting}.baseUrl, or choose another model." if provider.base_url else None
    return ModelError(
        "bad_response",
        f"{provider.title} did not return a model response.",
        hint=hint or "Ask again, or choose another model.",
    )


def answer_too_long(provider: Provider) -> ModelError:
    """The answer is longer than any person or program could use."""
    message = f"{provider.title} did not stop writing, so the answer was cut off."
    return ModelError("bad_response", message, hint="Rephrase the question, or choose another model.")


def refused(provider: Provider) -> ModelError:
    """The provider's content rules refused the request."""
    return ModelError(
        "refused",
        f"{provider.title} refused to answer because of its content policy.",
        hint="Rephrase the question, or choose another model.",
    )


def _unreachable(provider: Provider) -> ModelError:
    hint = (
        f"Start the server, or correct providers.{provider.setting}.baseUrl."
        if provider.base_url
        else "Check the network connection. A local model works without one."
    )
    return ModelError("unavailable", f"Could not connect to {provider.address}: no response.", hint=hint)


def _authentication(provider: Provider, status: int | None) -> ModelError:
    key = "sign-in" if provider.sign_in else "key"
    what = f"does not allow this {key} to use that model" if status == 403 else f"says the {key} is not valid"
    return ModelError("authentication", f"{provider.title} {what}.", hint=_key_hint(provider))


def _key_hint(provider: Provider) -> str:
    if provider.sign_in:
        return provider.sign_in
    setting = f"providers.{provider.setting}.apiKey in onyx.json"
    return f"Set {provider.key_variable} or {setting}." if provider.key_variable else f"Set {setting}."


def _rate_limit(error: BaseException, provider: Provider) -> ModelError:
    wait_s = _retry_after_s(error)
    message = f"{provider.title} is rate-limiting requests."
    return ModelError("rate_limit", message, hint=f"{_when(wait_s)}, or choose another model.", retry_after_s=wait_s)


def _when(wait_s: float | None) -> str:
    return f"Ask again in {wait_s:.0f} seconds" if wait_s else "Ask again in a moment"


def _broken(
    error: BaseException, names: set[str], status: int | None, detail: str, provider: Provider, started: bool
) -> ModelError:
    if names & _NOT_JSON:
        message = f"{provider.title} sent an invalid response."
        return ModelError("bad_response", message, hint="Ask again, or choose another model.")
    if names & _BROKEN_OFF:
        return incomplete_stream(provider) if started else _unreachable(provider)
    if status is not None and status < 500:
        hint = "Choose another model, or check the provider's documentation."
        if _NO_TOOLS.search(detail):
            hint = f'Set providers.{provider.setting}.toolMode to "json", so that the model needs no native tool calls.'
        message = f"{provider.title} rejected the request: {detail}"
        return ModelError("bad_response", message, hint=hint, permanent=True)
    if status is not None:
        wait_s = _retry_after_s(error)
        hint = f"{_when(wait_s)}, or choose another model."
        message = f"{provider.title} reported a server error: {detail}"
        return ModelError("unavailable", message, hint=hint, retry_after_s=wait_s)
    return ModelError("bad_response", f"{provider.title} failed: {detail}", hint="Ask again, or choose another model.")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int | None:
    """The first HTTP status that came from the provider; LiteLLM makes up a 500 for a broken connection.

    An error in the middle of a stream, which began with 200, has its status in its body.
    """
    for link in _chain(error):
        body = getattr(link, "body", None)
        code = body.get("code") if isinstance(body, Mapping) else None
        if isinstance(code, int) and 400 <= code < 600:
            return code
    for link in _chain(error):
        status = getattr(link, "status_code", None) or getattr(getattr(link, "response", None), "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _detail(error: BaseException, provider: Provider) -> str:
    """The provider's own words, short and without keys."""
    bodies = (getattr(link, "body", None) for link in _chain(error))
    text = next((str(body["message"]) for body in bodies if isinstance(body, Mapping) and body.get("message")), "")
    text = text or re.sub(r"^(litellm\.)?(\w+Error: ?)+(\w+Exception ?- ?)?", "", str(error))
    text = " ".join(scrub(_without_markup(text), provider.secrets).split())
    return text[:_DETAIL_CHARS] or type(error).__name__


def _without_markup(text: str) -> str:
    """The words of a web page, for example the answer of a proxy in front of the provider."""
    return _MARKUP.sub(" ", text) if _WEB_PAGE.search(text) else text


def _retry_after_s(error: BaseException) -> float | None:
    for link in _chain(error):
        holders: tuple[Any, ...] = (
            getattr(link, "litellm_response_headers", None),
            getattr(link, "headers", None),
            getattr(getattr(link, "response", None), "headers", None),
        )
        for headers in holders:
            if headers is None or not hasattr(headers, "get"):
                continue
            if (milliseconds := headers.get("retry-after-ms")) and (wait_s := _seconds(str(milliseconds))) is not None:
                return wait_s / 1000
            if (value := headers.get("retry-after")) is not None:
                return _seconds(str(value))
    return None


def _seconds(value: str) -> float | None:
    """Source: RFC 9110, 10.2.3 (seconds or a date)."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
