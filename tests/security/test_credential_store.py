"""The encrypted store of API keys: on disk, across servers, and when its key or its file is damaged."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import stat
from pathlib import Path

import pytest

from onyx_jupyter.errors import InvalidRequest, NotFound, StorageError
from onyx_jupyter.security.credential_store import CredentialStore
from onyx_jupyter.security.master_key import KeyPlace, Keyring, MasterKeys, system_keyring

KEY = "sk-live-0123456789abcdef"


class MemoryKeyring:
    """A keyring of this process; `locked` refuses everything, as one does that waits for its password."""

    def __init__(self) -> None:
        self.passwords: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.passwords.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.passwords[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        del self.passwords[service, username]

    def _check(self) -> None:
        if self.locked:
            raise RuntimeError("the collection is locked")


def store_in(folder: Path, keyring: Keyring | None = None) -> CredentialStore:
    return CredentialStore(folder / "credentials.json", MasterKeys(folder / "credentials.key", lambda: keyring))


def everything_on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def test_a_stored_key_is_read_by_another_server_and_is_not_on_disk_in_clear(tmp_path: Path) -> None:
    store_in(tmp_path).put("openai", KEY)

    assert store_in(tmp_path).read().secrets == {"openai": KEY}
    assert KEY.encode() not in everything_on_disk(tmp_path)
    assert KEY not in repr(store_in(tmp_path).read())


def test_without_a_keyring_the_key_is_a_private_file(tmp_path: Path) -> None:
    store_in(tmp_path).put("openai", KEY)

    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("credentials.json", "credentials.key")}
    assert modes == {"credentials.json": 0o600, "credentials.key": 0o600}
    assert store_in(tmp_path).read().key_in == "file"


def test_with_a_keyring_the_key_is_not_on_disk(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    store_in(tmp_path, keyring).put("openai", KEY)

    assert not (tmp_path / "credentials.key").exists()
    assert store_in(tmp_path, keyring).read().secrets == {"openai": KEY}
    assert store_in(tmp_path, keyring).read().key_in == "keyring"


def test_a_locked_keyring_loses_nothing(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    store_in(tmp_path, keyring).put("openai", KEY)
    keyring.locked = True

    found = store_in(tmp_path, keyring).read()
    assert (found.secrets, "locked" in (found.problem or "")) == ({}, True)
    with pytest.raises(StorageError):
        store_in(tmp_path, keyring).put("mistral", "another-key-123")
    keyring.locked = False
    assert store_in(tmp_path, keyring).read().secrets == {"openai": KEY}


def test_a_keyring_that_cannot_store_is_replaced_by_the_file(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    keyring.locked = True
    store_in(tmp_path, keyring).put("openai", KEY)

    assert store_in(tmp_path, keyring).read().secrets == {"openai": KEY}


def test_removing_takes_effect_at_once_and_keeps_the_others(tmp_path: Path) -> None:
    store, other = store_in(tmp_path), store_in(tmp_path)
    store.put("openai", KEY)
    store.put("mistral", "another-key-123")
    other.remove("openai")

    assert store.read().secrets == {"mistral": "another-key-123"}
    with pytest.raises(NotFound):
        store.remove("openai")


@pytest.mark.parametrize("with_keyring", [False, True])
def test_rotation_makes_the_old_key_useless(tmp_path: Path, with_keyring: bool) -> None:
    keyring = MemoryKeyring() if with_keyring else None
    store = store_in(tmp_path, keyring)
    store.put("openai", KEY)
    before = json.loads((tmp_path / "credentials.json").read_text())
    store.rotate()

    after = json.loads((tmp_path / "credentials.json").read_text())
    assert after["keyId"] != before["keyId"]
    assert store_in(tmp_path, keyring).read().secrets == {"openai": KEY}
    (tmp_path / "credentials.json").write_text(json.dumps(before))
    assert "not in" in (store_in(tmp_path, keyring).read().problem or "")


def test_entries_cannot_be_exchanged(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.put("openai", KEY)
    store.put("mistral", "another-key-123")
    stored = json.loads((tmp_path / "credentials.json").read_text())
    credentials = stored["credentials"]
    credentials["openai"], credentials["mistral"] = credentials["mistral"], credentials["openai"]
    (tmp_path / "credentials.json").write_text(json.dumps(stored))

    found = store.read()
    assert (found.secrets, "mistral, openai" in (found.problem or "")) == ({}, True)


def test_a_damaged_entry_leaves_the_others_and_is_not_overwritten(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.put("openai", KEY)
    store.put("mistral", "another-key-123")
    stored = json.loads((tmp_path / "credentials.json").read_text())
    stored["credentials"]["openai"] = "AAAA"
    (tmp_path / "credentials.json").write_text(json.dumps(stored))

    assert store.read().secrets == {"mistral": "another-key-123"}
    with pytest.raises(StorageError, match="Nothing was changed"):
        store.put("groq", "a-third-key-123")
    store.remove("openai")
    assert store.read().problem is None


def test_a_damaged_file_is_reported_and_kept(tmp_path: Path) -> None:
    (tmp_path / "credentials.json").write_text("{")

    assert "damaged" in (store_in(tmp_path).read().problem or "")
    with pytest.raises(StorageError, match="damaged"):
        store_in(tmp_path).put("openai", KEY)
    assert (tmp_path / "credentials.json").read_text() == "{"


@pytest.mark.parametrize("secret", ["", "  ", "two\nlines", "é" * 20, "x" * 20_000])
def test_what_is_no_key_is_refused_without_repeating_it(tmp_path: Path, secret: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        store_in(tmp_path).put("openai", secret)
    assert not secret.strip() or secret not in str(refused.value)


def _rotate_forever(folder: str) -> None:
    store = store_in(Path(folder))
    while True:
        store.rotate()


def test_killed_while_rotating_no_key_is_lost(tmp_path: Path) -> None:
    store_in(tmp_path).put("openai", KEY)
    context = multiprocessing.get_context("spawn")
    for _ in range(5):
        process = context.Process(target=_rotate_forever, args=(str(tmp_path),), daemon=True)
        before = (tmp_path / "credentials.json").read_text()
        process.start()
        while (tmp_path / "credentials.json").read_text() == before:
            pass
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        assert store_in(tmp_path).read().secrets == {"openai": KEY}


def test_keyring_without_a_backend_counts_as_none() -> None:
    assert system_keyring() is None


@pytest.mark.parametrize("content", [b"{id} !!!\n", b"{id} c2hvcnQ=\n", b"\xff\xfe\x00", b"one two three\n"])
def test_a_damaged_key_file_is_reported_as_a_lost_key(tmp_path: Path, content: bytes) -> None:
    store = store_in(tmp_path)
    store.put("openai", KEY)
    key_file = tmp_path / "credentials.key"
    key_id = key_file.read_bytes().split()[0]
    key_file.write_bytes(content.replace(b"{id}", key_id))
    found = store.read()
    assert found.secrets == {}
    assert "cannot be decrypted" in (found.problem or "")
    with pytest.raises(StorageError, match="Nothing was changed"):
        store.put("mistral", KEY)


def test_a_damaged_key_in_the_keyring_is_reported_as_a_lost_key(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    store = store_in(tmp_path, keyring)
    store.put("openai", KEY)
    keyring.passwords = dict.fromkeys(keyring.passwords, "not base64!")
    found = store.read()
    assert (found.secrets, "cannot be decrypted" in (found.problem or "")) == ({}, True)


def test_keys_are_read_while_another_server_changes_their_encryption(tmp_path: Path) -> None:
    store_in(tmp_path).put("openai", KEY)

    class Rotating(MasterKeys):
        """Another server rotates between the store's file and its key being read."""

        rotated = False

        def get(self, key_id: str, place: KeyPlace) -> bytes | None:
            if not self.rotated:
                self.rotated = True
                store_in(tmp_path).rotate()
            return super().get(key_id, place)

    store = CredentialStore(tmp_path / "credentials.json", Rotating(tmp_path / "credentials.key", lambda: None))
    assert store.read().secrets == {"openai": KEY}
