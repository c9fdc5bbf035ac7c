"""What `%onyx memory` says of an answer, and of what kept it from being better."""

from typing import Any

import pytest

from onyx_jupyter.magics.arguments import Options
from onyx_jupyter.magics.commands import memory

PASSAGE = {"path": "MEMORY.md", "startLine": 3, "endLine": 4, "heading": "Work", "snippet": "The year: April."}


class Answering:
    """A connection that gives one answer."""

    def __init__(self, results: list[Any], note: str | None = None) -> None:
        self.answer = {"results": results, **({"note": note} if note else {})}

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        self.asked = {"method": method, **params}
        return self.answer


def said(*given: Any) -> str:
    return memory(Answering(*given), "fiscal year", Options())  # type: ignore[arg-type]


@pytest.mark.parametrize("results", [[], [PASSAGE]])
def test_what_kept_a_search_from_being_better_stands_below_it(results: list[Any]) -> None:
    assert said(results, "Only words were searched: no *embedder*.").endswith(
        "\n\n*Only words were searched: no \\*embedder\\*.*"
    )
    assert "Only words" not in said(results)


def test_nothing_found_claims_nothing_about_words() -> None:
    assert said([]).startswith("Nothing found in memory: fiscal year.")


def test_days_are_asked_for_and_named_where_they_hold_nothing() -> None:
    answering = Answering([])
    told = memory(answering, "fiscal year", Options(since="2026-03-01"))  # type: ignore[arg-type]
    assert told.startswith("Nothing found in memory for these dates: fiscal year.")
    assert answering.asked == {"method": "memory.search", "query": "fiscal year", "limit": 6, "since": "2026-03-01"}
