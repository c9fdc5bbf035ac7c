"""What the answers make of an agent's files: each keeps every line that onboarding did not write.

Onboarding's lines are in blocks between two comments. A line there that a person has changed is theirs and stays, and
one that they have removed is not written again.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from onyx_jupyter.memory.targets import add_to_section
from onyx_jupyter.onboarding.progress import Answer, Progress
from onyx_jupyter.onboarding.questions import (
    ABOUT,
    AGENTS,
    BELIEFS,
    GOALS,
    IDENTITY,
    MISSION,
    ON_DEMAND,
    SOUL,
    USER,
    Question,
)

PATHS = (SOUL, USER, IDENTITY, AGENTS, *ON_DEMAND)
"""Every file that onboarding may write, in the order in which they are shown."""
TITLES: Mapping[str, str] = {MISSION: "# Mission\n", GOALS: "# Goals\n", BELIEFS: "# Beliefs\n"}
"""What the files begin with that a new workspace does not have."""
_BEGIN = "<!-- From /onboard: {section}. Edit freely. -->"
_END = "<!-- End of /onboard. -->"
_BEGINS = re.compile(r"<!-- From /onboard: (.+)\. Edit freely\. -->")
_HEADING = re.compile(r"#{1,6}[ \t]")


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of a file; `replaces` are the beginnings of lines of a new workspace that it makes obsolete."""

    file: str
    section: str
    line: str
    replaces: tuple[str, ...] = ()


def rules(progress: Progress) -> Sequence[Rule]:
    """What the answers say, in the order of the questions."""
    found = [
        Rule(question.file, question.section, f"- {line}", question.replaces)
        for question in progress.asked
        if (answer := progress.answers.get(question.id)) is not None
        for line in _lines_of(question, answer)
    ]
    files = [path for path in ON_DEMAND if any(rule.file == path for rule in found)]
    if files:
        which = ", ".join(files)
        found.append(Rule(USER, ABOUT, f"- Mission, goals, beliefs: read {which} when a request is about priorities."))
    return found


def lines_of_file(progress: Progress, path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rule.line for rule in rules(progress) if rule.file == path))


def revised(path: str, text: str, template: str, progress: Progress) -> str:
    """The file's new text. `template` is how it reads in a new workspace, and what a blank file begins with."""
    wanted = [rule for rule in rules(progress) if rule.file == path]
    written = {*progress.written.get(path, ())}
    if not wanted and not (written and text):
        return text
    begun = text if text.strip() else template
    lines = list(io.StringIO(begun))
    given = {_bare(line) for line in io.StringIO(template)}
    found = {_bare(line) for line in lines}
    obsolete = tuple(start for rule in wanted for start in rule.replaces)
    lines = [line for line in lines if not (obsolete and _bare(line) in given and line.startswith(obsolete))]
    lines = _without_written(lines, written)
    others = {_bare(line) for line in lines}
    blocks: dict[str, list[str]] = {}
    emptied: set[str] = set()
    for rule in wanted:
        if rule.line in written - found and _BEGIN.format(section=rule.section) in found:
            emptied.add(rule.section)  # without its comments, the removed line would be written the next time
        elif rule.line not in others:
            blocks.setdefault(rule.section, []).append(rule.line)
    end = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    result = "".join(_filled(lines, blocks, emptied, end))
    for section, new in blocks.items():
        result = add_to_section(result, section, "\n".join([_BEGIN.format(section=section), *new, _END]))
    return result


def _lines_of(question: Question, answer: Answer) -> Sequence[str]:
    chosen = [choice.line for choice in question.choices if choice.id in answer.choices and choice.line]
    return [*chosen, *(question.other_line.format(text=line) for line in answer.text.splitlines())]


def _without_written(lines: Sequence[str], written: set[str]) -> list[str]:
    """Without the lines in blocks that are as onboarding wrote them."""
    kept: list[str] = []
    is_inside = False
    for line in lines:
        bare = _bare(line)
        is_inside = bool(_BEGINS.fullmatch(bare)) or (is_inside and bare != _END and not _HEADING.match(bare))
        if not (is_inside and bare in written):
            kept.append(line)
    return kept


def _filled(lines: Sequence[str], blocks: dict[str, list[str]], emptied: Set[str], end: str) -> list[str]:
    """With the new lines at the beginning of their blocks, which are taken out of `blocks`.

    Empty blocks go, but not those that a person has emptied.
    """
    filled: list[str] = []
    rest = iter(range(len(lines)))
    for number in rest:
        line = lines[number]
        begins = _BEGINS.fullmatch(_bare(line))
        new = blocks.pop(begins[1], []) if begins else []
        if begins and not new and begins[1] not in emptied and _bare("".join(lines[number + 1 : number + 2])) == _END:
            next(rest)
            if filled and not filled[-1].strip():
                filled.pop()
            continue
        filled.append(line if line.endswith("\n") or not new else line + end)
        filled += [one + end for one in new]
    return filled


def _bare(line: str) -> str:
    return line.rstrip("\r\n")
