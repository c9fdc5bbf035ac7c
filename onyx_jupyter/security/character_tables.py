"""Characters that a reader cannot see or mistakes for others: one table for Python and for the front end.

`python -m onyx_jupyter.security.character_tables` writes the front end's copy, `--check` says whether it is current.
Source: Unicode TR 36, TR 39 (confusables) and TR 51 (emoji).
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from onyx_jupyter.generated_file import write_or_check
from onyx_jupyter.security.confusables import confusable_letters, is_invisible

TARGET = Path(__file__).parents[2] / "labextension" / "src" / "shared" / "character_tables.ts"
HEADER = """\
// Generated from onyx_jupyter/security/character_tables.py by `python -m onyx_jupyter.security.character_tables`.
// Do not edit.
"""
Range = tuple[int, int]
Named = tuple[int, int, str]

# What a variation selector may follow and a joiner may join: pictures, arrows, signs and modifiers.
EMOJI: Sequence[Range] = (
    *((code, code) for code in (0xA9, 0xAE, 0x203C, 0x2049, 0x2122, 0x2139, 0x24C2, 0x3030, 0x303D, 0x3297, 0x3299)),
    (0x2190, 0x21FF),
    (0x2300, 0x23FF),
    (0x25A0, 0x27BF),
    (0x2934, 0x2935),
    (0x2B00, 0x2BFF),
    (0x1F000, 0x1FAFF),
)
# Scripts whose words are written with joiners: Arabic and related scripts, those of India and its neighbours.
JOINING: Sequence[Range] = ((0x620, 0x6D3), (0x6D5, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8C7), (0x900, 0xDFF))
# Characters of Chinese, Japanese and Korean.
WIDE: Sequence[Range] = ((0x2E80, 0x2FFF), (0x3001, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFF01, 0xFF60))
GREEK: Sequence[Range] = ((0x370, 0x3FF), (0x1F00, 0x1FFF))
# Signs that look like others in an address or a path.
SIGNS = {"/": "⁄∕╱⟋⧸Ⳇ／", ".": "․．｡", ":": "ː˸։∶꞉", ";": "\u037e", "@": "＠"}
_PLANES: Sequence[Range] = ((0, 0x1FFFF), (0xE0000, 0xE0FFF))
_PRIVATE: Sequence[Range] = ((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))
# Characters that are newer than the Unicode version of some Pythons.
_EGYPTIAN = (0x13430, 0x1343F, "egyptian hieroglyph format control")
_OUTLINED = (0x1CCD6, 0x1CCF9)
_CONTROLS = {
    0x00: "null",
    0x07: "bell",
    0x08: "backspace",
    0x0B: "vertical tab",
    0x0C: "form feed",
    0x0D: "carriage return",
    0x1B: "escape",
    0x7F: "delete",
    0x85: "next line",
}
# Letters that nobody mistakes for a Latin one, or that some Latin alphabet contains.
_DISTINGUISHABLE = frozenset("μσωηεβΛΣΩφıþƒɓɗɛɩʋƭɋɾʍᴦ")
# Letters of another position or size, which are obvious: `m²`, `①`.
_SEEN = ("<super>", "<sub>", "<circle>")


class Tables(NamedTuple):
    """Ranges are inclusive. `look_alikes` maps a letter to the ASCII one that it looks like; `styled` are letters and
    digits in other widths and styles, which Python and browsers read as the plain ones."""

    invisible: Sequence[Named]
    spaces: Sequence[Named]
    look_alikes: Mapping[str, str]
    styled: Sequence[Range]


@cache
def tables() -> Tables:
    """Scans every character in the planes where Unicode has any of these, which takes a moment."""
    newer = [*range(_EGYPTIAN[0], _EGYPTIAN[1] + 1), *range(_OUTLINED[0], _OUTLINED[1] + 1)]
    codes = (code for first, last in _PLANES for code in range(first, last + 1) if code not in newer)
    every = list(map(chr, codes))
    private = [(first, last, "character for private use") for first, last in _PRIVATE]
    return Tables(
        invisible=sorted([*_named(one for one in every if is_invisible(one)), _EGYPTIAN, *private]),
        spaces=_named(one for one in every if unicodedata.category(one) == "Zs" and one != " "),
        look_alikes=_look_alikes(every),
        styled=sorted([*_ranges(one for one in every if _is_styled(one)), _OUTLINED]),
    )


def main(arguments: Sequence[str]) -> int:
    """Writes the front end's copy, or with `--check` compares it: returns 1 if the one on disk is outdated."""
    return write_or_check(TARGET, typescript(), arguments, "onyx_jupyter.security.character_tables")


