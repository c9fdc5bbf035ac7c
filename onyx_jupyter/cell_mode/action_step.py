"""One step of a turn that needs no cell: an action, or the answer from its result. The work is done by tools."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence, Set
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from onyx_jupyter.cell_mode import actions
from onyx_jupyter.cell_mode.action_prompts import answer_from, choose, continuation_prompt, shown_actions, shown_answers
from onyx_jupyter.cell_mode.action_requests import ActionRequest
from onyx_jupyter.cell_mode.answers.names import denied_lines, unfounded_name
from onyx_jupyter.cell_mode.answers.numbers import Numbers
from onyx_jupyter.cell_mode.answers.output_text import SHOWN_LINES, quoted
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts, SkillFact
from onyx_jupyter.cell_mode.small_model import BOLD, CALM, Events, Inner
from onyx_jupyter.cell_mode.turn import INSERT, REMEMBER, Step, Turn
from onyx_jupyter.messages import Message, ToolCall
from onyx_jupyter.protocols import Guidance, ModelProgress, TextDelta

_TRIES = 2
_ACTION_TOKENS = 500
_ANSWER_TOKENS = 200
_NOTED = 5
_NAME_WORDS = 2
_ABOUT_PEOPLE = ("MEMORY.md", "USER.md")
_LINE_NUMBER = re.compile(r"^ *\d+\t", re.MULTILINE)
_NOT_DONE = "Not done, as you wished."
_NOTHING_NOTED = "I have noted nothing about that."
_NO_SKILLS = "There is no skill that I can use here."


class ActionStep:
    """The next step of a request about the memory, a skill or a text file.

    `write_cell` is the fallback if no action can be chosen.
    """

    def __init__(
        self,
        wanted: ActionRequest,
        turn: Turn,
        facts: NotebookFacts,
        inner: Inner,
        offered: Set[str],
        write_cell: Callable[[], Events],
    ) -> None:
        self._wanted = wanted
        self._turn = turn
        self._facts = facts
        self._inner = inner
        self._offered = offered
        self._write_cell = write_cell

    def events(self) -> Events:
        """Ends with one ModelDone: a call, or the end of the answer. Raises: ModelError."""
        last = self._turn.last
        if last is None:
            return self._first()
        if last.status == "denied":
            return self._inner.answer_text(_NOT_DONE)
        if self._wanted.want == "forget":
            return self._forget_call(last)
        if last.status != "ok":
            return self._inner.answer_text(f"It did not work: {last.result}")
        match last.call.name:
            case actions.RECALL:
                return self._recalled(last.result)
            case actions.READ:
                text = _LINE_NUMBER.sub("", last.result)
                return self._write_after(text, last) if self._wanted.want == "read_or_write" else self._answer(text)
            case actions.LIST:
                return self._inner.answer_text(quoted(last.result) or last.result)
            case actions.WRITE:
                return self._inner.answer_text(last.result)
        return self._answer(last.result)

    def _first(self) -> Events:
        wanted = self._wanted
        if wanted.want == "list_skills" or (wanted.want == "run_skill" and not wanted.skills):
            return self._inner.answer_text(_format_skills(self._facts.skills))
        if wanted.want == "recall":
            return self._call(actions.recall(self._turn.request))
        call = actions.settled(wanted)
        prompt = choose(self._turn.request, wanted.skills)
        return self._call(call) if call is not None else self._choose(wanted, prompt, shown_actions())

    def _write_after(self, text: str, last: Step) -> Events:
        """The file was read in order to write another one."""
        others = tuple(path for path in self._wanted.paths if path != last.call.arguments.get("path"))
        wanted = replace(self._wanted, want="write_file", paths=others or self._wanted.paths)
        return self._choose(wanted, continuation_prompt(text, self._turn.request), self._so_far())

    def _so_far(self) -> list[Message]:
        return [*shown_actions(), Message("user", self._turn.request), Message("assistant", _as_json(self._turn))]

    async def _choose(self, wanted: ActionRequest, prompt: str, before: Sequence[Message]) -> Events:
        """The action that the model chooses among the possible ones."""
        call = None
        for attempt, temperature in enumerate((CALM, BOLD)[:_TRIES], 1):
            yield ModelProgress("Choosing what to do…")
            asking = self._inner.gather(
                prompt,
                Guidance(grammar=actions.grammar(wanted), seed=attempt),
                max_tokens=_ACTION_TOKENS,
                temperature=temperature,
                before=before,
            )
            async with aclosing(asking) as events:
                async for event in events:
                    yield event
            call = actions.call_of(self._inner.text, wanted, self._turn.request)
            if call is not None:
                break
        async with aclosing(self._call(call) if call is not None else self._write_cell()) as rest:
            async for event in rest:
                yield event

    def _forget_call(self, last: Step) -> Events:
        """Forgets a fact; if there is none, the line of a note that has the same words."""
        if last.call.name == actions.FORGET and last.status == "ok":
            return self._inner.answer_text(last.result)
        if last.call.name == actions.FORGET:
            return self._call(ToolCall("", actions.RECALL, {"query": self._wanted.about[:1000], "limit": _NOTED}))
        if last.call.name == actions.RECALL and last.status == "ok":
            edit = _without_line(last.result, self._wanted.about)
            return self._call(edit) if edit is not None else self._inner.answer_text(_NOTHING_NOTED)
        if last.call.name == actions.EDIT_FILE and last.status == "ok":
            return self._inner.answer_text(f"Forgotten: “{str(last.call.arguments.get('oldText', '')).strip(' -')}”")
        return self._inner.answer_text(f"It could not be forgotten: {last.result}")

    def _recalled(self, result: str) -> Events:
        lines = [
            line
            for path, text in _notes(result)
            for line in text.splitlines()
            if _is_about_people(path) and line.strip(" #-") and line.strip() not in self._facts.boilerplate
        ]
        return self._answer("\n".join(dict.fromkeys(lines))) if lines else self._inner.answer_text(_NOTHING_NOTED)

    async def _answer(self, result: str) -> Events:
        """Words from the result; or the beginning of the result itself if the words claim what it doesn't contain."""
        texts = [result, self._turn.request]
        known = Numbers(texts)
        for attempt, temperature in enumerate((CALM, BOLD), 1):
            asking = self._inner.gather(
                answer_from(result, self._turn.request),
                Guidance(seed=attempt),
                max_tokens=_ANSWER_TOKENS,
                temperature=temperature,
                before=shown_answers(),
            )
            async with aclosing(asking) as events:
                async for event in events:
                    yield event
            words = self._inner.text.strip()
            if (
                not _repeats(words, self._turn.request)
                and known.unfounded(words, strict=True) is None
                and unfounded_name(words, texts) is None
            ):
                there = denied_lines(words, result, self._turn.request)
                yield TextDelta(_beginning(there) or words)
                break
        else:
            yield TextDelta(_beginning(result))
        yield self._inner.end()

    def _call(self, call: ToolCall) -> Events:
        if not self._has(call.name):
            return self._inner.answer_text(
                f"That needs the tool `{call.name}`, which I do not have here: in Ask mode I only read."
            )
        return self._inner.call(call)

    def _has(self, tool: str) -> bool:
        """For a tool that is never listed to models, whether anything may be changed at all."""
        if tool == actions.READ_SKILL:
            return True
        if tool == actions.FORGET or tool.startswith(actions.SKILL):
            return bool(self._offered & {actions.WRITE, INSERT, REMEMBER})
        return tool in self._offered


