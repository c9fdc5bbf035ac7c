"""What is read before a request is there: nothing that the request will not begin with."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.model import CellModel, known_prefixes
from onyx_jupyter.cell_mode.notebook_facts import CellFact, Column, Frame, NotebookFacts
from onyx_jupyter.cell_mode.turn import AnsweredRequest, Turn
from onyx_jupyter.messages import Message
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.testing.scripted_model import ScriptedModel

TABLE = Frame("df", (Column("fee", "float64"), Column("contract", "object")), 1200)
RUN = CellFact("c1", 1, "code", "df = load('hunter2')", "1200 rows", has_run=True)
FACTS = NotebookFacts("a.ipynb", cells=(RUN,), frames=(TABLE,))
BEFORE = (AnsweredRequest("What is the mean fee?", "print(df['fee'].mean())", "It is 62.76."),)


def turn(request: str) -> Turn:
    return Turn(request, "", (), BEFORE)


@pytest.mark.parametrize("written", ["Plot the mean", "Plot the mean fee by contract"])
def test_cell_repair_and_draft_share_a_prefix(written: str) -> None:
    (read,) = known_prefixes(FACTS, turn(written))
    assert "'fee': float64" in read
    assert "Asked before" in read
    assert written not in read
    whole = turn("Plot the mean fee by contract, please.")
    assert prompts.write_cell(FACTS, whole).startswith(f"{read}\n\n")
    for show in (True, False):
        assert prompts.repair_cell(FACTS, whole, "x", "NameError", "", show=show).startswith(f"{read}\n\n")


def test_text_question_starts_with_cells_and_outputs() -> None:
    (read,) = known_prefixes(FACTS, turn("What does this notebook"))
    assert "1200 rows" in read
    assert prompts.text_prompt(FACTS, turn("What does this notebook do?")).startswith(f"{read}\n\n")


@pytest.mark.parametrize("written", ["", "What does"])
def test_until_third_word_both_cell_and_text_prompts_are_prefilled(written: str) -> None:
    cell, words = known_prefixes(FACTS, turn(written))
    assert prompts.write_cell(FACTS, turn("Plot the mean fee by contract.")).startswith(f"{cell}\n\n")
    assert prompts.text_prompt(FACTS, turn("What does this notebook do?")).startswith(f"{words}\n\n")


def test_first_question_is_expected_as_text_and_later_ones_as_cells() -> None:
    cell, words = known_prefixes(FACTS, Turn("", "", (), BEFORE))
    assert words.startswith("The notebook a.ipynb:")
    assert "'fee': float64" in cell
    assert known_prefixes(FACTS, Turn("", "", (), ()))[0].startswith("The notebook a.ipynb:")


def test_without_notebook_and_conversation_only_instructions_are_prefilled() -> None:
    assert known_prefixes(NotebookFacts(), Turn("", "", (), ()))[0] == ""


def test_nothing_is_prefilled_for_a_request_to_remember() -> None:
    assert known_prefixes(FACTS, turn("Remember that fees are in cents")) == []


def test_no_table_is_prefilled_before_notebook_has_run() -> None:
    unrun = replace(FACTS, cells=(replace(RUN, has_run=False),), frames=())
    assert known_prefixes(unrun, turn("Plot the mean fee by contract")) == [""]
    (words,) = known_prefixes(unrun, turn("What does this notebook do?"))
    assert known_prefixes(unrun, turn("")) == [words]


class Around:
    async def facts(self, request: str, made: str | None) -> NotebookFacts:
        return FACTS


def test_embedded_model_prefill_has_instructions_and_facts_without_secrets() -> None:
    model = CellModel(ScriptedModel([]), Around(), lambda text: text.replace("hunter2", "[redacted:password]"))
    written = [Message("user", "What does this notebook do")]
    (request,) = asyncio.run(model.beginnings(ModelRequest("You are Onyx.", written)))
    assert request.system == "You are Onyx."
    (message,) = request.messages
    assert "hunter2" not in message.content
    assert message.content.startswith("The notebook a.ipynb:")
