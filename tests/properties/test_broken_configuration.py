"""Whatever is wrong with one key: the configuration allows nothing more, and every other key is as it was."""

from copy import deepcopy
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from onyx_jupyter.config.refusals import Refusal, Refusing
from onyx_jupyter.config.schema import Config
from onyx_jupyter.config.schema.section import REFUSED_ADDRESS, REFUSED_KEY, REFUSED_MODEL

NAMES = st.sampled_from(["exec", "read", "write", "group:fs", "group:web", "skill_x"])
LISTS = st.lists(NAMES, max_size=3)
MODELS = st.sampled_from(["openai/gpt-5.2", "local/small.gguf", "lab/large"])
ADDRESSES = st.sampled_from(["https://lab.example/v1", "http://localhost:8000"])
AGENT = {
    "name": st.text(max_size=5),
    "model": MODELS,
    "temperature": st.floats(0, 2),
    "workspace": st.just("mine"),
    "tools": st.fixed_dictionaries({}, optional={"allow": LISTS, "deny": LISTS}),
}
PROVIDER = {"apiKey": st.just("sk-good"), "baseUrl": ADDRESSES, "models": LISTS, "toolMode": st.just("json")}
SECTIONS = {
    "providers": st.dictionaries(
        st.sampled_from(["openai", "lab"]), st.fixed_dictionaries({}, optional=PROVIDER), max_size=2
    ),
    "runtime": st.fixed_dictionaries(
        {},
        optional={
            "maxTurns": st.integers(1, 500),
            "maxTokensPerRun": st.integers(1000, 10**6),
            "retry": st.fixed_dictionaries({}, optional={"attempts": st.integers(1, 10)}),
        },
    ),
    "memory": st.fixed_dictionaries(
        {}, optional={"recall": st.booleans(), "consolidation": st.booleans(), "fusion": st.just("rrf")}
    ),
    "tools": st.fixed_dictionaries(
        {},
        optional={
            "timeout": st.integers(1000, 10**6),
            "web": st.fixed_dictionaries(
                {}, optional={"allowPrivate": st.just(["10.0.0.0/8"]), "searxngUrl": ADDRESSES}
            ),
        },
    ),
    "security": st.fixed_dictionaries(
        {},
        optional={
            "approvalTimeoutMs": st.integers(1000, 10**7),
            "auto": LISTS,
            "secretsFilter": st.booleans(),
            "budget": st.fixed_dictionaries(
                {}, optional={"dayUsd": st.floats(0, 100), "sessionTokens": st.integers(0, 10**6)}
            ),
        },
    ),
    "logging": st.fixed_dictionaries({}, optional={"level": st.just("debug")}),
}
# Of no type that any key has, and not empty: an empty list or object can be a value.
DAMAGE = st.sampled_from([[[1]], [{"odd": 1}], {"odd": [1]}])


@st.composite
def written(draw: st.DrawFn) -> dict[str, Any]:
    """A valid onyx.json, no part of which is that of another example: the tests change it."""
    ids = draw(st.lists(st.sampled_from(["main", "reader", "wide"]), min_size=1, unique=True))
    agents = [{"id": one, **draw(st.fixed_dictionaries({}, optional=AGENT))} for one in ids]
    if draw(st.booleans()):
        draw(st.sampled_from(agents))["default"] = True
    listed = {"agents": {"list": agents}} if draw(st.booleans()) else {}
    return deepcopy({**listed, **draw(st.fixed_dictionaries({}, optional=SECTIONS))})


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [one for key, part in below for one in places(part, (*path, key))]
    return [*([path] if path else []), *found]


