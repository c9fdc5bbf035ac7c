"""Asking servers which models they have: whom, what is kept of it, and servers that answer badly."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.served_models import local_servers, served_models
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings

KEY = "a-key-of-the-lab-0123"


@asynccontextmanager
async def server(answer: bytes, endless: bytes = b"") -> AsyncIterator[tuple[str, list[bytes]]]:
    """Gives every request this answer, then `endless` until the client leaves; yields address and what was sent."""
    requests: list[bytes] = []
    sent_bytes = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent_bytes
        try:
            requests.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer)
            while endless and sent_bytes < 200_000_000:
                writer.write(endless)
                sent_bytes += len(endless)
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()
            requests.extend([b"sent %d" % sent_bytes] if endless else [])

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", requests


def json_answer(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (status, len(body), body)


LISTED = json_answer(b'{"data": [{"id": "one"}]}')


async def test_a_provider_that_is_not_allowed_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings = ModelsSettings(refused=frozenset({"openai", "ollama"}))
    assert await served_models(settings, ["openai", "ollama"]) == {}
    assert local_servers(settings) == ["lm_studio"]


async def test_what_a_provider_had_is_forgotten_once_it_cannot_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    settings = ModelsSettings(served={"mistral": ("mistral-large",)})
    await served_models(settings, ["mistral"])
    assert settings.served == {}
    assert [one.id for one in await ProviderModels(settings).list() if one.provider == "mistral"] == []


async def test_an_endless_list_is_not_read_to_its_end() -> None:
    head = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"data": ["'
    async with server(head, endless=b"x" * 1_000_000) as (address, requests):
        settings = ModelsSettings({"lab": ProviderSettings(base_url=address)})
        answer = (await served_models(settings, ["lab"]))["lab"]
    assert answer.models == ()
    assert answer.error is not None
    assert "too long" in str(answer.error)
    assert all(int(one.split()[1]) < 50_000_000 for one in requests if one.startswith(b"sent"))


async def test_names_that_are_too_long_to_be_shown_are_left_out() -> None:
    body = b'{"data": [{"id": "one"}, {"id": "%s"}, {"id": "two\\nlines"}]}' % (b"x" * 5_000)
    async with server(json_answer(body)) as (address, _):
        settings = ModelsSettings({"lab": ProviderSettings(base_url=address)})
        assert (await served_models(settings, ["lab"]))["lab"].models == ("one",)


async def test_a_server_without_a_list_is_said_to_have_none() -> None:
    async with server(json_answer(b"{}", b"404 Not Found")) as (address, _):
        settings = ModelsSettings({"lab": ProviderSettings(base_url=address)})
        error = (await served_models(settings, ["lab"]))["lab"].error
    assert error is not None
    assert str(error) == "lab does not list its models."
    assert "models" in (error.hint or "")


async def test_password_in_an_address_is_in_no_error() -> None:
    async with server(json_answer(b"{}", b"418 No")) as (address, requests):
        settings = ModelsSettings({"lab": ProviderSettings(base_url=address.replace("://", "://me:pass-word-1@"))})
        error = (await served_models(settings, ["lab"]))["lab"].error
    assert b"authorization: basic" in requests[0].lower()
    assert error is not None
    assert "pass-word-1" not in f"{error} {error.hint}"


async def test_key_with_a_line_break_is_in_no_error() -> None:
    async with server(LISTED) as (address, _):
        settings = ModelsSettings({"anthropic": ProviderSettings(api_key=f"{KEY}\n", base_url=address)})
        error = (await served_models(settings, ["anthropic"]))["anthropic"].error
    assert error is not None
    assert KEY not in f"{error} {error.hint}"
