"""ipywidgets, imported only for a widget. The magics do not need it."""

from __future__ import annotations

import html
from typing import Any

from onyx_jupyter.errors import MagicError


def widgets() -> Any:
    """The module. Raises: MagicError (ipywidgets) if it is not installed in this kernel."""
    try:
        import ipywidgets
    except ImportError as error:
        raise MagicError(
            "ipywidgets",
            "This needs ipywidgets, which is not installed in this kernel.",
            hint="%pip install ipywidgets, then restart the kernel. %onyx works without it.",
        ) from error
    return ipywidgets


def note(text: str, *, is_problem: bool = False) -> str:
    """A line of HTML."""
    colour = "var(--jp-error-color1, #b00020)" if is_problem else "var(--jp-ui-font-color2, #666)"
    return f'<span style="color: {colour}">{html.escape(text)}</span>' if text else ""
