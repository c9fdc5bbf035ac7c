"""tools.allow and tools.deny: names and families, deny wins, unknown names are reported."""

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.toolsets.access import is_allowed, unknown_names


def names(allow, deny):
    return [tool.name for tool in all_tools() if is_allowed(tool, allow, deny)]


def test_no_setting_allows_everything():
    assert names(None, []) == [tool.name for tool in all_tools()]
    assert unknown_names("tools.deny", [], all_tools()) == ()


def test_family_name_covers_all_its_tools():
    notebook = [tool.name for tool in all_tools() if tool.family == "notebook"]
    assert len(notebook) > 1
    assert names(["group:notebook"], []) == notebook
    assert not set(names(None, ["group:notebook"])) & set(notebook)


@pytest.mark.parametrize(
    ("allow", "deny"), [(["exec"], ["exec"]), (["group:process"], ["exec"]), (["exec"], ["group:process"])]
)
def test_deny_wins(allow, deny):
    assert "exec" not in names(allow, deny)


def test_empty_allow_list_allows_nothing():
    assert names([], []) == []


def test_unknown_name_suggests_the_closest():
    assert names(["group:notebok"], ["exce"]) == []
    (first,) = unknown_names("tools.allow", ["group:notebok"], all_tools())
    (second,) = unknown_names("tools.deny", ["exce"], all_tools())
    assert first.startswith("tools.allow names 'group:notebok'")
    assert first.endswith("Did you mean group:notebook?")
    assert second.startswith("tools.deny names 'exce'")
    assert second.endswith("Did you mean exec?")


def test_every_tool_belongs_to_a_family():
    assert [tool.name for tool in all_tools() if not tool.family] == []
