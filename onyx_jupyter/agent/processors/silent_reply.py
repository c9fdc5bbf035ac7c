"""Lets an answer that is exactly the silent token end its turn without a message."""

from __future__ import annotations

from onyx_jupyter.agent.control_tokens import NO_REPLY, is_silent
from onyx_jupyter.agent.processor import Processor, TextFilter


class SilentReply(Processor):
    """Holds an answer back while it may still become the token."""

    def text_filter(self) -> TextFilter:
        return SilentReplyFilter()


class SilentReplyFilter:
    """Releases everything it held back once the answer turns out not to be the token."""

    def __init__(self) -> None:
        self._held = ""
        self._is_answer = False

    def feed(self, text: str) -> str:
        if self._is_answer:
            return text
        self._held += text
        if is_silent(self._held) or NO_REPLY.startswith(self._held.lstrip()):
            return ""
        return self._release()

    def finish(self) -> str:
        return "" if is_silent(self._held) else self._release()

    def _release(self) -> str:
        held, self._held, self._is_answer = self._held, "", True
        return held
