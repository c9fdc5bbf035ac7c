"""A model file with its first blocks only: the same tokenizer and template, words without sense, many times as fast.

For tests of the process that runs a model; what the model says needs the whole file.
Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_ALIGNMENT = 32
_STRING, _ARRAY = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes, by the type of a value
# Without it llama.cpp takes the embedding for it, which is in the file anyway.
_LEFT_OUT = "output.weight"


@dataclass
class _Tensor:
    name: str
    info: bytes  # all but its offset
    offset: int
    size: int = 0

    def is_within(self, blocks: int) -> bool:
        kind, _, rest = self.name.partition(".")
        return int(rest.partition(".")[0]) < blocks if kind == "blk" else self.name != _LEFT_OUT


def shorten(whole: Path, to: Path, blocks: int) -> Path:
    """Writes `to`; `whole` stays as it is."""
    with whole.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        magic, version, tensor_count, value_count = struct.unpack_from("<4sIQQ", data)
        assert (magic, version) == (b"GGUF", 3)
        at = begin = 24
        block_count_at = 0
        for _ in range(value_count):
            key, at = _string(data, at)
            if key.endswith(".block_count"):
                block_count_at = at + 4 - begin
            at = _after_value(data, at + 4, _unsigned(data, at, 4))
        values = bytearray(data[begin:at])
        struct.pack_into("<I", values, block_count_at, blocks)
        tensors, at = _tensors(data, at, tensor_count)
        start = _aligned(at)
        for tensor, following in zip(tensors, [*tensors[1:], None], strict=True):
            tensor.size = (following.offset if following else len(data) - start) - tensor.offset
        kept = [tensor for tensor in tensors if tensor.is_within(blocks)]
        with to.open("wb") as out:
            out.write(struct.pack("<4sIQQ", magic, version, len(kept), value_count))
            out.write(values)
            offset = 0
            for tensor in kept:
                out.write(tensor.info + struct.pack("<Q", offset))
                offset = _aligned(offset + tensor.size)
            for tensor in kept:
                _pad(out)
                out.write(data[start + tensor.offset : start + tensor.offset + tensor.size])
    return to


def _tensors(data: mmap.mmap, at: int, count: int) -> tuple[list[_Tensor], int]:
    found = []
    for _ in range(count):
        begin = at
        name, at = _string(data, at)
        at += 4 + 8 * _unsigned(data, at, 4) + 4  # the number of dimensions, they themselves, the type
        found.append(_Tensor(name, data[begin:at], _unsigned(data, at, 8)))
        at += 8
    return sorted(found, key=lambda tensor: tensor.offset), at


def _after_value(data: mmap.mmap, at: int, kind: int) -> int:
    if kind == _STRING:
        return at + 8 + _unsigned(data, at, 8)
    if kind != _ARRAY:
        return at + _SIZES[kind]
    element, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if element != _STRING:
        return at + count * _SIZES[element]
    for _ in range(count):
        at += 8 + _unsigned(data, at, 8)
    return at


def _string(data: mmap.mmap, at: int) -> tuple[str, int]:
    end = at + 8 + _unsigned(data, at, 8)
    return data[at + 8 : end].decode(), end


def _unsigned(data: mmap.mmap, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


def _pad(out: BinaryIO) -> None:
    out.write(bytes(_aligned(out.tell()) - out.tell()))
