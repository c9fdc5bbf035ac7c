"""Keeps the head and the tail of a stream of bytes, within a limit."""

from __future__ import annotations

import codecs

_CONTINUATION = bytes(range(0x80, 0xC0))  # the bytes of a UTF-8 character after its first, three at most


class OutputBuffer:
    """Bytes in order of arrival; beyond `limit_bytes` the middle is dropped and counted."""

    def __init__(self, limit_bytes: int) -> None:
        self._head_limit = (limit_bytes + 1) // 2
        self._tail_limit = limit_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total_bytes = 0

    def add(self, data: bytes) -> None:
        self.total_bytes += len(data)
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if (surplus := len(self._tail) - self._tail_limit) > 0:
            del self._tail[:surplus]

    def unfinished_line(self, limit_bytes: int) -> bytes:
        """The text after the last line end, at most its last `limit_bytes`."""
        kept = self._tail if self._tail else self._head
        return bytes(kept[kept.rfind(b"\n") + 1 :][-limit_bytes:])

    def text(self, limit_bytes: int) -> str:
        """At most that many bytes' worth (and never more than the buffer's own limit), with a mark where it is cut.

        Invalid UTF-8 becomes U+FFFD.
        """
        kept = self._head + self._tail
        limit_bytes = min(limit_bytes, self._head_limit + self._tail_limit)
        if self.total_bytes <= limit_bytes:
            return kept.decode("utf-8", "replace")
        head, tail = kept[: (limit_bytes + 1) // 2], kept[len(kept) - limit_bytes // 2 :]
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(head)
        cut_character, _ = decoder.getstate()
        tail = tail[:3].lstrip(_CONTINUATION) + tail[3:]
        left_out = self.total_bytes - len(head) + len(cut_character) - len(tail)
        return f"{text}\n[… {left_out} bytes left out …]\n{tail.decode('utf-8', 'replace')}"


def share(limit_bytes: int, first_bytes: int, second_bytes: int) -> tuple[int, int]:
    """Divides a limit between two streams: half each, and what one doesn't need goes to the other."""
    first = max(limit_bytes // 2, limit_bytes - second_bytes)
    second = max(limit_bytes - limit_bytes // 2, limit_bytes - first_bytes)
    return min(first, first_bytes), min(second, second_bytes)
