"""The text of onyx.json, for a program that edits it."""

from __future__ import annotations

import difflib
import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onyx_jupyter.agents.settings import secrets_of
from onyx_jupyter.config.edit import apply_edits
from onyx_jupyter.config.json5_lines import Path as KeyPath
from onyx_jupyter.config.load import load, read_text
from onyx_jupyter.config.problems import Problem, dotted
from onyx_jupyter.config.schema import Config
from onyx_jupyter.errors import ConfigChanged, ConfigError, InvalidRequest
from onyx_jupyter.security.secret_redactor import SecretRedactor
from onyx_jupyter.storage.atomic_write import write_bytes_atomically

# Of so many former states it can be said what has changed since.
_REMEMBERED = 8


@dataclass
class ConfigFile:
    """Reads and writes the file at `path`. Every method blocks: call it in a worker thread."""

    path: Path
    environment: Mapping[str, str]
    schema: type[Config] = Config
    _known: OrderedDict[str, str] = field(default_factory=OrderedDict, init=False, repr=False)

    def read(self) -> tuple[str, str]:
        """The text and its version (SHA-256, in hex). Raises: ConfigError if it is no text."""
        text = read_text(self.path)
        version = _version(text.encode())
        self._known[version] = text
        self._known.move_to_end(version)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return text, version

    def write(self, edits: Mapping[KeyPath, Any], version: str) -> str:
        """Sets each key to its value, or takes it out (`REMOVED`), and returns the new version.

        Raises: ConfigChanged if the file has another version by now; InvalidRequest if a value is not allowed, or the
        file is not JSON5; StorageError. Then the file is as it was.
        """
        text, current = self.read()
        if current != version:
            raise self._changed(version, text, current)
        new = self._edited(text, edits)

        def check(replaced: bytes | None) -> None:
            if _version(_without_mark(replaced or b"")) != version:
                raise self._changed(version, *self.read())

        write_bytes_atomically(self.path.resolve(), new.encode(), check=check)  # a link stays a link
        return self.read()[1]

    def _edited(self, text: str, edits: Mapping[KeyPath, Any]) -> str:
        try:
            before = load(text, self.path, self.environment, self.schema)
            new = apply_edits(text, edits)
            after = load(new, self.path, self.environment, self.schema)
        except ConfigError as error:
            raise InvalidRequest(str(error)) from error
        except ValueError as error:
            raise InvalidRequest(f"This cannot be written to {self.path.name}: {error}") from error
        known = {problem.key for problem in before.problems}
        paths = [dotted(path) for path in edits]
        wrong = [one for one in after.problems if one.key not in known or any(_concerns(one, path) for path in paths)]
        if wrong:
            raise InvalidRequest(" ".join(map(str, wrong)), field=wrong[0].key)
        return new

    def _changed(self, version: str, text: str, current: str) -> ConfigChanged:
        """With the changes since that version as a unified diff, without secrets."""
        former = self._known.get(version)
        if former is None:
            return ConfigChanged(self.path.name, "", current)
        lines = difflib.unified_diff(former.splitlines(), text.splitlines(), "before", "now", lineterm="")
        diff = "\n".join(lines)
        for one in (former, text):
            try:
                found = secrets_of(load(one, self.path, {}, self.schema))
            except ConfigError:
                return ConfigChanged(self.path.name, "", current)  # it is not known what in it is a secret
            for secret in sorted(found, key=len, reverse=True):
                diff = diff.replace(secret, "…")
        return ConfigChanged(self.path.name, SecretRedactor({}).apply(diff), current)  # one in a comment too


def _concerns(problem: Problem, path: str) -> bool:
    return problem.key is not None and (problem.key == path or problem.key.startswith((f"{path}.", f"{path}[")))


def _version(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _without_mark(content: bytes) -> bytes:
    return content.removeprefix(b"\xef\xbb\xbf")
