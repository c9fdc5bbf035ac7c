"""Retired names and phrases do not come back: identifiers, file names, texts on screen."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("retired_words.toml")
RETIRED = tomllib.loads(LIST.read_text("utf-8"))
ENDINGS = {".py", ".ts", ".tsx", ".md", ".css", ".ipynb", ".sh", ".toml"}
WHAT_WAS = ("docs/decisions/", "CHANGELOG.md", "tests/golden/", "tests/architecture/retired_words.toml")


def sources() -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in ENDINGS and not name.startswith(WHAT_WAS) and path.is_file():
            yield path


def found(words: list[str], *, whole: bool) -> list[str]:
    one = "|".join(map(re.escape, words))
    pattern = re.compile(rf"(?<![\w-])(?:{one})(?![\w-])" if whole else one)
    return [
        f"{path.relative_to(ROOT)}: {hit[0]}" for path in sources() for hit in pattern.finditer(path.read_text("utf-8"))
    ]


@pytest.mark.parametrize(("kind", "whole"), [("identifiers", True), ("phrases", False)])
def test_no_retired_word_is_used(kind: str, whole: bool) -> None:
    assert found(RETIRED[kind], whole=whole) == []


def test_no_file_has_a_retired_name() -> None:
    assert [str(path.relative_to(ROOT)) for path in sources() if path.stem in RETIRED["files"]] == []


def test_retired_word_is_detected() -> None:
    assert found(["test_retired_word_is_detected"], whole=True)
