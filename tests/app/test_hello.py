"""A feature more is one package and one line: its setting, tool, operation and words in the prompt work at once."""

import json
from collections.abc import Sequence
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

import onyx_jupyter.app.installed_features as installed
from onyx_jupyter.app.features import FEATURES
from onyx_jupyter.app.installed_features import with_installed
from onyx_jupyter.errors import StorageError
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.server.connection import Connection
from onyx_jupyter.testing.script import Call
from tests.app.hello.feature import FEATURE as HELLO
from tests.runs.house import House


def house_with(tmp_path: Path, features: Sequence[Feature], *replies: Any, config: str | None = None) -> House:
    return House(tmp_path, list(replies), config=config, features=features)


async def asked(house: House, method: str, **params: Any) -> Any:
    """The socket's answer."""
    frames: list[dict[str, Any]] = []
    connection = Connection(house.onyx, NoTabs(), lambda frame: frames.append(json.loads(frame)), "ada")  # type: ignore[arg-type]
    await connection.receive(json.dumps({"id": "1", "method": method, "params": params}))
    (answer,) = [frame for frame in frames if frame.get("id") == "1"]
    return answer.get("result", answer.get("error"))


class NoTabs:
    def opened(self, ask: object) -> str:
        return "tab"


async def test_one_line_adds_tool_operation_setting_and_prompt(tmp_path: Path) -> None:
    replies = ([Call("hello", {"name": "Grace"})], "Done")
    house = house_with(tmp_path, [*FEATURES, HELLO], *replies, config='{"hello": {"greeting": "Good day"}}')
    key = await house.session()
    assert await asked(house, "hello.greet", name="Ada") == {"text": "Good day, Ada!"}
    assert (await house.run(key))[0] == "chat.final"
    (result,) = house.results(key).values()
    assert result["content"] == "Said hello to Grace."
    first, second = (request.system for request in house.model.requests)
    assert "# Greeting\nOf somebody new, say first: Good day, NAME!" in first
    assert first == second, "the same from call to call, or the provider's cache is lost"
    assert "hello" in [tool.name for tool in house.model.requests[0].tools]


async def test_without_the_line_only_a_warning_about_its_section_remains(tmp_path: Path) -> None:
    config = '{\n  "hello": {"greeting": "Good day"},\n  "runtime": {"maxTurns": 3}\n}'
    house = house_with(tmp_path, FEATURES, "Hi", config=config)
    key = await house.session()
    await house.run(key)
    assert "Greeting" not in house.model.requests[0].system
    assert "There is no method 'hello.greet'" in (await asked(house, "hello.greet", name="Ada"))["message"]
    told = (await house.onyx.container.health())["config"]
    assert "onyx.json, line 2: the section 'hello' has no effect" in told["message"]
    assert house.onyx.settings.config.runtime.max_turns == 3, "everything else is in force"


async def test_wrong_value_in_its_section_is_an_error_with_line(tmp_path: Path) -> None:
    house = house_with(tmp_path, [*FEATURES, HELLO], config='{\n  "hello": {"greeting": 5}\n}')
    await house.onyx.ready()
    told = (await house.onyx.container.health())["config"]
    assert told["ok"] is False
    assert "line 2: hello.greeting is 5" in told["message"]
    assert await asked(house, "hello.greet", name="Ada") == {"text": "Hello, Ada!"}


async def test_failed_start_is_named_and_conversation_continues(tmp_path: Path) -> None:
    def make(parts: Parts) -> Built:
        async def start() -> None:
            raise StorageError("hello.db cannot be written to.")

        return Built(HELLO.make(parts).parts, start=start)

    broken = Feature(
        "hello",
        make,
        requires=HELLO.requires,
        provides=HELLO.provides,
        operations=HELLO.operations,
        toolsets=HELLO.toolsets,
    )
    house = house_with(tmp_path, [*FEATURES, broken], "Still here")
    key = await house.session()
    assert (await house.run(key))[1]["text"] == "Still here"
    assert "hello" not in [tool.name for tool in house.model.requests[0].tools]
    health = await house.onyx.health()
    assert health["status"] == "degraded"
    assert health["components"]["hello"]["message"] == "hello: hello.db cannot be written to."
    error = await asked(house, "hello.greet", name="Ada")
    assert error["message"] == "hello.greet is not available: hello.db cannot be written to."
    assert error["data"]["code"] == "feature_unavailable"


TAKEN = Feature("memory")


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    found: list[EntryPoint] = []
    monkeypatch.setattr(installed, "entry_points", lambda group: EntryPoints(found).select(group=group))
    return found


def test_installed_package_adds_feature_by_entry_point(entries: list[EntryPoint]) -> None:
    entries.append(EntryPoint("hello", "tests.app.hello.feature:FEATURE", installed.GROUP))
    features, failed = with_installed(FEATURES)
    assert (features[-1], failed) == (HELLO, {})


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("no_such_package:FEATURE", "No module named 'no_such_package'"),
        (
            "tests.app.test_hello:NoTabs",
            "tests.app.test_hello:NoTabs is not an onyx_jupyter.operations.feature.Feature",
        ),
        ("tests.app.ends_the_program:FEATURE", "3"),
        ("tests.app.test_hello:TAKEN", "Two features are named 'memory'. Rename one of them"),
    ],
)
def test_unusable_entry_point_is_named_and_built_in_features_remain(
    entries: list[EntryPoint], where: str, why: str
) -> None:
    entries.append(EntryPoint("theirs", where, installed.GROUP))
    features, failed = with_installed(FEATURES)
    assert features == list(FEATURES)
    assert failed == {"theirs": why}
