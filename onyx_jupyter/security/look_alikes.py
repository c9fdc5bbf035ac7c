"""What a text looks like: invisible characters out, look-alikes as the ASCII they pass for. It changes no file.

Source: Unicode TR 36 and 39 (confusables); the table holds the letters and signs that marks and tokens are made of.
"""

from __future__ import annotations

import unicodedata
from array import array
from functools import lru_cache
from typing import NamedTuple

_VISIBLE_FORMATS = frozenset([*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD])
_BLANK_LETTERS = frozenset([0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180F, 0x2065, 0x3164, 0xFFA0, 0x2800])
_LINE_ENDS = {"\r": "\n", "\v": "\n", "\f": "\n", "\x1c": "\n", "\x1d": "\n", "\x1e": "\n"} | {
    "\x85": "\n",
    "\u2028": "\n",
    "\u2029": "\n",
}
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


class PlainForm(NamedTuple):
    """`text` is lower-case; `origins` says for each of its characters which one of the original it stands for."""

    text: str
    origins: array[int] | None

    def origin(self, index: int) -> int:
        return index if self.origins is None else self.origins[index]


def plain_form(text: str) -> PlainForm:
    """What the text looks like at a glance."""
    if text.isascii():
        return PlainForm(text.lower(), None)
    pieces, origins = [], array("L")
    for index, character in enumerate(text):
        plain = character.lower() if character.isascii() else _plain(character)
        pieces.append(plain)
        origins.extend([index] * len(plain))
    return PlainForm("".join(pieces), origins)


def remove_invisible(text: str) -> tuple[str, int]:
    """The text without what nobody sees, and how many such characters it had.

    Out go controls, direction marks, zero-width characters, tags and variation selectors; every kind of line end
    becomes a line feed, and half of a pair of surrogates a replacement character.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text, 0
    pieces = [_visible(character) for character in text]
    return "".join(pieces), pieces.count("")


@lru_cache(maxsize=4096)
def _visible(character: str) -> str:
    if character in "\n\t":
        return character
    if character in _LINE_ENDS:
        return _LINE_ENDS[character]
    code = ord(character)
    match unicodedata.category(character):
        case "Cs":
            return "\ufffd"
        case "Cc":
            return ""
        case "Cf":
            return character if code in _VISIBLE_FORMATS else ""
    selects = 0xFE00 <= code <= 0xFE0F or 0x180B <= code <= 0x180D or 0xE0000 <= code <= 0xE0FFF
    return "" if selects or code in _BLANK_LETTERS or 0xFFF0 <= code <= 0xFFF8 else character


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    if character in _LOOKS_LIKE:
        return _LOOKS_LIKE[character]
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    marks_off = (item for item in folded if unicodedata.category(item) not in ("Mn", "Me"))
    return "".join(_LOOKS_LIKE.get(item, item) for item in marks_off)
