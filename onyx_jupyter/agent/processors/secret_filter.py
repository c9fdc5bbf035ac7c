"""Keeps secrets from the model and from the readers of its answers."""

from __future__ import annotations

from dataclasses import replace

from onyx_jupyter.agent.processor import Processor, Reply, TextFilter
from onyx_jupyter.messages import Message, ToolCall, ToolResult
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.security.secret_redactor import SecretRedactor, SecretStream, redact_off_loop

_KEPT = "redacted"


class SecretFilter(Processor):
    """Replaces every secret with a mark.

    The same message always gives the same result, so each request starts like the one before.
    """

    def __init__(self, secrets: SecretRedactor) -> None:
        self._secrets = secrets
        self._known: dict[str, str] = {}  # every step sends the conversation again, most of it unchanged

    async def before_model(self, request: ModelRequest) -> ModelRequest:
        system = await redact_off_loop(self._text, request.system)
        return replace(request, system=system, messages=[await self._sent(message) for message in request.messages])

    def text_filter(self) -> TextFilter:
        return SecretStream(self._secrets)

    async def after_model(self, reply: Reply) -> Reply:
        calls = tuple([await redact_off_loop(self._secrets.redact_call, call) for call in reply.calls])
        return replace(reply, text=await redact_off_loop(self._secrets.apply, reply.text), calls=calls)

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        return await redact_off_loop(self._secrets.redact_result, result)

    async def _sent(self, message: Message) -> Message:
        if message.kept.get(_KEPT, (None, None))[0] is self._secrets:
            return self._message(message)
        return await redact_off_loop(self._message, message)

    def _message(self, message: Message) -> Message:
        """Cached with the message for all runs that send it again, until the known secrets change."""
        secrets, redacted = message.kept.get(_KEPT, (None, None))
        if secrets is not self._secrets:
            made = self._redacted(message)
            redacted = None if made == message else made  # None, since a message that holds itself is freed late
            message.kept[_KEPT] = (self._secrets, redacted)
        return redacted or message

    def _redacted(self, message: Message) -> Message:
        return replace(
            message,
            content=self._text(message.content),
            context=self._text(message.context),
            tool_calls=tuple(map(self._secrets.redact_call, message.tool_calls)),
            attachments=tuple(map(self._secrets.redact_attachment, message.attachments)),
        )

    def _text(self, text: str) -> str:
        if text not in self._known:
            self._known[text] = self._secrets.apply(text)
        return self._known[text]
