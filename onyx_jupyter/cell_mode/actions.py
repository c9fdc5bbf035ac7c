"""One action as JSON whose form a grammar enforces, and the corresponding tool call."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.cell_mode.action_requests import ActionRequest
from onyx_jupyter.cell_mode.notebook_facts import SkillFact
from onyx_jupyter.messages import ToolCall

RECALL, FORGET, READ, WRITE, EDIT_FILE, LIST = "memory_search", "forget", "read", "write", "edit", "list"
SKILL, READ_SKILL = "skill_", "skill_read"
_FOUND = 6
_TEXT = r"""text ::= "\"" char{1,200} "\""
long ::= "\"" char{1,2000} "\""
char ::= [^"\\\x00-\x1F\x7F] | "\\" ["\\/nt]
number ::= "-"? [0-9]{1,12} ("." [0-9]{1,6})?
boolean ::= "true" | "false"
"""
_VALUES = {"integer": "number", "number": "number", "boolean": "boolean"}
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def is_action(tool: str) -> bool:
    """Whether cell mode calls that tool for anything but a cell."""
    return tool in (RECALL, FORGET, READ, WRITE, EDIT_FILE, LIST) or tool.startswith(SKILL)


def settled(wanted: ActionRequest) -> ToolCall | None:
    """The call, if the request leaves nothing to decide; `recall` needs the request itself."""
    match wanted.want:
        case "forget":
            return ToolCall("", FORGET, {"pattern": pattern_of(wanted.about)})
        case "list_files":
            return ToolCall("", LIST, {})
        case "read_file" if len(wanted.paths) == 1:
            return ToolCall("", READ, {"path": wanted.paths[0]})
        case "run_skill" if len(wanted.skills) == 1 and not wanted.skills[0].parameters:
            return _skill_call(wanted.skills[0], {})
    return None


def recall(request: str) -> ToolCall:
    return ToolCall("", RECALL, {"query": request[:1000], "limit": _FOUND})


def grammar(wanted: ActionRequest) -> str:
    """GBNF of the possible actions, with the names from the request."""
    forms: list[str] = []
    paths = _one_of(wanted.paths)
    if wanted.want in ("read_file", "read_or_write"):
        forms.append(_form("read_file", f'"\\"path\\": " {paths}'))
    if wanted.want in ("write_file", "read_or_write"):
        forms.append(_form("write_file", f'"\\"path\\": " {paths} ", \\"content\\": " long'))
    if wanted.want == "run_skill":
        forms += [
            _form("run_skill", f'"\\"name\\": " {_literal(skill.name)} ", \\"parameters\\": {{" {_pairs(skill)} "}}"')
            for skill in wanted.skills
        ]
    return f"root ::= {' | '.join(forms)}\n{_TEXT}"


def call_of(answer: str, wanted: ActionRequest, request: str) -> ToolCall | None:
    """The call for the model's JSON; None if it is invalid or was not asked for."""
    found = _OBJECT.search(answer)
    try:
        action = json.loads(found[0]) if found else None
    except ValueError:
        return None
    if not isinstance(action, dict):
        return None
    path = action.get("path")
    if action.get("action") == "read_file" and path in wanted.paths:
        return ToolCall("", READ, {"path": path})
    content = action.get("content")
    if action.get("action") == "write_file" and path in wanted.paths and isinstance(content, str) and content:
        return ToolCall("", WRITE, {"path": path, "content": content if content.endswith("\n") else f"{content}\n"})
    if action.get("action") == "run_skill":
        skill = next((one for one in wanted.skills if one.name == action.get("name")), None)
        given = action.get("parameters")
        return (
            _skill_call(skill, _asked_for(given if isinstance(given, dict) else {}, skill, request)) if skill else None
        )
    return None


def pattern_of(about: str) -> str:
    """The significant words in order, with anything between them, as a pattern for `forget`."""
    words = [word for word in re.findall(r"[\w'-]+", about) if word.lower() not in _STOP_WORDS]
    return "*".join(words or [about])


def _skill_call(skill: SkillFact, given: Mapping[str, Any]) -> ToolCall:
    if skill.tool is None:
        return ToolCall("", READ_SKILL, {"name": skill.name})
    return ToolCall("", skill.tool, dict(given))


def _asked_for(given: Mapping[str, Any], skill: SkillFact, request: str) -> dict[str, Any]:
    """The parameters whose values occur in the request: a small model invents the others."""
    text = request.lower()
    return {
        name: value
        for name, value in given.items()
        if name in skill.parameters and (isinstance(value, bool) or str(value).lower() in text)
    }


def _form(action: str, rest: str) -> str:
    return f'("{{\\"action\\": \\"{action}\\", " {rest} "}}")'


def _pairs(skill: SkillFact) -> str:
    """Any of its parameters, in order."""
    pairs = [f'"\\"{_escaped(name)}\\": " {_VALUES.get(kind, "text")}' for name, kind in skill.parameters.items()]
    if not pairs:
        return '""'
    rest = "".join(f'(", " {pair})? ' for pair in pairs)
    return f"({' | '.join(f'({pair})' for pair in pairs)} {rest})?"


def _one_of(names: Sequence[str]) -> str:
    return f"({' | '.join(map(_literal, names))})"


def _literal(text: str) -> str:
    """The text as a JSON string in a GBNF literal."""
    return f'"\\"{_escaped(text)}\\""'


def _escaped(text: str) -> str:
    return json.dumps(json.dumps(text, ensure_ascii=False)[1:-1], ensure_ascii=False)[1:-1]


_STOP_WORD_TEXT = (
    "a an and are about as at be been by did do does for from had has have i in is it its me my of on or our so "
    "that the their them there these they this to us was we were what which who will with you your"
)
_STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())
