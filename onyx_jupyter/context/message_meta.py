"""The metadata stored with a message: what was sent along with it, who sent it, and from where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.context.message_context import MessageContext
from onyx_jupyter.context.waiting_kernel import asking_kernel
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.sessions.transcript import SessionTranscript

MAX_NOTEBOOKS_LISTED = 5


class MessageMeta:
    """Collected when the message is sent, so that older messages stay as they were.

    `pending_review` returns what a person has decided on changes since the model was last informed. `notebook_of`
    returns the notebook of a kernel, `open_notebooks` those open in tabs and the active one, `open_folder` the folder
    shown in the file browser, where a new notebook goes.
    """

    def __init__(
        self,
        context: MessageContext,
        pending_review: Callable[[str, Sequence[Entry]], Awaitable[dict[str, Any]]],
        notebook_of: Callable[[str], Awaitable[str | None]],
        open_notebooks: Callable[[], tuple[Sequence[str], str | None]],
        open_folder: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._context = context
        self._pending_review = pending_review
        self._notebook_of = notebook_of
        self._open_notebooks = open_notebooks
        self._open_folder = open_folder

    async def of(
        self,
        transcript: SessionTranscript,
        message: str,
        *,
        model: str | None,
        tool_mode: str | None,
        effort: str | None,
        mode: str | None,
        context: Sequence[Mapping[str, Any]],
        origin: RunOrigin,
    ) -> dict[str, Any]:
        """The metadata without empty values; parameters as of `Conversations.send`. Raises: NotFound, StorageError."""
        if origin.session is None:
            notebooks = self._notebooks_in_tabs()
            items = await self._context.of_message(transcript, message, context, model)
        else:
            notebooks = {}
            items = await self._context.read(transcript, context, model)
        if origin.kernel is not None:
            origin = replace(origin, kernel=await asking_kernel(origin.kernel, self._notebook_of))
        meta: dict[str, Any] = {"model": model, "toolMode": tool_mode, "effort": effort, "mode": mode}
        meta |= {"context": items, "notebooks": notebooks}
        meta |= await self._pending_review(transcript.session_key, transcript.entries)
        return {name: value for name, value in meta.items() if value} | origin.as_meta()

    def _notebooks_in_tabs(self) -> dict[str, Any]:
        """What the sender has open at that moment."""
        paths, active = self._open_notebooks()
        others = [path for path in paths if path != active][:MAX_NOTEBOOKS_LISTED]
        folder = self._open_folder()
        told: dict[str, Any] = {name: value for name, value in (("front", active), ("open", others)) if value}
        return told if active or folder is None else {**told, "folder": folder}
