"""The page of figures: what is measured anew takes the place of its section. It measures nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_HEAD = """\
# Figures

Written by `python benchmarks/run.py [names…] --markdown docs/figures.md`, not by hand: a run writes the
sections of what it measures. Each figure is the median of its runs, with the smallest and the largest; `ok`
and `missed` go by the median. Real processes and real sockets; only the provider is scripted, an OpenAI-
compatible server on loopback."""
_SECTION = "## "


def write_sections(page: Path, sections: Sequence[str]) -> None:
    """Those of other groups stay; a new one stands behind the one that it was measured after."""
    parts = page.read_text("utf-8").split(f"\n{_SECTION}")[1:] if page.exists() else []
    known = [f"{_SECTION}{part}".strip() for part in parts]
    at = len(known)
    for section in sections:
        title = _title(section)
        places = [place for place, one in enumerate(known) if _title(one) == title]
        if places:
            at = places[0]
            known[at] = section.strip()
        else:
            known.insert(at + 1, section.strip())
            at = min(at + 1, len(known) - 1)
    page.write_text("\n\n".join([_HEAD, *known]) + "\n", encoding="utf-8")


def _title(section: str) -> str:
    return section.splitlines()[0]
