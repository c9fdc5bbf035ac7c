"""Keeps the head and the tail of a stream of bytes, within a limit."""

from __future__ import annotations


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
        head = _without_cut_character(bytes(kept[: (limit_bytes + 1) // 2]))
        tail = _without_cut_start(bytes(kept[len(kept) - limit_bytes // 2 :]))
        left_out = self.total_bytes - len(head) - len(tail)
        mark = f"\n[… {left_out} bytes left out …]\n"
        return head.decode("utf-8", "replace") + mark + tail.decode("utf-8", "replace")


def share(limit_bytes: int, first_bytes: int, second_bytes: int) -> tuple[int, int]:
    """Divides a limit between two streams: half each, and what one doesn't need goes to the other."""
    first = max(limit_bytes // 2, limit_bytes - second_bytes)
    second = max(limit_bytes - limit_bytes // 2, limit_bytes - first_bytes)
    return min(first, first_bytes), min(second, second_bytes)


def _without_cut_character(head: bytes) -> bytes:
    for length in range(1, min(4, len(head)) + 1):
        byte = head[-length]
        if byte & 0xC0 != 0x80:  # the character's first byte, which says how many follow
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return head if needed == length else head[:-length] if needed > length else head
    return head


def _without_cut_start(tail: bytes) -> bytes:
    start = next((at for at, byte in enumerate(tail[:4]) if byte & 0xC0 != 0x80), 0)
    return tail[start:]
