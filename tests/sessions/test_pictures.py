import base64
from itertools import pairwise

import pytest

from onyx_jupyter.messages import Attachment, Message
from onyx_jupyter.protocols import Block
from onyx_jupyter.sessions.pictures import MAX_PICTURE_CHARS, MAX_PICTURES, with_newest_pictures

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png(text):
    return Attachment("image", "image/png", base64.b64encode(SIGNATURE + text.encode()).decode())


def block(*pictures, content="done"):
    return Block("e", "r", (Message("user", "go"), Message("tool", content, (), "c", attachments=tuple(pictures))))


def shown(blocks):
    return [picture for made in blocks for message in made.messages for picture in message.attachments]


def test_few_images_are_kept():
    blocks = [block(png("a"), png("b")), block(png("c"))]
    assert with_newest_pictures(blocks) == blocks


def test_newest_images_are_kept_and_older_ones_replaced_by_a_line():
    pictures = [png(f"{number:02}") for number in range(MAX_PICTURES + 1)]
    made = with_newest_pictures([block(*pictures[:3]), block(*pictures[3:6]), block(*pictures[6:])])
    assert shown(made) == pictures[4:]
    contents = [item.messages[1].content for item in made]
    assert contents == [
        "done\n[3 attachments are left out here.]",
        "done\n[An attachment is left out here.]",
        "done",
    ]


def test_sent_images_change_only_with_every_fourth():
    sent = []
    for count in range(1, 30):
        made = shown(with_newest_pictures([block(png(f"{number:02}")) for number in range(count)]))
        assert made[-1] == png(f"{count - 1:02}")
        assert len(made) <= MAX_PICTURES
        sent.append(made[0])
    changes = sum(before != after for before, after in pairwise(sent))
    assert changes == (29 - MAX_PICTURES + 3) // 4


@pytest.mark.parametrize(
    "junk",
    [
        Attachment("image", "image/png", "AAAA"),
        Attachment("image", "image/png", "no base64!"),
        Attachment("image", "image/png", png("a").data[:-1]),
        Attachment("image", "image/svg+xml", png("a").data),
        Attachment("file", "application/pdf", "JVBERi0="),
        Attachment("image", "image/png", base64.b64encode(SIGNATURE + b"a" * MAX_PICTURE_CHARS).decode()),
    ],
)
def test_image_provider_would_reject_is_not_sent(junk):
    (made,) = with_newest_pictures([block(junk, png("a"))])
    assert shown([made]) == [png("a")]
    assert made.messages[1].content == "done\n[An attachment is left out here.]"
