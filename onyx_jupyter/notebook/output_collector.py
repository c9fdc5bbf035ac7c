"""Assembles a kernel's messages into nbformat outputs, as a front end would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onyx_jupyter.notebook.outputs import collapse_overwritten, joined

MAX_STREAM_CHARS = 5_000_000
MAX_DISPLAY_CHARS = 20_000_000
MAX_TOTAL_CHARS = 60_000_000
MAX_OUTPUTS = 5_000
_ERROR_CHARS = 100_000
_ERROR_LINES = 200
_TOO_MANY = "[… the further outputs were left out: there are too many …]"


class OutputCollector:
    """The outputs of one execution, within limits; a line marks where something is left out.

    A stream is cut at `MAX_STREAM_CHARS`; a display beyond `MAX_DISPLAY_CHARS`, and anything after `MAX_TOTAL_CHARS` or
    `MAX_OUTPUTS`, is left out.
    """

    def __init__(self) -> None:
        self._outputs: list[dict[str, Any]] = []
        self._parts: dict[int, list[str]] = {}
        self._chars: dict[int, int] = {}
        self._displays: dict[str, list[dict[str, Any]]] = {}
        self._clear_next = False
        self._total = 0
        self._is_full = False
        self._has_error = False
        self.last_line = ""

    def add(self, message_type: str, content: Mapping[str, Any]) -> None:
        """Takes one IOPub message; messages that are not outputs are ignored."""
        match message_type:
            case "clear_output":
                self._clear_next = bool(content.get("wait"))
                if not self._clear_next:
                    self._clear()
            case "stream":
                self._add_stream(str(content["name"]), str(content["text"]))
            case "display_data" | "execute_result":
                self._add_display(message_type, content)
            case "update_display_data":
                self._update(content)
            case "error":
                self._append(_error(content), is_last=True)

    def outputs(self) -> tuple[dict[str, Any], ...]:
        """The outputs collected so far, each stream as one string."""
        return tuple(
            {**output, "text": collapse_overwritten("".join(self._parts[id(output)]))}
            if id(output) in self._parts
            else output
            for output in self._outputs
        )

    def _add_stream(self, name: str, text: str) -> None:
        self._clear_if_due()
        last = self._outputs[-1] if self._outputs else {}
        if last.get("output_type") != "stream" or last["name"] != name or id(last) not in self._parts:
            last = {"output_type": "stream", "name": name, "text": ""}
            if not self._has_room(last):
                return
            self._outputs.append(last)
            self._parts[id(last)], self._chars[id(last)] = [], 0
        room = min(MAX_STREAM_CHARS - self._chars[id(last)], MAX_TOTAL_CHARS - self._total)
        if room > 0:
            cut = f"\n[… the rest of {name} was left out …]\n" if len(text) > room else ""
            self._parts[id(last)].append(text[:room] + cut)
            self._total += min(len(text), room)
        self._chars[id(last)] += len(text)
        lines = [line.strip() for line in text.replace("\r", "\n").split("\n") if line.strip()]
        self.last_line = lines[-1] if lines else self.last_line

    def _add_display(self, message_type: str, content: Mapping[str, Any]) -> None:
        output = {"output_type": message_type, **_bounded(content)}
        if message_type == "execute_result":
            output["execution_count"] = content.get("execution_count")
        is_kept = self._append(output)
        display_id = (content.get("transient") or {}).get("display_id")
        if display_id is not None and is_kept:
            self._displays.setdefault(display_id, []).append(output)

    def _update(self, content: Mapping[str, Any]) -> None:
        for output in self._displays.get((content.get("transient") or {}).get("display_id", ""), []):
            new, others = _bounded(content), self._total - _size(output)
            if others + _size(new) > MAX_TOTAL_CHARS:
                new = {"data": {"text/plain": _TOO_MANY}, "metadata": {}}
            output.update(new)
            self._total = others + _size(output)

    def _append(self, output: dict[str, Any], *, is_last: bool = False) -> bool:
        """Returns whether it is kept. The first error always is: nothing follows it in a cell that only runs code."""
        self._clear_if_due()
        if not (is_last and not self._has_error) and not self._has_room(output):
            return False
        self._has_error = self._has_error or is_last
        self._total += _size(output)
        self._outputs.append(output)
        return True

    def _has_room(self, output: Mapping[str, Any]) -> bool:
        """The first output without room is replaced by a line that says so; later ones are dropped silently."""
        size = self._total + _size(output)
        if not self._is_full and size <= MAX_TOTAL_CHARS and len(self._outputs) < MAX_OUTPUTS:
            return True
        if not self._is_full:
            self._is_full = True
            self._outputs.append(_left_out("stderr", f"{_TOO_MANY}\n"))
        return False

    def _clear_if_due(self) -> None:
        if self._clear_next:
            self._clear_next = False
            self._clear()

    def _clear(self) -> None:
        self._outputs.clear()
        self._parts.clear()
        self._chars.clear()
        self._displays.clear()
        self._total, self._is_full, self._has_error = 0, False, False


def _bounded(content: Mapping[str, Any]) -> dict[str, Any]:
    """Data and metadata; data that are too large are replaced by a text that says so."""
    size = _size(content)
    if size <= MAX_DISPLAY_CHARS:
        return {"data": content["data"], "metadata": content.get("metadata") or {}}
    kinds = ", ".join(content["data"])
    return {"data": {"text/plain": f"[… {kinds}: {size:,} characters were left out …]"}, "metadata": {}}


def _size(output: Mapping[str, Any]) -> int:
    """The size in characters of data, metadata and traceback; a stream is counted as it grows."""
    texts = [*(output.get("data") or {}).values(), *(output.get("metadata") or {}).values()]
    traceback = [output.get("evalue", ""), *(output.get("traceback") or ())]
    return sum(len(text) if isinstance(text, str) else len(joined(text)) for text in texts) + sum(map(len, traceback))


def _error(content: Mapping[str, Any]) -> dict[str, Any]:
    traceback = content["traceback"]
    lines = [traceback] if isinstance(traceback, str) else list(traceback)
    if len(lines) > _ERROR_LINES:
        lines = [*lines[: _ERROR_LINES // 2], "[… lines were left out …]", *lines[-_ERROR_LINES // 2 :]]
    return {
        "output_type": "error",
        "ename": str(content["ename"])[:_ERROR_CHARS],
        "evalue": str(content["evalue"])[:_ERROR_CHARS],
        "traceback": [str(line)[:_ERROR_CHARS] for line in lines],
    }


def _left_out(name: str, text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}
