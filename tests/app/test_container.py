"""The container: order, what features give each other, and what a failure of one leaves alone."""

import asyncio
from typing import Any

import pytest

import onyx_jupyter.app.container as container_module
from onyx_jupyter.app.container import Container, in_order
from onyx_jupyter.errors import FeatureUnavailable, StorageError
from onyx_jupyter.operations.dependencies import Key, Parts
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Ok
from tests.waiting import until

NUMBER, WORD, FROM_OUTSIDE = Key[int]("number"), Key[str]("word"), Key[str]("lent")


class Steps:
    """What happened, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def feature(
        self,
        name: str,
        *,
        provides: dict[Key[Any], Any] | None = None,
        hangs: tuple[str, ...] = (),
        fails: tuple[str, ...] = (),
        error: Exception | None = None,
        **more: Any,
    ) -> Feature:
        def step(what: str) -> Any:
            async def do() -> None:
                self.done.append(f"{what} {name}")
                if what in hangs:
                    await asyncio.Event().wait()
                if what in fails:
                    raise error or RuntimeError(f"{name} broke")

            return do

        def make(parts: Parts) -> Built:
            if "make" in fails:
                raise error or RuntimeError(f"{name} broke")

            async def health() -> dict[str, Any]:
                if "health" in fails:
                    raise RuntimeError(f"{name} broke")
                return {name: {"ok": True, "message": "fine"}}

            def catch_up() -> None:
                self.done.append(f"catch up {name}")
                if "catch up" in fails:
                    raise RuntimeError(f"{name} broke")

            return Built(
                provides or {},
                step("start"),
                step("warm"),
                step("close"),
                health,
                prepare=step("prepare"),
                catch_up=catch_up,
            )

        return Feature(name, make, provides=tuple(provides or ()), **more)


@pytest.fixture
def steps() -> Steps:
    return Steps()


def operation(name: str) -> Operation:
    async def ok(params: NoParams, caller: object) -> dict[str, Any]:
        return {"ok": True}

    return Operation(name, NoParams, Ok, ok, "read")


async def test_features_start_after_their_requirements_and_stop_in_reverse(steps: Steps) -> None:
    container = Container(
        [
            steps.feature("last", requires=(WORD, NUMBER)),
            steps.feature("middle", requires=(NUMBER, FROM_OUTSIDE), provides={WORD: "hello"}),
            steps.feature("first", provides={NUMBER: 7}),
            steps.feature("alone"),
        ],
        {FROM_OUTSIDE: "lent"},
    )
    assert container.parts.get(WORD) == "hello"
    await container.start()
    await container.start()
    await container.close()
    starts = ["start first", "start middle", "start last", "start alone"]
    assert steps.done == [*starts, "close alone", "close last", "close middle", "close first"]


async def test_only_started_features_warm_and_one_failure_does_not_affect_others(steps: Steps) -> None:
    container = Container([steps.feature("a", fails=("warm",)), steps.feature("b")], {})
    await container.warm()
    assert steps.done == ["start a", "start b", "warm a", "warm b"]
    assert container.problems == {}


async def test_failed_preparation_does_not_affect_others_and_none_runs_after_close(steps: Steps) -> None:
    gone = steps.feature("gone", fails=("make",))
    container = Container([steps.feature("a", fails=("prepare", "catch up")), gone, steps.feature("b")], {})
    container.catch_up()
    await container.prepare()
    assert steps.done == ["catch up a", "catch up b", "prepare a", "prepare b"]
    assert container.problems.keys() == {"gone"}
    await container.close()
    steps.done.clear()
    container.catch_up()
    await container.prepare()
    assert steps.done == []


async def test_failed_start_is_reported_and_others_keep_running(steps: Steps) -> None:
    a = steps.feature("a", fails=("start",), operations=(operation("a.do"),))
    container = Container([a, steps.feature("b", operations=(operation("b.do"),))], {})
    await container.start()
    health = await container.health()
    assert health["b"] == {"ok": True, "message": "fine"}
    assert health["a"]["ok"] is False
    assert health["a"]["message"] == "a: a broke."
    container.check(container.operations["b.do"])
    with pytest.raises(FeatureUnavailable, match=r"a\.do is not available: a broke\."):
        container.check(container.operations["a.do"])
    await container.warm()
    assert "warm a" not in steps.done
    await container.close()
    assert "close a" in steps.done, "what had begun before it failed has to end, too"


async def test_feature_requiring_a_failed_one_fails_with_its_reason(steps: Steps) -> None:
    maker = steps.feature("maker", provides={NUMBER: 1}, fails=("make",))
    container = Container([steps.feature("user", requires=(NUMBER,)), maker, steps.feature("other")], {})
    assert container.problems == {"maker": "maker broke", "user": "number is not available: maker failed"}
    assert [feature.name for feature in container.features] == ["other"]
    with pytest.raises(FeatureUnavailable, match="maker failed"):
        container.parts.get(NUMBER)


def test_missing_provider_is_named(steps: Steps) -> None:
    container = Container([steps.feature("user", requires=(NUMBER,))], {}, failed={"gone": "no module named gone"})
    assert container.problems["user"] == "number is not available: no feature of this server provides it"
    assert container.problems["gone"] == "no module named gone"


async def test_failed_essential_feature_is_retried_before_its_dependents(steps: Steps) -> None:
    fails = ["start"]
    first = steps.feature("first")
    disk = steps.feature("disk", fails=fails, error=StorageError("The disk is full."), essential=True)  # type: ignore[arg-type]
    container = Container([first, disk, steps.feature("behind")], {})
    with pytest.raises(StorageError, match="full"):
        await container.start()
    fails.clear()
    await container.start()
    assert steps.done == ["start first", "start disk", "start disk", "start behind"]


def test_essential_feature_that_cannot_be_made_fails_immediately(steps: Steps) -> None:
    with pytest.raises(ValueError, match="The feature disk could not be created: disk broke"):
        Container([steps.feature("disk", fails=("make",), essential=True)], {})


async def test_concurrent_callers_wait_for_the_same_start(steps: Steps) -> None:
    container = Container([steps.feature("a")], {})
    await asyncio.gather(container.start(), container.start())
    assert steps.done == ["start a"]


async def test_failed_close_does_not_affect_others(steps: Steps) -> None:
    container = Container([steps.feature("a"), steps.feature("b", fails=("close",)), steps.feature("c")], {})
    await container.start()
    with pytest.raises(RuntimeError, match="b broke"):
        await container.close()
    assert steps.done[-3:] == ["close c", "close b", "close a"]


@pytest.mark.parametrize("second", [{"name": "a"}, {"name": "b", "provides": {NUMBER: 2}}])
def test_duplicate_names_and_keys_are_rejected(steps: Steps, second: dict[str, Any]) -> None:
    with pytest.raises(
        ValueError, match=r"Two features are named 'a'|provides number, which another feature already provides"
    ):
        in_order([steps.feature("a", provides={NUMBER: 1}), steps.feature(**second)], ())


def test_mutual_dependencies_resolve_later(steps: Steps) -> None:
    def make(parts: Parts) -> Built:
        return Built({NUMBER: parts.later(WORD)})

    container = Container([Feature("a", make, provides=(NUMBER,)), steps.feature("b", provides={WORD: "w"})], {})
    ask: Any = container.parts.get(NUMBER)
    assert ask() == "w"


async def test_failing_health_check_does_not_hide_others(steps: Steps) -> None:
    container = Container([steps.feature("a", fails=("health",)), steps.feature("b")], {})
    await container.start()
    health = await container.health()
    assert health["a"]["message"] == "a: a broke."
    assert health["b"]["ok"] is True


async def test_hanging_start_delays_others_only_for_a_limited_time(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_module, "START_S", 0.01)
    container = Container([steps.feature("a", hangs=("start",)), steps.feature("b")], {})
    await container.start()
    assert container.problems == {"a": "TimeoutError"}
    assert steps.done == ["start a", "start b"]


async def test_shutdown_does_not_wait_for_hanging_start(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_module, "END_OF_START_S", 0.01)
    container = Container([steps.feature("a", hangs=("start",), essential=True)], {})
    starting = asyncio.create_task(container.start())
    await until(lambda: steps.done)
    await container.close()
    assert steps.done == ["start a", "close a"]
    with pytest.raises(asyncio.CancelledError):
        await starting


def test_failing_prompt_section_is_left_out_and_named(steps: Steps) -> None:
    def broken(parts: Parts) -> str:
        raise RuntimeError("no words")

    good = steps.feature("good", prompt=lambda parts: "# Good")
    container = Container([steps.feature("bad", prompt=broken), good], {})
    assert container.prompt_sections() == ["# Good"]
    assert container.problems == {"bad": "no words"}
    assert container.processors() == []


def test_declared_key_that_is_not_provided_is_a_failure(steps: Steps) -> None:
    container = Container([Feature("a", lambda parts: Built(), provides=(NUMBER,))], {})
    assert container.problems == {"a": "What it provides and what it declares differ in: number"}


async def test_optional_dependency_starts_first_if_present_and_may_be_absent(steps: Steps) -> None:
    user, maker = steps.feature("user", uses=(NUMBER,)), steps.feature("maker", provides={NUMBER: 1})
    assert [feature.name for feature in Container([user, maker], {}).features] == ["maker", "user"]
    alone = Container([user], {})
    assert ([feature.name for feature in alone.features], alone.problems) == (["user"], {})
    assert alone.parts.find(NUMBER) is None
