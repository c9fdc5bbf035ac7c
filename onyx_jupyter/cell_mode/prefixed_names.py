"""Names written with a sign before them, as the form of an answer or another language has it: plain ones in Python."""

from __future__ import annotations

import re

from onyx_jupyter.cell_mode.cell_source import problem_in

_SIGNED = r"[@$](?P<name>[A-Za-z_]\w*)(?:\[\w*\])?"
_ANY = re.compile(_SIGNED)
# One name or several, and what is assigned to them.
_ASSIGNED = re.compile(rf"^[ \t]*(?:{_SIGNED.replace('?P<name>', '?:')}[ \t]*,?[ \t]*)+=(?!=)", re.MULTILINE)


def without_signs(source: str) -> str:
    """`@mean[float] = x` as `mean = x`, and `@mean` the same name wherever it is used; only where Python comes of it.

    In texts the sign stays: `"@mean[2]"` is the form that was asked for. In `f"{@mean}"` it goes.
    """
    names = {found["name"] for line in _ASSIGNED.findall(source) for found in _ANY.finditer(line)}
    if not names or problem_in(source) is None:
        return source
    plain = _ASSIGNED.sub(lambda line: _ANY.sub(r"\g<name>", line[0]), source)
    any_name = "|".join(sorted(names, key=len, reverse=True))
    plain = re.sub(rf"([({{,=][ \t]*)[@$]({any_name})\b(?!\[)", r"\1\2", plain)
    return plain if problem_in(plain) is None else source
