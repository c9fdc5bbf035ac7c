"""Who or what started a run: written in one value, and read of what earlier versions wrote."""

import pytest

from onyx_jupyter.sessions.origin import RunOrigin

KERNEL = {"kernelId": "k-1", "name": "book"}
SENDER = {"sessionKey": "s-2", "agentId": "main", "runId": "r-2"}


@pytest.mark.parametrize(
    "origin",
    [
        RunOrigin(),
        RunOrigin(typed=True),
        RunOrigin(typed=True, interactive=False),
        RunOrigin.of_cell(KERNEL),
        RunOrigin.of_session(SENDER, interactive=False),
        RunOrigin("job", interactive=False),
    ],
)
def test_origin_round_trips(origin):
    assert RunOrigin.read({"runId": "r-1", **origin.as_meta()}) == origin


@pytest.mark.parametrize(
    ("meta", "origin"),
    [
        ({}, RunOrigin()),
        ({"typed": True}, RunOrigin(typed=True)),
        ({"kernel": KERNEL, "typed": True}, RunOrigin.of_cell(KERNEL, typed=True)),
        ({"from": SENDER, "interactive": False}, RunOrigin.of_session(SENDER, interactive=False)),
        ({"origin": "nowhere", "typed": "yes", "kernel": "k", "from": []}, RunOrigin()),
        ({"origin": ["sidebar"], "typed": True}, RunOrigin(typed=True)),
    ],
)
def test_older_or_hand_written_origin_is_interpreted(meta, origin):
    assert RunOrigin.read(meta) == origin


def test_only_text_typed_in_sidebar_is_a_persons():
    assert RunOrigin(typed=True).is_person
    others = [
        RunOrigin(),
        RunOrigin(typed=True, interactive=False),
        RunOrigin.of_cell(KERNEL, typed=True),
        RunOrigin.of_session(SENDER, interactive=True),
        RunOrigin("key", typed=True),
    ]
    assert not any(origin.is_person for origin in others)
