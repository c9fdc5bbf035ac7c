"""Separating thoughts from the answer: by a field, by tags, by a closing tag only."""

import time

import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import ModelDone, TextDelta, TextWasThinking, ThoughtDelta
from onyx_jupyter.providers.chat_answer import ChatChunk, chat_events
from onyx_jupyter.providers.error_map import Provider
from onyx_jupyter.providers.thoughts import ThinkingHabit, ThoughtSplitter
from onyx_jupyter.testing.collected import Collected, collect


def told(text: str, habit: ThinkingHabit | None = None, *, is_whole: bool = True) -> tuple[str, str]:
    splitter = ThoughtSplitter(habit or ThinkingHabit())
    events = [*splitter.feed(text), *splitter.finish(is_whole=is_whole), ModelDone()]
    collected = Collected(tuple(events))
    return collected.thought, collected.text


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>\nI add.\n</think>\n\nIt is 4.", "I add.", "It is 4."),
        ("\n <think>I add.</think>It is 4.", "I add.", "It is 4."),
        ("<think>\n\n</think>\n\nIt is 4.", "", "It is 4."),
        ("<think>I `</think>` add.", "I `", "` add."),
        ("<think>I add and", "I add and", ""),
        ("<think>I add.</thin", "I add.</thin", ""),
        ("I add.\n</think>\n\nIt is 4.", "I add.", "It is 4."),
        ("I add.</think> It is 4.", "I add.", "It is 4."),
        ("</think>\n\nIt is 4.", "", "It is 4."),
        ("I add.\n</think>", "I add.", ""),
        ("The tag `</think>` ends it.", "", "The tag `</think>` ends it."),
        ("Use </think>, once.", "", "Use </think>, once."),
        ("```\n</think>\n```\n", "", "```\n</think>\n```\n"),
        ("```py\nx\n```\nSo.\n</think>\nYes.", "```py\nx\n```\nSo.", "Yes."),
        ("It goes <think>\nso\n</think>\nthere.", "", "It goes <think>\nso\n</think>\nthere."),
        ("<think>a</think>It says <think>b</think> there.", "a", "It says <think>b</think> there."),
        ("<thinking>is not the tag", "", "<thinking>is not the tag"),
        ("1 < 2", "", "1 < 2"),
        (" \n", "", " \n"),
        ("", "", ""),
    ],
)
@pytest.mark.parametrize("is_silent", [False, True])
def test_thoughts_are_separated_and_mentioned_tag_is_not_one(text, thought, answer, is_silent):
    if is_silent and answer.startswith("It goes"):
        return  # of a model that thinks silently, that is a thought
    assert told(text, ThinkingHabit(is_silent)) == (thought, answer)


def test_reasoning_field_precedes_answer_and_keeps_tags_in_it():
    splitter = ThoughtSplitter(ThinkingHabit(is_silent=True))
    events = [*splitter.feed("", "I add."), *splitter.feed("\nA tag\n</think>\nhere."), *splitter.finish(is_whole=True)]
    assert events == [ThoughtDelta("I add."), TextDelta("\nA tag\n</think>\nhere.")]


def test_only_possible_tags_are_held_back():
    splitter = ThoughtSplitter(ThinkingHabit())
    assert list(splitter.feed("It is 4. </thi")) == [TextDelta("It is 4. ")]
    assert list(splitter.feed("s>. And")) == [TextDelta("</this>. And")]
    assert list(splitter.feed(" <")) == [TextDelta(" ")]
    assert list(splitter.finish(is_whole=True)) == [TextDelta("<")]


def test_misclassified_answer_is_retracted_once_and_held_back_next_time():
    habit = ThinkingHabit()
    splitter = ThoughtSplitter(habit)
    assert list(splitter.feed("I add.\n")) == [TextDelta("I add.\n")]
    assert list(splitter.feed("</think>\n\nIt is 4.")) == [TextWasThinking(), TextDelta("It is 4.")]
    splitter = ThoughtSplitter(habit)
    assert list(splitter.feed("I add.\n")) == [ThoughtDelta("")]
    assert list(splitter.feed("And again.\n")) == []
    assert list(splitter.feed("</think>\n\nIt is 4.")) == [ThoughtDelta("I add.\nAnd again."), TextDelta("It is 4.")]


def test_model_wrongly_expected_to_think_loses_nothing_and_streams_next_time():
    habit = ThinkingHabit(is_silent=True)
    assert told("It is 4.", habit) == ("", "It is 4.")
    splitter = ThoughtSplitter(habit)
    assert list(splitter.feed("It is 4.")) == [TextDelta("It is 4.")]


def test_text_truncated_before_closing_tag_is_thought_for_thinking_models():
    habit = ThinkingHabit(is_silent=True)
    assert told("I add and", habit, is_whole=False) == ("I add and", "")
    assert habit.is_silent


@pytest.mark.parametrize(
    ("model_id", "is_silent"),
    [
        ("lab/DeepSeek-R1-Distill-Qwen-7B", True),
        ("lab/qwq-32b", True),
        ("lab/Qwen3-4B-Thinking-2507", True),
        ("lab/qwen3-coder", False),
        ("openai/gpt-5.2", False),
    ],
)
def test_thinking_models_are_first_recognized_by_name(model_id, is_silent):
    assert ThinkingHabit.of(model_id).is_silent is is_silent


async def chunks(text, size, *, end="stop"):
    for at in range(0, len(text), size):
        yield ChatChunk(text[at : at + size])
    if end is None:
        raise ModelError("unavailable", "It broke off.")
    yield ChatChunk(finish_reason=end)


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("head", ["<think>", ""])
@pytest.mark.parametrize(
    ("action", "text", "called"),
    [
        ('{"name": "reply", "arguments": {"text": "It is 4."}}', "It is 4.", []),
        ('{"name": "look", "arguments": {}}', "", ["look"]),
    ],
)
async def test_thoughts_before_json_action_are_not_part_of_it(head, action, text, called, size):
    written = chunks(f"{head}I add.\n</think>\n\n{action}", size)
    answer = await collect(chat_events(written, Provider("P", "p", "m"), as_action=True))
    assert (answer.thought, answer.text) == ("I add.", text)
    assert [call.name for call in answer.tool_calls] == called


@pytest.mark.parametrize("text", ["a <", "a </thin", "a"])
async def test_held_back_text_is_kept_when_answer_breaks_off(text):
    answer = await collect(chat_events(chunks(text, 1, end=None), Provider("P", "p", "m"), as_action=False))
    assert (answer.text, answer.error is not None) == (text, True)


@pytest.mark.parametrize("is_silent", [False, True])
@pytest.mark.parametrize("head", ["", "<think>"])
@pytest.mark.parametrize("piece", ["word ", "<", " ", "`", "</think", "\n"])
def test_work_is_linear_in_text(is_silent, head, piece):
    splitter = ThoughtSplitter(ThinkingHabit(is_silent))
    started_at = time.perf_counter()
    for text in [head, *[piece] * 50_000]:
        for _ in splitter.feed(text):
            pass
    list(splitter.finish(is_whole=True))
    assert time.perf_counter() - started_at < 2
