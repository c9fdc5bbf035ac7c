"""What a cell printed, extracted from a tool's result, and as shown to the user below the answer."""

from __future__ import annotations

import re

SHOWN_LINES = 20
_REPEATED_WORDS = 6
_SHOWN_CHARS = 3_000
_HEADLINE = re.compile(r"\A(?:\([^\n]*\)|(?:Created|Inserted|Edited|Ran|Cell)\b[^\n]*)(?:\n|\Z)")
_PICTURE = re.compile(r"\[(?:image/|figure: )|<Figure size \S+ with \d+ Axes>$")
_NOTHING = "(no output)"
# As Python writes them: location and message, possibly over several lines, up to the indented line of code.
_IN_A_FILE = r"[^\s:][^\n]*\.py:\d+: \w*Warning: [^\n]*\n(?:(?!\[image/|\[figure: )[^\n]*\n){0,12}?  \S[^\n]*(?:\n|\Z)"
_IN_A_LINE = r"[^\s:][^\n]*:\d+: \w*Warning: [^\n]*(?:\n|\Z)"
_WARNINGS = re.compile(rf"^(?:stderr:\n)?(?:{_IN_A_FILE}|{_IN_A_LINE})+", re.MULTILINE)
_CELL_ID = re.compile(r"\bcell ([A-Za-z0-9_-]{1,64})\b[^\n]*\bhash\b")


def output_of(result: str) -> str:
    """The result without the tool's own words at the beginning."""
    text = result
    while (headline := _HEADLINE.match(text)) is not None:
        text = text[headline.end() :]
    return text.strip("\n").removeprefix(_NOTHING).strip("\n")


def without_pictures(output: str) -> str:
    """What was printed, without placeholders of pictures and without warnings: neither is a result."""
    text = _WARNINGS.sub("", output)
    return "\n".join(line for line in text.splitlines() if not _PICTURE.match(line)).strip("\n")


def cell_id_of(result: str) -> str | None:
    """The id of the cell that a call inserted or edited."""
    found = _CELL_ID.search(result)
    return found[1] if found else None


def contains_output(words: str, output: str) -> bool:
    """Whether the words contain each line of the output, so that it need not be repeated below them."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return bool(lines) and all(line in words for line in lines)


def only_repeats(words: str, output: str) -> bool:
    """Whether the words are just a part of the output on one line: the output below them reads better."""
    said = " ".join(words.split())
    return len(said.split()) >= _REPEATED_WORDS and said in " ".join(output.split())


def quoted(output: str) -> str:
    """A short output quoted; nothing for a long one, which is shown below its cell."""
    lines = output.strip("\n").splitlines()
    if not lines or len(lines) > SHOWN_LINES or len(output) > _SHOWN_CHARS:
        return ""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", output)), default=0))
    return "\n".join([f"{fence}text", *lines, fence])
