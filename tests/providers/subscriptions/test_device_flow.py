"""The device flow against a scripted GitHub."""

from collections.abc import Iterator

import httpx
import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.subscriptions.device_flow import DeviceFlow, SignInFailed
from tests.providers.subscriptions.fake_github import DEVICE_SECRET, SIGN_IN, FakeGitHub

PENDING = {"error": "authorization_pending"}


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as github:
        yield github


@pytest.fixture
def client() -> httpx.AsyncClient:
    return httpx.AsyncClient(limits=httpx.Limits(max_keepalive_connections=0))


class Waits:
    """Remembers the waits instead of waiting."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


def flow(github: FakeGitHub) -> DeviceFlow:
    return github.copilot().device_flow("our-app")


async def test_code_is_shown_and_its_secret_is_not(github: FakeGitHub, client: httpx.AsyncClient) -> None:
    code = await flow(github).begin(client)
    assert (code.user_code, code.verification_uri) == ("ABCD-1234", "https://github.com/login/device")
    assert (code.expires_in_s, code.interval_s) == (900, 5)
    assert DEVICE_SECRET not in repr(code)
    assert "client_id=our-app" in github.requests[0][3]


async def test_waits_while_pending_and_slows_down_when_told(github: FakeGitHub, client: httpx.AsyncClient) -> None:
    slower = {"error": "slow_down"}
    github.decisions = [PENDING, slower, PENDING, slower | {"interval": 30}, {"access_token": SIGN_IN}]
    waits = Waits()
    code = await flow(github).begin(client)
    assert await flow(github).token(client, code, waits.sleep) == SIGN_IN
    assert waits.seconds == [5, 5, 10, 10, 30]


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        ({"error": "access_denied"}, "denied"),
        ({"error": "expired_token"}, "expired"),
        ({"error": "incorrect_device_code", "error_description": "no such code"}, "failed"),
    ],
)
async def test_other_ends_have_a_name(
    github: FakeGitHub, client: httpx.AsyncClient, answer: dict[str, str], end: str
) -> None:
    github.decisions = [PENDING, answer]
    code = await flow(github).begin(client)
    with pytest.raises(SignInFailed) as failed:
        await flow(github).token(client, code, Waits().sleep)
    assert failed.value.end == end
    assert DEVICE_SECRET not in str(failed.value)


async def test_nobody_is_asked_after_the_code_has_expired(github: FakeGitHub, client: httpx.AsyncClient) -> None:
    github.expires_in_s, github.decisions = 12, [PENDING]
    code = await flow(github).begin(client)
    with pytest.raises(SignInFailed) as failed:
        await flow(github).token(client, code, Waits().sleep)
    assert failed.value.end == "expired"
    assert len(github.asked("/token")) == 3


async def test_service_that_is_not_there_ends_the_sign_in_after_three_tries(client: httpx.AsyncClient) -> None:
    with FakeGitHub() as github:
        begun = flow(github)
        code = await begun.begin(client)
    waits = Waits()
    with pytest.raises(SignInFailed, match="could not be reached"):
        await begun.token(client, code, waits.sleep)
    assert len(waits.seconds) == 3
    with pytest.raises(ModelError, match="could not be reached"):
        await begun.begin(client)
