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
def test_what_is_written_is_read_back(origin):
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
def test_what_an_earlier_version_or_a_person_wrote_is_read_as_it_was_meant(meta, origin):
    assert RunOrigin.read(meta) == origin


def test_only_what_a_person_typed_in_the_sidebar_is_a_person_s():
    assert RunOrigin(typed=True).is_person
    others = [
        RunOrigin(),
        RunOrigin(typed=True, interactive=False),
        RunOrigin.of_cell(KERNEL, typed=True),
        RunOrigin.of_session(SENDER, interactive=True),
        RunOrigin("key", typed=True),
    ]
    assert not any(origin.is_person for origin in others)
