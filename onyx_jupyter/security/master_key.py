"""The key that encrypts the credential store: in the system's keyring where there is one, else in a private file.

A file only keeps the secrets out of copies of the store (backups, a shared screen): who can read both has them.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, Protocol

from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.atomic_write import write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors

log = logging.getLogger(__name__)
KEY_BYTES = 32
KeyPlace = Literal["keyring", "file"]
_SERVICE = "Onyx for Jupyter"


class Keyring(Protocol):
    """The part of a backend of the `keyring` library that is used. Source: keyring.backend.KeyringBackend."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


def system_keyring() -> Keyring | None:
    """The system's keyring; None without the `keyring` extra, or where no secure backend is running."""
    try:
        import keyring
        from keyring.backends.fail import Keyring as NoKeyring
    except ImportError:
        return None
    backend = keyring.get_keyring()
    return None if isinstance(backend, NoKeyring) or backend.priority < 1 else backend


class MasterKeys:
    """The keys of one home by their id; `file` holds those that no keyring does. All methods block."""

    def __init__(self, file: Path, find_keyring: Callable[[], Keyring | None] = system_keyring) -> None:
        self._file = file
        self._find_keyring = find_keyring

    def new(self) -> tuple[str, bytes, KeyPlace]:
        """A new key, stored: its id, the key, and where it is. Raises: StorageError."""
        key = secrets.token_bytes(KEY_BYTES)
        key_id = hashlib.sha256(key).hexdigest()[:16]
        keyring = self._find_keyring()
        if keyring is not None:
            try:
                keyring.set_password(_SERVICE, key_id, _encoded(key))
                if keyring.get_password(_SERVICE, key_id) == _encoded(key):
                    return key_id, key, "keyring"
            except Exception as error:  # each backend has errors of its own; a locked keyring is one
                log.warning("The system's keyring cannot be used, so the key is kept in %s: %s", self._file, error)
        self._write_file({**self._in_file(), key_id: key})  # the old key stays until nothing needs it
        return key_id, key, "file"

    def get(self, key_id: str, place: KeyPlace) -> bytes | None:
        """The key of that id; None if it is no longer there. Raises: StorageError if the keyring is locked."""
        if place == "file":
            return self._in_file().get(key_id)
        keyring = self._find_keyring()
        if keyring is None:
            return None
        try:
            found = keyring.get_password(_SERVICE, key_id)
        except Exception as error:
            raise StorageError(
                f"The system's keyring did not give the key of the stored credentials: {error}",
                hint="Unlock the keyring, then reload the settings.",
            ) from None
        return _decoded(found) if found else None

    def forget(self, key_id: str, place: KeyPlace, current_id: str) -> None:
        """Removes a key that encrypts nothing any more; of the file's keys, all but the current one."""
        try:
            if place == "keyring" and (keyring := self._find_keyring()) is not None:
                keyring.delete_password(_SERVICE, key_id)
            elif place == "file":
                self._write_file({name: key for name, key in self._in_file().items() if name == current_id})
        except Exception as error:  # it is no longer used, so that it stays is no failure of the change
            log.warning("An old key of the credential store could not be removed: %s", error)

    def _in_file(self) -> dict[str, bytes]:
        try:
            with disk_errors("read", self._file):
                lines = self._file.read_text("ascii", "replace").splitlines()
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return {}
            raise
        pairs = [line.split() for line in lines]
        keys = {pair[0]: _decoded(pair[1]) for pair in pairs if len(pair) == 2}
        return {name: key for name, key in keys.items() if key is not None}

    def _write_file(self, keys: Mapping[str, bytes]) -> None:
        if keys:
            write_text_atomically(self._file, "".join(f"{name} {_encoded(key)}\n" for name, key in keys.items()))
        else:
            self._file.unlink(missing_ok=True)


def _encoded(key: bytes) -> str:
    return base64.b64encode(key).decode()


def _decoded(text: str) -> bytes | None:
    """None if it is no key: then the key is lost."""
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None
