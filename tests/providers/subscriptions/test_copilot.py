"""GitHub Copilot's models against a scripted GitHub: tokens are exchanged, renewed, and seen by nobody."""

import json
import logging
from collections.abc import Iterator

import pytest

from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.providers.subscriptions.copilot import Copilot
from onyx_jupyter.testing.collected import Collected, collect
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.no_real_providers import no_real_providers
from tests.providers.subscriptions.fake_github import SIGN_IN, FakeGitHub

REQUEST = ModelRequest("", [Message("user", "Hi")])


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as github:
        yield github


async def answers(copilot: Copilot, count: int = 1, sign_in: str = SIGN_IN) -> list[Collected]:
    models = ProviderModels(ModelsSettings({"copilot": ProviderSettings(api_key=sign_in)}), copilot=copilot)
    found = [await collect(models.open("copilot/gpt-x").stream(REQUEST)) for _ in range(count)]
    await models.close()
    return found


async def test_answer_comes_from_the_address_that_the_token_names(github: FakeGitHub) -> None:
    (answer,) = await answers(github.copilot())
    assert (answer.text, answer.error) == ("Hello.", None)
    (headers,) = github.asked("/chat/completions")
    assert headers["authorization"] == "Bearer tid=secret1;exp=1"
    assert headers["user-agent"].startswith("onyx-jupyter/")
    assert headers["editor-version"].startswith("onyx-jupyter/")


async def test_token_is_shared_and_renewed_before_it_ends(github: FakeGitHub) -> None:
    clock = FakeClock()
    copilot = github.copilot(clock=clock)
    await answers(copilot, 2)
    clock.advance(1499)
    await answers(copilot)
    assert github.exchanged == 1
    clock.advance(1)
    await answers(copilot)
    assert github.exchanged == 2


async def test_refused_token_is_renewed_once(github: FakeGitHub) -> None:
    github.refuses = {"tid=secret1;exp=1"}
    (answer,) = await answers(github.copilot())
    assert (answer.text, answer.error, github.exchanged) == ("Hello.", None, 2)


async def test_token_that_stays_refused_asks_to_sign_in(github: FakeGitHub) -> None:
    github.refuses = {"tid=secret1;exp=1", "tid=secret2;exp=1"}
    (answer,) = await answers(github.copilot())
    assert answer.error is not None
    assert (answer.error.code, github.exchanged, len(github.asked("/chat/completions"))) == ("authentication", 2, 2)
    assert "Sign in" in (answer.error.hint or "")
    assert "secret" not in str(answer.error)


async def test_401_in_the_middle_keeps_what_was_said(github: FakeGitHub) -> None:
    said = {"choices": [{"delta": {"content": "Half an ans"}}]}
    refused = {"error": {"code": 401, "message": "token tid=secret1;exp=1 expired"}}
    github.chat = f"data: {json.dumps(said)}\n\ndata: {json.dumps(refused)}\n\n".encode()
    (answer,) = await answers(github.copilot())
    assert answer.text == "Half an ans"
    assert answer.error is not None
    assert answer.error.code == "authentication"
    assert "secret1" not in f"{answer.error} {answer.error.hint}"


@pytest.mark.parametrize(
    ("exchange", "code", "words"),
    [
        ((401, {"message": "Bad credentials"}), "authentication", "no longer accepts"),
        ((403, {"message": "no plan"}), "authentication", "does not give this sign-in access"),
        ((404, {"message": "Not Found"}), "authentication", "does not give this sign-in access"),
        ((500, {}), "unavailable", "HTTP 500"),
        ((200, {"endpoints": {}}), "bad_response", "gave no token"),
        ((200, {"token": "t", "endpoints": {"api": "http://elsewhere.example"}}), "bad_response", "gave no token"),
    ],
)
async def test_failed_exchange_says_why(github: FakeGitHub, exchange: tuple[int, dict], code: str, words: str) -> None:
    github.exchange = exchange
    (answer,) = await answers(github.copilot())
    assert answer.error is not None
    assert answer.error.code == code
    assert words in str(answer.error)
    assert github.asked("/chat/completions") == []


async def test_no_secret_is_in_a_log_or_a_representation(github: FakeGitHub, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    copilot = github.copilot()
    await answers(copilot)
    github.exchange = (401, {"message": f"bad token {SIGN_IN}"})
    await answers(copilot, sign_in="gho_another0sign0in")
    told = caplog.text + repr(vars(copilot))
    assert not [secret for secret in (SIGN_IN, "gho_another0sign0in", "secret1") if secret in told]


async def test_forbidden_providers_are_not_asked() -> None:
    with no_real_providers():
        (answer,) = await answers(Copilot())
    assert answer.error is not None
    assert answer.error.code == "refused"
