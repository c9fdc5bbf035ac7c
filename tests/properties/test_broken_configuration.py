"""Any configuration with an error keeps denials and makes Auto mode ask for everything."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.config.last_good import restrictions, strictest
from onyx_jupyter.config.schema import Config

NAMES = st.sampled_from(["exec", "read", "write", "group:fs", "group:web", "skill_x"])
IDS = st.sampled_from(["main", "reader", "wide"])
LISTS = st.lists(NAMES, max_size=3)
SIMPLE = st.none() | st.booleans() | st.integers(-1, 10_000) | NAMES | LISTS
ANYTHING = SIMPLE | st.dictionaries(st.sampled_from(["list", "tools", "deny", "allow", "id"]), SIMPLE, max_size=2)
TOOLS = st.fixed_dictionaries({}, optional={"allow": LISTS | ANYTHING, "deny": LISTS | ANYTHING})
AGENTS = st.fixed_dictionaries(
    {}, optional={"id": IDS | ANYTHING, "default": st.booleans() | ANYTHING, "tools": TOOLS | ANYTHING}
)
RAW = st.fixed_dictionaries(
    {},
    optional={
        "agents": st.fixed_dictionaries({}, optional={"list": st.lists(AGENTS, max_size=3) | ANYTHING}) | ANYTHING,
        "security": st.fixed_dictionaries({}, optional={"auto": LISTS, "approvalTimeoutMs": st.integers()}) | ANYTHING,
        "providers": ANYTHING,
        "memory": ANYTHING,
        "runtime": ANYTHING,
        "tools": ANYTHING,
    },
)


@st.composite
def good_configurations(draw: st.DrawFn) -> Config:
    ids = draw(st.lists(IDS, min_size=1, unique=True))
    agents = [{"id": one, "tools": {"allow": draw(st.none() | LISTS), "deny": draw(LISTS)}} for one in ids]
    wait_ms = draw(st.integers(1000, 9_000_000))
    return Config.model_validate(
        {"agents": {"list": agents}, "security": {"auto": draw(LISTS), "approvalTimeoutMs": wait_ms}}
    )


@given(good=good_configurations(), raw=RAW)
def test_error_never_loosens_configuration(good: Config, raw: dict[str, Any]) -> None:
    """Configuration: it fails closed."""
    config = strictest(restrictions(good), raw)
    assert config.security.auto == []
    assert config.security.secrets_filter
    assert config.security.approval_timeout_ms <= good.security.approval_timeout_ms
    assert config.default_agent().id == good.default_agent().id
    assert [agent.id for agent in config.agents.items] == [agent.id for agent in good.agents.items]
    for agent, before in zip(config.agents.items, good.agents.items, strict=True):
        assert set(agent.tools.deny) >= set(before.tools.deny)
        if before.tools.allow is not None:
            assert agent.tools.allow is not None
            assert set(agent.tools.allow) <= set(before.tools.allow)


@given(raw=RAW)
def test_without_last_good_copy_readable_denials_apply(raw: dict[str, Any]) -> None:
    """Configuration: it fails closed without a copy, too."""
    config = strictest(None, raw)
    assert config.security.auto == []
    assert sum(agent.default for agent in config.agents.items) == 1
    tools = raw.get("tools")
    misplaced = tools.get("deny") if isinstance(tools, dict) else None
    names = {name for name in misplaced if isinstance(name, str)} if isinstance(misplaced, list) else set()
    assert all(names <= set(agent.tools.deny) for agent in config.agents.items)
