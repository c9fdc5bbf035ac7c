"""Puts a kernel's messages together into nbformat outputs, as a front end would. It never talks to a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onyx_jupyter.notebook.outputs import collapse_overwritten

MAX_STREAM_CHARS = 5_000_000


class OutputCollector:
    """The outputs of one execution. A stream beyond `MAX_STREAM_CHARS` is cut, and the cut is noted in it."""

    def __init__(self) -> None:
        self._outputs: list[dict[str, Any]] = []
        self._parts: dict[int, list[str]] = {}
        self._chars: dict[int, int] = {}
        self._displays: dict[str, list[dict[str, Any]]] = {}
        self._clear_next = False
        self.last_line = ""

    def add(self, message_type: str, content: Mapping[str, Any]) -> None:
        """Takes one IOPub message; those that are no output are ignored."""
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
                self._append(
                    {"output_type": "error", **{key: content[key] for key in ("ename", "evalue", "traceback")}}
                )

    def outputs(self) -> tuple[dict[str, Any], ...]:
        """What has been collected until now, streams as one string each."""
        return tuple(
            {**output, "text": collapse_overwritten("".join(self._parts[id(output)]))}
            if output["output_type"] == "stream"
            else output
            for output in self._outputs
        )

    def _add_stream(self, name: str, text: str) -> None:
        self._clear_if_due()
        last = self._outputs[-1] if self._outputs else {}
        if last.get("output_type") != "stream" or last["name"] != name:
            last = {"output_type": "stream", "name": name, "text": ""}
            self._outputs.append(last)
            self._parts[id(last)], self._chars[id(last)] = [], 0
        room = MAX_STREAM_CHARS - self._chars[id(last)]
        if room > 0:
            cut = f"\n[… the rest of {name} was left out …]\n" if len(text) > room else ""
            self._parts[id(last)].append(text[:room] + cut)
        self._chars[id(last)] += len(text)
        lines = [line.strip() for line in text.replace("\r", "\n").split("\n") if line.strip()]
        self.last_line = lines[-1] if lines else self.last_line

    def _add_display(self, message_type: str, content: Mapping[str, Any]) -> None:
        output = {"output_type": message_type, "data": content["data"], "metadata": content.get("metadata") or {}}
        if message_type == "execute_result":
            output["execution_count"] = content.get("execution_count")
        self._append(output)
        display_id = (content.get("transient") or {}).get("display_id")
        if display_id is not None:
            self._displays.setdefault(display_id, []).append(output)

    def _update(self, content: Mapping[str, Any]) -> None:
        for output in self._displays.get((content.get("transient") or {}).get("display_id", ""), []):
            output["data"] = content["data"]
            output["metadata"] = content.get("metadata") or {}

    def _append(self, output: dict[str, Any]) -> None:
        self._clear_if_due()
        self._outputs.append(output)

    def _clear_if_due(self) -> None:
        if self._clear_next:
            self._clear_next = False
            self._clear()

    def _clear(self) -> None:
        self._outputs.clear()
        self._parts.clear()
        self._chars.clear()
        self._displays.clear()
