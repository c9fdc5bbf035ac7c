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
def test_search_limitation_is_shown_below_results(results: list[Any]) -> None:
    assert said(results, "Only words were searched: no *embedder*.").endswith(
        "\n\n*Only words were searched: no \\*embedder\\*.*"
    )
    assert "Only words" not in said(results)


def test_empty_result_does_not_blame_word_search() -> None:
    assert said([]).startswith("Nothing found in memory: fiscal year.")


def test_date_filter_is_sent_and_named_if_nothing_is_found() -> None:
    answering = Answering([])
    told = memory(answering, "fiscal year", Options(since="2026-03-01"))  # type: ignore[arg-type]
    assert told.startswith("Nothing found in memory for these dates: fiscal year.")
    assert answering.asked == {"method": "memory.search", "query": "fiscal year", "limit": 6, "since": "2026-03-01"}
