"""Keeps results too long for a model in files of the agent's workspace, and shortens them. It filters no secrets."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.security.path_guard import PathGuard

log = logging.getLogger(__name__)
FOLDER = "results"
MAX_AGE_S = 7 * 24 * 3600.0
MAX_BYTES = 200_000_000
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700
_SAFE_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")
_LINE_END_WITHIN = 200


class ResultFiles:
    """The overlong results of one session: `results/<session>/<call>.txt` in the workspace, private.

    Writing a new file deletes those older than a week, and the oldest ones beyond 200 MB in total.
    """

    def __init__(self, paths: PathGuard, session_key: str, clock: Clock, max_chars: int) -> None:
        self._paths = paths
        self._root = paths.workspace / FOLDER
        self._folder = self._root / _safe(session_key)
        self._clock = clock
        self.max_chars = max_chars

    async def fit(self, call_id: str, result: ToolResult) -> ToolResult:
        """The result as a model gets it: if it is too long, its head and tail and the file with the complete text."""
        if len(result.output) <= self.max_chars:
            if result.kept_in is None or not result.truncated:
                return result
            note = f"\n[The full output is in {result.kept_in}.]"
            return replace(result, output=result.output + note, own_tail=result.own_tail + note)
        kept_in = result.kept_in or await self._keep(call_id, result.output)
        return replace(result, output=_cut(result, self.max_chars, kept_in), kept_in=kept_in, truncated=True)

    def path(self, call_id: str) -> str:
        """The path of that call's file, as `read` takes it."""
        return self._paths.shown(self._folder / f"{_safe(call_id)}.txt")

    def create(self, call_id: str) -> BinaryIO:
        """Creates that file, empty. Blocks: call it in a thread. Raises: OSError, PathNotAllowed."""
        with self._paths.folder(self._folder, make_mode=_PRIVATE_FOLDER) as folder:
            descriptor = folder.create(f"{_safe(call_id)}.txt", _PRIVATE_FILE)
        self._tidy()
        return os.fdopen(descriptor, "wb")

    def remove(self, call_id: str) -> None:
        """Removes that file. Blocks: call it in a thread."""
        self._remove(self._folder, f"{_safe(call_id)}.txt")

    async def _keep(self, call_id: str, text: str) -> str | None:
        def write() -> None:
            with self.create(call_id) as file:
                file.write(text.encode("utf-8", "replace"))

        try:
            await asyncio.to_thread(write)
        except (OSError, PathNotAllowed) as error:
            log.warning("A long result could not be saved in %s: %s", self._folder, error)
            return None
        return self.path(call_id)

    def _tidy(self) -> None:
        files = sorted(self._files())
        total_bytes = sum(size_bytes for _, size_bytes, _, _ in files)
        oldest = self._clock.now().timestamp() - MAX_AGE_S
        for written_at, size_bytes, folder, name in files:
            if written_at >= oldest and total_bytes <= MAX_BYTES:
                break
            self._remove(folder, name)
            total_bytes -= size_bytes

    def _files(self) -> list[tuple[float, int, Path, str]]:
        """The time of writing, size, folder and name of every file; follows no link."""
        found = []
        try:
            with self._paths.folder(self._root) as root:
                folders = [entry.name for entry in root.entries() if entry.is_dir(follow_symlinks=False)]
            for name in folders:
                with self._paths.folder(self._root / name) as folder:
                    for entry in folder.entries():
                        if entry.name.endswith(".txt") and entry.is_file(follow_symlinks=False):
                            facts = entry.stat(follow_symlinks=False)
                            found.append((facts.st_mtime, facts.st_size, folder.path, entry.name))
        except OSError as error:
            log.warning("The old results in %s could not be listed: %s", self._root, error)
        return found

    def _remove(self, folder: Path, name: str) -> None:
        try:
            with self._paths.folder(folder) as opened:
                opened.remove(name)
        except OSError as error:
            log.warning("%s could not be deleted: %s", folder / name, error)


def _cut(result: ToolResult, max_chars: int, kept_in: str | None) -> str:
    text = result.output
    where = (
        f"The full text is in {kept_in}: read it in pages, or search it."
        if kept_in is not None
        else "It could not be saved to a file."
    )
    room = max(0, max_chars - len(where) - 60)
    head, tail = text[: (room + 1) // 2], text[len(text) - room // 2 :]
    if (end := head.rfind("\n", len(head) - _LINE_END_WITHIN)) >= 0:
        head = head[:end]
    if (start := tail.find("\n", 0, _LINE_END_WITHIN)) >= 0:
        tail = tail[start + 1 :]
    missing = "The middle is" if result.truncated else f"{len(text) - len(head) - len(tail)} characters are"
    return f"{head}\n[… {missing} left out here. {where} …]\n{tail}"


def _safe(name: str) -> str:
    """A name that is safe for a file: a provider may use any call ids."""
    return name if _SAFE_NAME.fullmatch(name) else hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