def _beginning(text: str) -> str:
    """Quotes as much as is shown below an answer."""
    return quoted("\n".join(text.splitlines()[:SHOWN_LINES]))


def _repeats(words: str, request: str) -> bool:
    """Whether the words only repeat the request, or are empty; a name from it may be the answer."""
    said, wished = (re.findall(r"\w+", text.lower()) for text in (words, request))
    return not said or (len(said) > _NAME_WORDS and " ".join(said) in " ".join(wished))


def _as_json(turn: Turn) -> str:
    """The call as in the example turns."""
    last = turn.last
    names = {actions.RECALL: "search_notes", actions.READ: "read_file"}
    name = names.get(last.call.name, "run_skill") if last else ""
    return json.dumps({"action": name, **(dict(last.call.arguments) if last else {})})


def _notes(result: str) -> list[tuple[str, str]]:
    """Path and text of each result of a memory search."""
    try:
        found: Any = json.loads(result)
    except ValueError:
        return []
    rows = found.get("results") if isinstance(found, dict) else None
    return [
        (str(row.get("path", "")), str(row.get("snippet", "")))
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]


def _is_about_people(path: str) -> bool:
    """Whether the file is about the user and their work rather than the agent itself."""
    return path in _ABOUT_PEOPLE or path.startswith(("memory/", "shared/"))


def _without_line(result: str, about: str) -> ToolCall | None:
    """The edit that removes the first line with all the words; None if there is none."""
    words = actions.pattern_of(about).lower().split("*")
    for path, text in _notes(result):
        for line in text.splitlines():
            if path.endswith(".md") and all(word in line.lower() for word in words):
                return ToolCall("", actions.EDIT_FILE, {"path": f"onyx:{path}", "oldText": line, "newText": ""})
    return None


def _format_skills(skills: tuple[SkillFact, ...]) -> str:
    if not skills:
        return _NO_SKILLS
    lines = [f"- **{skill.name}**{f': {skill.description}' if skill.description else ''}" for skill in skills]
    return "\n".join(["These skills are here; say “run the skill …” to use one:", *lines])
