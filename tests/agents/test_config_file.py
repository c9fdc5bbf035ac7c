"""onyx.json as a program edits it: not over someone else's change, and nothing that would not be valid."""

import pytest

from onyx_jupyter.agents.config_file import ConfigFile
from onyx_jupyter.config.edit import REMOVED
from onyx_jupyter.config.sections import with_sections
from onyx_jupyter.errors import ConfigChanged, InvalidRequest
from onyx_jupyter.features.acp.settings import AcpSettings

TEXT = """// mine
{
  providers: { openai: { apiKey: "sk-very-secret-key", } }, // ours
}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "onyx.json"
    path.write_text(TEXT)
    path.chmod(0o600)
    return ConfigFile(path, {})


def test_an_edit_is_written_and_gives_the_version_of_the_next_one(file):
    version = file.write({("runtime", "maxTurns"): 9}, file.read()[1])
    assert file.read() == (TEXT.replace("// ours\n", "// ours\n  runtime: { maxTurns: 9 },\n"), version)
    file.write({("runtime",): REMOVED}, version)
    assert file.read()[0] == TEXT
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_was_changed_meanwhile_is_left_alone_and_the_changes_are_shown_without_keys(file):
    version = file.read()[1]
    theirs = TEXT.replace("sk-very-secret-key", "sk-other-secret-key") + "// theirs\n"
    file.path.write_text(theirs)
    with pytest.raises(ConfigChanged) as refused:
        file.write({("runtime", "maxTurns"): 9}, version)
    assert file.path.read_text() == theirs
    assert "+// theirs" in refused.value.diff
    assert "secret" not in refused.value.diff
    file.write({("runtime", "maxTurns"): 9}, refused.value.version)
    assert "maxTurns: 9" in file.path.read_text()


def test_the_changes_are_shown_without_the_secrets_of_agents_and_addresses(file):
    file.schema = with_sections({"acp": AcpSettings})
    version = file.read()[1]
    file.path.write_text("""{
  providers: { lab: { baseUrl: "https://me:only-words-here@lab.example/v1" } },
  acp: { agents: { claude: { env: { ANTHROPIC_API_KEY: "nothing-but-words" } } } },
  // providers: { old: { apiKey: "sk-0123456789abcdefghij" } },
}
""")
    with pytest.raises(ConfigChanged) as refused:
        file.write({("runtime", "maxTurns"): 9}, version)
    assert "lab.example" in refused.value.diff
    for secret in ("only-words-here", "nothing-but-words", "sk-0123456789abcdefghij", "sk-very-secret-key"):
        assert secret not in refused.value.diff


def test_of_a_version_that_nobody_remembers_only_the_change_itself_is_told(file):
    with pytest.raises(ConfigChanged) as refused:
        file.write({("runtime", "maxTurns"): 9}, "0" * 64)
    assert refused.value.diff == ""
    assert file.path.read_text() == TEXT


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("runtime", "maxTurns"), "many", "runtime.maxTurns is 'many'"),
        (("runtime", "maxTurn"), 5, "Did you mean 'maxTurns'?"),
        (("memory", "embedder"), "api", "embeddingModel must name a model"),
        (("agents", "list", 3, "name"), "x", "only 0 items"),
    ],
)
def test_what_would_not_be_valid_is_refused_in_the_words_of_the_configuration(file, path, value, words):
    with pytest.raises(InvalidRequest) as refused:
        file.write({path: value}, file.read()[1])
    assert words in str(refused.value)
    assert file.path.read_text() == TEXT


def test_an_error_that_stands_there_already_keeps_no_other_key_from_being_edited(file):
    file.path.write_text("{ runtime: { maxTurns: 'many' }, gateway: {} }")
    version = file.write({("tools", "timeout"): 5000}, file.read()[1])
    with pytest.raises(InvalidRequest):
        file.write({("runtime", "maxTurns"): 0}, version)
    file.write({("runtime", "maxTurns"): 3}, version)
    assert file.path.read_text() == "{ runtime: { maxTurns: 3 }, gateway: {}, tools: { timeout: 5000 } }"


def test_a_file_that_is_not_json5_is_not_edited(file):
    file.path.write_text("{")
    with pytest.raises(InvalidRequest, match="not valid JSON5"):
        file.write({("runtime", "maxTurns"): 3}, file.read()[1])


def test_a_missing_file_is_made_and_a_link_stays_one(file, tmp_path):
    elsewhere = tmp_path / "dotfiles.json"
    file.path.rename(elsewhere)
    made = file.write({("runtime", "maxTurns"): 3}, file.read()[1])
    assert file.read() == ("{\n  runtime: { maxTurns: 3 },\n}\n", made)
    assert file.path.stat().st_mode & 0o777 == 0o600
    file.path.unlink()
    file.path.symlink_to(elsewhere)
    file.write({("runtime", "maxTurns"): 4}, file.read()[1])
    assert file.path.is_symlink()
    assert "maxTurns: 4" in elsewhere.read_text()
