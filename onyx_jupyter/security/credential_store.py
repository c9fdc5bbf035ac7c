"""Secrets that a person entered (API keys), encrypted in `credentials.json`. It never shows one.

Each is encrypted with AES-256-GCM, bound to its name: an entry that is changed, or moved to another name, is refused.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from onyx_jupyter.errors import InvalidRequest, NotFound, StorageError
from onyx_jupyter.events import to_camel
from onyx_jupyter.security.master_key import KeyPlace, MasterKeys
from onyx_jupyter.storage.atomic_write import write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.shared_lock import SharedLock

MAX_SECRET_CHARS = 16_384
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NONCE_BYTES = 12


class _Stored(BaseModel):
    """`credentials`: name → base64 of nonce and ciphertext, by the key of that id."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    key_id: str = ""
    key_in: KeyPlace = "file"
    credentials: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Credentials:
    """What could be read: the secrets by name, why others could not, and where the key is."""

    secrets: Mapping[str, str]
    problem: str | None = None
    key_in: KeyPlace | None = None

    def __repr__(self) -> str:
        return f"Credentials({', '.join(sorted(self.secrets))})"


def no_credentials() -> Credentials:
    """Of a home without a store."""
    return Credentials({})


class CredentialStore:
    """The stored secrets of one home, shared by its servers. All methods block: call them in a worker thread."""

    def __init__(self, file: Path, keys: MasterKeys) -> None:
        self._file = file
        self._keys = keys
        self._lock = SharedLock(file)

    def read(self) -> Credentials:
        """Never raises: what cannot be decrypted is reported, and the rest is there."""
        try:
            with self._lock.threads:
                stored = self._stored()
                found = self._decrypted(stored)
                if found.problem and (newer := self._stored()) != stored:  # another server has a new key by now
                    found = self._decrypted(newer)
                return found
        except StorageError as error:
            return Credentials({}, " ".join(filter(None, (str(error), error.hint))))

    def put(self, name: str, secret: str) -> None:
        """Stores or replaces one. Raises: InvalidRequest, StorageError."""
        if not _NAME.fullmatch(name):
            raise InvalidRequest(f"`name`: {name[:80]!r} is not a provider's name.", field="name")
        secret = secret.strip()
        if not secret or len(secret) > MAX_SECRET_CHARS or not secret.isprintable() or not secret.isascii():
            raise InvalidRequest(
                f"`secret`: a key is one line of up to {MAX_SECRET_CHARS:,} ASCII characters without spaces around it.",
                field="secret",
            )
        with self._lock.held():
            self._write(self._readable() | {name: secret})

    def remove(self, name: str) -> None:
        """Raises: NotFound, StorageError."""
        with self._lock.held():
            stored = self._stored()
            if name not in stored.credentials:
                raise NotFound(f"No key is stored for {name!r}.")
            rest = {key: value for key, value in stored.credentials.items() if key != name}
            self._save(stored.model_copy(update={"credentials": rest}))

    def rotate(self) -> None:
        """Encrypts everything again with a new key, and removes the old one. Raises: StorageError."""
        with self._lock.held():
            self._write(self._readable(), with_new_key=True)

    def _readable(self) -> dict[str, str]:
        """All secrets. Raises: StorageError if one cannot be read, since a change would lose it."""
        found = self._decrypted(self._stored())
        if found.problem:
            raise StorageError(
                f"{found.problem} Nothing was changed.",
                hint=f"Bring the key back, or delete {self._file} and enter the keys again.",
            )
        return dict(found.secrets)

    def _write(self, values: Mapping[str, str], *, with_new_key: bool = False) -> None:
        before = self._stored()
        key = None if with_new_key or not before.key_id else self._keys.get(before.key_id, before.key_in)
        key_id, place = before.key_id, before.key_in
        if key is None:
            key_id, key, place = self._keys.new()
        cipher = AESGCM(key)
        credentials = {name: _encrypted(cipher, name, secret) for name, secret in sorted(values.items())}
        self._save(_Stored(key_id=key_id, key_in=place, credentials=credentials))
        if before.key_id and before.key_id != key_id:
            self._keys.forget(before.key_id, before.key_in, key_id)

    def _save(self, stored: _Stored) -> None:
        write_text_atomically(self._file, stored.model_dump_json(by_alias=True, indent=2) + "\n")

    def _stored(self) -> _Stored:
        """Raises: StorageError."""
        try:
            with disk_errors("read", self._file):
                content = self._file.read_bytes()
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return _Stored()
            raise
        try:
            return _Stored.model_validate_json(content)
        except ValidationError:
            raise StorageError(
                f"{self._file.name} is damaged, so no stored key can be used.",
                hint=f"Restore {self._file} from a copy, or delete it and enter the keys again.",
            ) from None

    def _decrypted(self, stored: _Stored) -> Credentials:
        """Raises: StorageError."""
        if not stored.credentials:
            return Credentials({}, key_in=stored.key_in if stored.key_id else None)
        key = self._keys.get(stored.key_id, stored.key_in)
        if key is None:
            place = "the system's keyring" if stored.key_in == "keyring" else "the key file"
            return Credentials({}, f"The stored keys cannot be decrypted: their key is not in {place}.", stored.key_in)
        cipher = AESGCM(key)
        found = {name: _decrypted(cipher, name, text) for name, text in stored.credentials.items()}
        lost = sorted(name for name, secret in found.items() if secret is None)
        problem = f"The stored key of {', '.join(lost)} is damaged." if lost else None
        return Credentials({name: value for name, value in found.items() if value}, problem, stored.key_in)


def _encrypted(cipher: AESGCM, name: str, secret: str) -> str:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return base64.b64encode(nonce + cipher.encrypt(nonce, secret.encode(), name.encode())).decode()


def _decrypted(cipher: AESGCM, name: str, text: str) -> str | None:
    try:
        raw = base64.b64decode(text, validate=True)
        return cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], name.encode()).decode()
    except (InvalidTag, ValueError, binascii.Error):
        return None
