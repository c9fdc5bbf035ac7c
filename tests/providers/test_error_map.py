from collections.abc import Iterator
from typing import ClassVar

import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.error_map import Provider, model_error
from onyx_jupyter.providers.key_redaction import scrub
from onyx_jupyter.providers.litellm_library import close_litellm
from onyx_jupyter.providers.registry import ProviderModels
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.testing.collected import Collected, collect
from onyx_jupyter.testing.script import Cut, Finish, Hang, HttpError, Page, Raw, Reply
from onyx_jupyter.testing.scripted_server import ScriptedServer

pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the 'model_:DeprecationWarning", "ignore:.*`ReadOnly` qualifier:UserWarning"
)
KEY = "abc-def-0123456789-whole-key"
REQUEST = ModelRequest("", [Message("user", "Hello")])


@pytest.fixture(autouse=True)
def _connections(jp_asyncio_loop: object) -> Iterator[None]:
    yield
    jp_asyncio_loop.run_until_complete(close_litellm())  # type: ignore[attr-defined]


async def ask(reply: Reply, timeout_s: float = 30) -> Collected:
    with ScriptedServer([reply]) as server:
        settings = ProviderSettings(api_key=KEY, base_url=server.base_url)
        models = ProviderModels(ModelsSettings({"openai": settings}, request_timeout_s=timeout_s))
        answer = await collect(models.open("openai/gpt-none").stream(REQUEST))
        assert len(server.completions) == 1, "a failed call is never repeated here"
    return answer


@pytest.mark.parametrize(
    ("reply", "code", "says", "hint"),
    [
        ([HttpError(401, f"Incorrect API key: {KEY}")], "authentication", "key is not valid", "OPENAI_API_KEY"),
        ([HttpError(403, "No access.")], "authentication", "does not allow", "providers.openai.apiKey"),
        ([HttpError(429, "Slow down.")], "rate_limit", "rate-limiting", "another model"),
        ([HttpError(429, "You exceeded your current quota", "insufficient_quota")], "refused", "no credit", "credit"),
        ([HttpError(400, "maximum context length is 10", "context_length_exceeded")], "overflow", "longer", "session"),
        ([HttpError(400, "tools are not supported")], "bad_response", "tools are not", "toolMode"),
        ([HttpError(404, "no such model")], "not_found", "gpt-none", "spelling"),
        ([HttpError(500, "Oops.")], "unavailable", "server error", "Ask again"),
        ([HttpError(503, "Busy.")], "unavailable", "server error", "Ask again"),
        ([Cut()], "unavailable", "Could not connect to 127.0.0.1", "baseUrl"),
        (
            [Page(502, "<html><style>a</style><h1>Bad gateway</h1></html>")],
            "unavailable",
            "error: Bad gateway",
            "Ask again",
        ),
        ([Page(200, "<html>Log in</html>")], "bad_response", "did not return a model response", "baseUrl"),
        (
            [Raw(b'data: {"error": {"message": "Slow down.", "code": 429}}\n\n')],
            "rate_limit",
            "rate-limiting",
            "Ask again",
        ),
        ([Raw(b"data: {broken\n\n")], "bad_response", "an invalid response", "Ask again"),
        (["Half", Cut()], "unavailable", "in the middle of the answer", "Ask again"),
        (["Half", Finish(None)], "unavailable", "in the middle of the answer", "Ask again"),
        (["Half", Finish("content_filter")], "refused", "content policy", "Rephrase"),
    ],
)
async def test_each_failure_says_what_failed_and_what_to_do(reply: Reply, code: str, says: str, hint: str) -> None:
    answer = await ask(reply)
    assert answer.error is not None
    assert answer.error.code == code
    assert says in str(answer.error)
    assert hint in (answer.error.hint or "")
    assert answer.ends == []
    assert KEY not in f"{answer.error} {answer.error.hint}"


async def test_requested_wait_is_passed_on() -> None:
    error = (await ask([HttpError(429, "Slow down.", headers={"retry-after": "7"})])).error
    assert error is not None
    assert error.retry_after_s == 7
    assert "7 seconds" in (error.hint or "")


async def test_no_response_times_out() -> None:
    error = (await ask([Hang()], timeout_s=0.2)).error
    assert error is not None
    assert error.code == "timeout"


async def test_missing_server_is_named() -> None:
    settings = ModelsSettings({"mine": ProviderSettings(base_url="http://127.0.0.1:9/v1")})
    answer = await collect(ProviderModels(settings).open("mine/model").stream(REQUEST))
    assert answer.error is not None
    assert answer.error.code == "unavailable"
    assert "127.0.0.1:9" in str(answer.error)
    assert "providers.mine.baseUrl" in (answer.error.hint or "")


def test_retry_date_in_the_past_is_no_wait() -> None:
    class Limited(Exception):
        status_code = 429
        headers: ClassVar = {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}

    assert model_error(Limited(), Provider("P", "p", "m")).retry_after_s == 0


def test_unexpected_exception_is_a_model_error_without_key() -> None:
    error = model_error(RuntimeError(f"weird {KEY}"), Provider("P", "p", "m", secrets=(KEY,)))
    assert isinstance(error, ModelError)
    assert "weird" in str(error)
    assert KEY not in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdef123456",
        "Incorrect API key provided: sk-12***********cdef.",
        "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9",
        "https://host/path?key=AIzaSyA1234567890abcdef",
    ],
)
def test_key_like_text_is_redacted(text: str) -> None:
    cleaned = scrub(text)
    assert "[key]" in cleaned
    assert not any(part in cleaned for part in ("abcdef123456", "cdef", "eyJ", "AIza"))


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "soon"}, None),
    ],
)
async def test_retry_after_of_server_error_is_read(headers: dict[str, str], wait_s: float) -> None:
    error = (await ask([HttpError(503, "Busy.", headers=headers)])).error
    assert error is not None
    assert (error.code, error.retry_after_s, error.permanent) == ("unavailable", wait_s, False)


async def test_rejected_request_is_not_retryable() -> None:
    error = (await ask([HttpError(400, "temperature must be 1")])).error
    assert error is not None
    assert (error.code, error.permanent) == ("bad_response", True)