def part_of(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def corrected(raw: dict[str, Any]) -> tuple[Config, list[Refusal]]:
    refusing = Refusing(deepcopy(raw), Config)
    return refusing.valid(), refusing.found


def is_no_looser(now: Config, was: Config) -> bool:
    return all(
        (
            *(agent_is_no_looser(now, was, agent.id) for agent in now.agents.items),
            now.default_agent().id == was.default_agent().id or now.default_agent().tools.allow == [],
            *(provider_is_no_looser(now, was, name) for name in was.providers),
            set(now.security.auto) <= set(was.security.auto),
            now.security.approval_timeout_ms <= was.security.approval_timeout_ms,
            now.security.secrets_filter or not was.security.secrets_filter,
            *(
                is_at_most(getattr(now.security.budget, name), getattr(was.security.budget, name))
                for name in ("day_usd", "session_usd", "day_tokens", "session_tokens")
            ),
            set(now.tools.web.allow_private) <= set(was.tools.web.allow_private),
            now.tools.web.searxng_url in (was.tools.web.searxng_url, REFUSED_ADDRESS),
            is_at_most(now.runtime.max_tokens_per_run, was.runtime.max_tokens_per_run),
            was.memory.recall or not now.memory.recall,
            was.memory.consolidation or not now.memory.consolidation,
        )
    )


def is_at_most(limit: float | None, other: float | None) -> bool:
    return other is None or (limit is not None and limit <= other)


def agent_is_no_looser(now: Config, was: Config, agent_id: str) -> bool:
    agent, before = now.agent(agent_id), was.agent(agent_id)
    assert agent is not None
    if agent.tools.allow == []:
        return True
    if before is None or agent.model not in (before.model, REFUSED_MODEL):
        return False
    allowed = before.tools.allow is None or (
        agent.tools.allow is not None and set(agent.tools.allow) <= set(before.tools.allow)
    )
    return allowed and set(agent.tools.deny) >= set(before.tools.deny)


def provider_is_no_looser(now: Config, was: Config, name: str) -> bool:
    provider = now.providers.get(name) or now.providers.get("*")
    if provider is None:
        return False
    same_key = provider.api_key == was.providers[name].api_key
    return provider.is_refused or (same_key and provider.base_url == was.providers[name].base_url)


def without(config: Config, path: tuple[str | int, ...]) -> dict[str, Any]:
    """All but the part that the path leads to: the agent, the provider or the section's key."""
    values = config.model_dump(mode="json", by_alias=True)
    depth = {"agents": 3, "providers": 2}.get(str(path[0]), 2)
    if path[0] == "agents":  # an agent that cannot be read is missing, or another one stands for it
        values.pop("agents")
    elif len(path) < depth or path[0] == "tools":
        values.pop(str(path[0]))
    else:
        values[str(path[0])].pop(str(path[1]), None)
    return values


def other_agents(config: Config, position: int, before: Config) -> list[Any]:
    others = {agent.id for at, agent in enumerate(before.agents.items) if at != position}
    return [agent for agent in config.agents.items if agent.id in others]


@given(data=st.data(), raw=written())
def test_one_damaged_value_loosens_nothing_and_changes_nothing_else(data: st.DataObject, raw: dict[str, Any]) -> None:
    """Configuration: a bad key is refused alone, and fails closed."""
    assume(places(raw))
    was, _ = corrected(raw)
    path = data.draw(st.sampled_from(places(raw)))
    parent = part_of(raw, path[:-1])
    is_object = isinstance(parent[path[-1]], dict)  # an object with one odd key would only be another object
    damage = data.draw(DAMAGE.filter(lambda damage: not (is_object and isinstance(damage, dict))))
    assume(not (path == ("agents", "list") and damage == [{"odd": 1}]))  # an agent with one unknown key
    parent[path[-1]] = deepcopy(damage)
    now, found = corrected(raw)
    assert any(one.is_error for one in found)
    assert is_no_looser(now, was)
    assert without(now, path) == without(was, path)
    if path[0] == "agents" and len(path) > 2 and isinstance(path[2], int):
        assert other_agents(now, path[2], was) == other_agents(was, path[2], was)


@given(data=st.data(), raw=written(), letter=st.sampled_from(["s", "_", "X"]))
def test_one_misspelt_key_loosens_nothing(data: st.DataObject, raw: dict[str, Any], letter: str) -> None:
    """Configuration: a typo fails closed, too."""
    was, _ = corrected(raw)
    named = [path for path in places(raw) if isinstance(path[-1], str) and path[:-1] != ("providers",)]
    assume(named)
    path = data.draw(st.sampled_from(named))
    parent = part_of(raw, path[:-1])
    parent[f"{path[-1]}{letter}"] = parent.pop(path[-1])
    now, found = corrected(raw)
    assert found
    assert is_no_looser(now, was)
    assert without(now, path) == without(was, path)


@given(
    raw=written(),
    more=st.dictionaries(st.sampled_from(["gateway", "channels", "wizard"]), st.just({"odd": [1]}), min_size=1),
)
def test_what_another_program_keeps_in_the_file_changes_nothing(raw: dict[str, Any], more: dict[str, Any]) -> None:
    """Configuration: unknown keys are a warning."""
    now, found = corrected({**more, **raw})
    assert found
    assert not any(one.is_error for one in found)
    assert now == corrected(raw)[0]


def test_what_stands_for_a_refused_value_is_no_real_one() -> None:
    assert REFUSED_ADDRESS.endswith(".invalid")
    assert REFUSED_KEY.isascii()
