"""What a text looks like: without invisible characters, and with look-alikes replaced by the ASCII they resemble.

Source: Unicode TR 36 and 39 (confusables); the table holds the letters and signs that marks and tokens consist of.
"""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import accumulate

_VISIBLE_FORMATS = frozenset([*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD])
_BLANK_LETTERS = (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180F, 0x2065, 0x3164, 0xFFA0, 0x2800)
_SELECTORS = (*range(0x180B, 0x180E), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000))
_INVISIBLE_LETTERS = frozenset(map(chr, (*_BLANK_LETTERS, *_SELECTORS)))
_LINE_ENDS = {"\r": "\n", "\v": "\n", "\f": "\n", "\x1c": "\n", "\x1d": "\n", "\x1e": "\n"} | {
    "\x85": "\n",
    "\u2028": "\n",
    "\u2029": "\n",
}
_CASELESS = frozenset(["Lo", "So", "No", "Co", "Cn"])
_SIGNS = {
    "<": "‹〈⟨＜﹤ᐸ≺˂❮❰⧼𐊆❬⟪《«≪⋘ᚲ⪻〈く‹",
    ">": "›〉⟩＞﹥ᐳ≻˃❯❱⧽❭⟫》»≫⋙⪼〉",
    "|": "｜│❘ǀ∣¦⎮▏┃║❙❚⏐⼁〡ⅼ׀ߊⵏꓲǁ‖∥￨⎢⎥▕丨︱",
    "[": "［〔【⟦❲〖⁅⦋⟬「『﹝",
    "]": "］〕】⟧❳〗⁆⦌⟭」』﹞",
    "/": "⁄∕╱⟋⧸／〳Ⳇ⼃丿",
    "_": "▁‗ˍ﹍﹎﹏＿⎽",
    "-": "‐‑‒–—―−﹣－﹘⁃˗➖ー一",
}
_LETTERS = {
    "a": "аαɑᴀꭺᎪꓮ⍺Λ",
    "b": "Ьвʙᏼᖯꓐβɓ",
    "c": "сᴄϲⲥꮯᏟꓚ",
    "d": "ԁᴅꮷᏧꓓɗժ",
    "e": "еεєᴇⲉҽꭼᎬꓰ℮ɛэ",
    "f": "ꞙẝϝքꓝƒ",
    "g": "ɡցɢԍᶃᏀꓖ",
    "h": "һнʜհᏂᎻꓧΗ",
    "i": "іɩιıɪꭵᎥӏ⍳ꙇι",
    "j": "јϳᴊꭻᎫꓙʝ",
    "k": "кκᴋⲕꮶᏦꓗ",
    "l": "ⅼʟⳑꮮᏞꓡⲓӀاɭ",
    "m": "мᴍⅿꮇᎷꓟʍμ",
    "n": "пոռɴηⲛꓠиᴎΝ",
    "o": "оοσᴏօⲟഠ໐๐ӧ၀ဝ००ѻꬽס",
    "p": "рρᴘⲣꮲᏢꓑ⍴þ",
    "q": "ԛգզɋ",
    "r": "гʀᴦⲅꮁꭱᎡꓣяɾ",
    "s": "ѕꜱꮪᏚꓢʂտ",
    "t": "тτᴛⲧꭲᎢꓔ†ƭ",
    "u": "υսᴜꭎꭒꓴʋц",
    "v": "ѵνᴠⱱꮩᏙꓦ⋁∨",
    "w": "ԝѡաᴡꮃᎳꓪωшщ",
    "x": "хχ⨯×ⅹᕁ᙮ⲭꓫ╳✕✖⤫",
    "y": "уүγʏꭚᎩꓬΥ",
    "z": "ᴢꮓᏃꓜʐ",
}
_LOOKS_LIKE = {
    look_alike: plain for table in (_SIGNS, _LETTERS) for plain, others in table.items() for look_alike in others
}


class PlainForm:
    """`text` is lower-case; one of its characters may stand for part of an original character, or for several."""

    def __init__(self, original: str) -> None:
        self._original = original
        self._lengths: dict[str, int] = {}
        if original.isascii():
            self.text = original.lower()
            return
        # Each distinct character is looked up once; even a long text has few.
        table = {one: one if _is_plain(one) else _plain(one) for one in set(original)}
        if any(len(plain) != 1 for plain in table.values()):
            self._lengths = {character: len(plain) for character, plain in table.items()}
        self.text = original.translate({ord(character): plain for character, plain in table.items()})

    def origins(self, begin: int, end: int) -> tuple[int, int]:
        """The range of the original for a range of `text`; at least one character."""
        if not self._lengths:
            return begin, end
        return bisect_right(self._ends, begin), bisect_right(self._ends, end - 1) + 1

    @cached_property
    def _ends(self) -> array[int]:
        """The end in `text` of each original character. Needed only if lengths changed."""
        return array("L", accumulate(map(self._lengths.__getitem__, self._original)))


def plain_form(text: str) -> PlainForm:
    """What the text looks like at a glance."""
    return PlainForm(text)


def is_invisible(character: str) -> bool:
    """Whether it is invisible; line feed and tab count as visible, all other line ends do not."""
    return _visible(character) != character


def confusable_letters() -> Mapping[str, str]:
    """Letters that look like an ASCII one → that one, in lower case."""
    return {look_alike: plain for plain, others in _LETTERS.items() for look_alike in others}


def remove_invisible(text: str) -> tuple[str, int]:
    """The text without invisible characters, and how many it had.

    Removed are controls, direction marks, zero-width characters, tags and variation selectors; every kind of line end
    becomes a line feed, and half of a surrogate pair a replacement character.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text, 0
    odd = {one for one in set(text) if not one.isprintable() or one in _INVISIBLE_LETTERS}
    shown = text.translate(_OrItself({ord(one): _visible(one) for one in odd}))
    return shown, len(text) - len(shown)


class _OrItself(dict[int, str | int]):
    """A table for `translate` that keeps characters without an entry, faster than with a miss for each of them."""

    def __missing__(self, code: int) -> int:
        self[code] = code
        return code


def _visible(character: str) -> str:
    if character in "\n\t":
        return character
    if character in _LINE_ENDS:
        return _LINE_ENDS[character]
    match unicodedata.category(character):
        case "Cs":
            return "\ufffd"
        case "Cc":
            return ""
        case "Cf":
            return character if ord(character) in _VISIBLE_FORMATS else ""
    return "" if character in _INVISIBLE_LETTERS else character


def _is_plain(character: str) -> bool:
    """Whether it needs no change: true for the many thousand letters of scripts without capitals."""
    if character in _LOOKS_LIKE or unicodedata.decomposition(character):
        return False
    return unicodedata.category(character) in _CASELESS


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    if character.isascii():
        return character.lower()
    if character in _LOOKS_LIKE:
        return _LOOKS_LIKE[character]
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    marks_off = (item for item in folded if unicodedata.category(item) not in ("Mn", "Me"))
    return "".join(_LOOKS_LIKE.get(item, item) for item in marks_off)
