"""Chooses the pictures that a model gets: the newest ones, in formats that any provider accepts."""

from __future__ import annotations

import binascii
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from onyx_jupyter.messages import Attachment, Message
from onyx_jupyter.protocols import Block

# In base64; providers accept 5 MB per picture and about 20 MB per request.
MAX_PICTURE_CHARS = 2_000_000
MAX_PICTURES = 8
# Older ones are dropped several at a time, since each time the provider's prompt cache is useless from there on.
_STEP = 4
_SIGNATURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


def with_newest_pictures(blocks: Sequence[Block]) -> list[Block]:
    """The blocks with at most `MAX_PICTURES` pictures; a line of text replaces other attachments."""
    attached = [message for block in blocks for message in block.messages if message.attachments]
    if not attached:
        return list(blocks)
    surplus = max(0, sum(len(_pictures(message)) for message in attached) - MAX_PICTURES)
    left_out = -(-surplus // _STEP) * _STEP
    made = []
    for block in blocks:
        if not any(message.attachments for message in block.messages):
            made.append(block)
            continue
        messages = []
        for message in block.messages:
            pictures = _pictures(message)
            kept = pictures[left_out:]
            left_out = max(0, left_out - len(pictures))
            messages.append(_with(message, kept) if message.attachments else message)
        made.append(replace(block, messages=tuple(messages)))
    return made


def _pictures(message: Message) -> tuple[Attachment, ...]:
    return tuple(item for item in message.attachments if item.type == "image" and _can_be_sent(item))


def _with(message: Message, kept: tuple[Attachment, ...]) -> Message:
    missing = len(message.attachments) - len(kept)
    if not missing:
        return message
    what = "An attachment is" if missing == 1 else f"{missing} attachments are"
    return replace(message, content=f"{message.content}\n[{what} left out here.]".lstrip(), attachments=kept)


def _can_be_sent(picture: Attachment) -> bool:
    """Validates a picture: notebooks may hold anything as `image/png`, and a provider then refuses the conversation."""
    signature = _SIGNATURES.get(picture.mime_type)
    return signature is not None and len(picture.data) <= MAX_PICTURE_CHARS and _is_data(picture.data, signature)


@lru_cache(maxsize=16)
def _is_data(text: str, signature: bytes) -> bool:
    try:
        return binascii.a2b_base64(text, strict_mode=True).startswith(signature)
    except ValueError:
        return False