def typescript() -> str:
    """The tables as TypeScript, formatted as by the front end's formatter."""
    table = tables()
    constants = {
        "INVISIBLE": ("ReadonlyArray<readonly [number, number, string]>", table.invisible),
        "SPACES": ("ReadonlyArray<readonly [number, number, string]>", table.spaces),
        "STYLED": ("ReadonlyArray<readonly [number, number]>", table.styled),
        "EMOJI": ("ReadonlyArray<readonly [number, number]>", EMOJI),
        "JOINING": ("ReadonlyArray<readonly [number, number]>", JOINING),
        "WIDE": ("ReadonlyArray<readonly [number, number]>", WIDE),
        "GREEK": ("ReadonlyArray<readonly [number, number]>", GREEK),
    }
    parts = [HEADER, *(_constant(name, kind, rows) for name, (kind, rows) in constants.items())]
    looks = {ord(character): plain for character, plain in table.look_alikes.items()}
    signs = {ord(sign): plain for plain, others in SIGNS.items() for sign in others}
    return "\n".join([*parts, _map("LOOK_ALIKES", looks), _map("SIGNS", signs)])


def _look_alikes(every: Sequence[str]) -> dict[str, str]:
    """The letters that deceive, including capitals."""
    small = {one: plain for one, plain in confusable_letters().items() if one not in _DISTINGUISHABLE and one.isalnum()}
    capitals = {one: small[one.casefold()] for one in every if one not in small and one.casefold() in small}
    return {one: plain for one, plain in sorted({**small, **capitals}.items()) if one not in _DISTINGUISHABLE}


def _is_styled(character: str) -> bool:
    if character.isascii() or unicodedata.decomposition(character).startswith(_SEEN):
        return False
    plain = unicodedata.normalize("NFKC", character)
    return len(plain) == 1 and plain.isascii() and plain.isalnum()


def _named(characters: Iterable[str]) -> list[Named]:
    """Merges neighbours of the same name into a range."""
    found: list[Named] = []
    for character in characters:
        code, name = ord(character), _name(character)
        if found and found[-1][1:] == (code - 1, name):
            found[-1] = (found[-1][0], code, name)
        else:
            found.append((code, code, name))
    return found


def _name(character: str) -> str:
    code = ord(character)
    match unicodedata.category(character):
        case "Cc":
            return _CONTROLS.get(code, "control character")
        case "Cs":
            return "half of a character"
    name = unicodedata.name(character, "character without a name").lower()
    for many in ("variation selector", "tag"):
        if name.startswith(f"{many}-") or (many == "tag" and 0xE0020 <= code <= 0xE007F):
            return "tag character" if many == "tag" else many
    return name


def _ranges(characters: Iterable[str]) -> list[Range]:
    codes = enumerate(map(ord, characters))
    runs = ([code for _, code in run] for _, run in groupby(codes, lambda pair: pair[1] - pair[0]))
    return [(run[0], run[-1]) for run in runs]


def _constant(name: str, kind: str, rows: Sequence[Sequence[int | str]]) -> str:
    lines = [f"  [{', '.join(map(_value, row))}]" for row in rows]
    body = ",\n".join(lines)
    return f"export const {name}: {kind} = [\n{body}\n];\n"


def _map(name: str, pairs: Mapping[int, str]) -> str:
    body = ",\n".join(f"  [{_value(code)}, {_value(plain)}]" for code, plain in pairs.items())
    head = "/** Code point → the ASCII character that it passes for. */"
    return f"{head}\nexport const {name} = new Map<number, string>([\n{body}\n]);\n"


def _value(value: int | str) -> str:
    return f"0x{value:x}" if isinstance(value, int) else "'" + json.dumps(value)[1:-1].replace("'", "\\'") + "'"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
