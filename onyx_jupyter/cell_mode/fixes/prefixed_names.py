"""Removes signs before names, which come from an answer's form or another language, so that they are valid Python."""

from __future__ import annotations

import re

from onyx_jupyter.cell_mode.cell_source import problem_in

_SIGNED = r"[@$](?P<name>[A-Za-z_]\w*)(?:\[\w*\])?"
_ANY = re.compile(_SIGNED)
# One or several names, and the assignment.
_ASSIGNED = re.compile(rf"^[ \t]*(?:{_SIGNED.replace('?P<name>', '?:')}[ \t]*,?[ \t]*)+=(?!=)", re.MULTILINE)


def without_signs(source: str) -> str:
    """Turns `@mean[float] = x` into `mean = x`, and `@mean` into `mean` elsewhere; only if the result is valid Python.

    Strings keep the sign: `"@mean[2]"` is the requested form. In `f"{@mean}"` it is removed.
    """
    names = {found["name"] for line in _ASSIGNED.findall(source) for found in _ANY.finditer(line)}
    if not names or problem_in(source) is None:
        return source
    plain = _ASSIGNED.sub(lambda line: _ANY.sub(r"\g<name>", line[0]), source)
    any_name = "|".join(sorted(names, key=len, reverse=True))
    plain = re.sub(rf"([({{,=][ \t]*)[@$]({any_name})\b(?!\[)", r"\1\2", plain)
    return plain if problem_in(plain) is None else source
