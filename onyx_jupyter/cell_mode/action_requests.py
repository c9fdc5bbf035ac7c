"""Recognizes requests for the memory, a skill or a text file instead of a cell, by their words.

In doubt it is none of them. The words are English; in another language such a request becomes a cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts, SkillFact

Want = Literal["recall", "forget", "list_skills", "run_skill", "read_file", "write_file", "list_files", "read_or_write"]

_FORGET = re.compile(
    r"^\s*(?:please\s+|can you\s+|could you\s+)*forget\b"
    r"(?:\s+(?:that|about|everything (?:you know )?about|what (?:i|you) (?:said|know|told you|noted) about))?"
    r"\s+(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
_NO_OBJECT = re.compile(r"(?:it|that|this|about it|all (?:of )?(?:it|that))\W*", re.IGNORECASE)
_RECALL = re.compile(
    r"\bwhat (?:do|did|have) you (?:remember(?:ed)?|note[d]?)\b|\bwhat (?:else )?do you know about (?:me|us|my|our)\b"
    r"|\bdo you (?:remember|know) (?:my|our|who i am|(?:what|when|where|which|how) (?:i|we))\b"
    r"|\bwhat (?:did|have) (?:i|we) (?:tell|told|say|said)\b|\bwho am i\b|\bwhat(?:'s| is) my name\b"
    r"|\b(?:search|look (?:in|into|through)|check) (?:your|my|the) (?:memory|memories|notes)\b"
    r"|\bin (?:your|my) (?:memory|memories|notes)\b",
    re.IGNORECASE,
)
_LIST_SKILLS = re.compile(
    r"\b(?:which|what|list|show|any|your)\b[^.?!]*\bskills\b|\bskills (?:do|are|can|have)\b", re.IGNORECASE
)
_RUNS = re.compile(r"\b(?:run|use|start|execute|apply|follow|do|call|launch)\b", re.IGNORECASE)
_SKILL = re.compile(r"\bskill\b", re.IGNORECASE)
_FILE = re.compile(
    r"(?<![\w/.\\:])(?P<path>[\w.-]+(?:/[\w.-]+)*\.(?:md|markdown|txt|rst|tex|html?|log|ya?ml|toml|cfg|ini|py|sh))\b",
    re.IGNORECASE,
)
_CONTENT = re.compile(r"\b(?:with|saying|that says|which says|containing|that contains)\b|:", re.IGNORECASE)
_CODE = re.compile(
    r"\b(?:count|plot|draw|chart|graph|compute|calculate|how many|how much|number of|mean|average|sum|total|run|execute"
    r"|import|load|parse|append|add|results?|outputs?|tables?|figures?|pictures?|data ?frames?|columns?|rows?|data"
    r"|notebook|cells?|variables?|download|convert|rename|delete|remove|move|copy)\b",
    re.IGNORECASE,
)
_READS = re.compile(
    r"\b(?:read|open|show|summari[sz]e|look (?:at|into)|explain|what(?:'s| is| does| stands))\b", re.IGNORECASE
)
_WRITES = re.compile(r"\b(?:make|create|write|save|put)\b", re.IGNORECASE)
_LIST_FILES = re.compile(r"\b(?:which|what|list|show)\b[^.?!]*\bfiles\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """The wanted action; `about` is what to forget, `paths` and `skills` are those named in the request."""

    want: Want
    about: str = ""
    paths: tuple[str, ...] = ()
    skills: tuple[SkillFact, ...] = ()


def action_request(request: str, facts: NotebookFacts, *, names_data: bool) -> ActionRequest | None:
    """None if the request needs code or words. `names_data`: it names a table, a column or a data file."""
    forget = _FORGET.match(request)
    if forget and not _NO_OBJECT.fullmatch(forget["what"].strip()):
        return ActionRequest("forget", about=forget["what"].strip(" .!"))
    if skill := _about_skills(request, facts.skills, names_data):
        return skill
    if names_data:
        return None
    if _RECALL.search(request) and not _CODE.search(request):
        return ActionRequest("recall")
    return _about_files(request)


def _about_skills(request: str, skills: Sequence[SkillFact], names_data: bool) -> ActionRequest | None:
    named = tuple(skill for skill in skills if _is_named(skill, request))
    if _RUNS.search(request) and (named or (_SKILL.search(request) and not names_data)):
        return ActionRequest("run_skill", skills=named or tuple(skills))
    if _LIST_SKILLS.search(request) and not names_data and not _CODE.search(request):
        return ActionRequest("list_skills")
    return None


def _is_named(skill: SkillFact, request: str) -> bool:
    """Whether all words of its name occur in a row; a single-word name counts only together with "skill"."""
    words = r"[\s_-]+".join(map(re.escape, re.split(r"[-_]", skill.name)))
    found = re.search(rf"(?<!\w){words}(?!\w)", request, re.IGNORECASE)
    return found is not None and ("-" in skill.name or _SKILL.search(request) is not None)


def _about_files(request: str) -> ActionRequest | None:
    paths = tuple(dict.fromkeys(found["path"] for found in _FILE.finditer(request)))
    content = _CONTENT.search(request)
    head = request[: content.start()] if content else request
    if _CODE.search(head):
        return None
    if not paths:
        return ActionRequest("list_files") if _LIST_FILES.search(head) else None
    reads, writes = _READS.search(head) is not None, _WRITES.search(head) is not None
    if writes:
        return ActionRequest("read_or_write" if reads else "write_file", paths=paths)
    return ActionRequest("read_file", paths=paths) if reads else None
