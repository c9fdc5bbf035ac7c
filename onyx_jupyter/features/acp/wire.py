"""Other agents on the socket."""

from __future__ import annotations

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class AcpAgentInfo(Wire):
    """`install` says how, if it is not installed; `model` is how a session names it."""

    name: str
    title: str
    model: str
    installed: bool
    configured: bool
    command: str
    install: str


class AcpAgentList(Wire):
    agents: list[AcpAgentInfo]


class AcpSessionParams(Wire):
    session_key: str


class AcpSetOptionParams(Wire):
    session_key: str
    option: str
    value: str | bool


class AcpChoice(Wire):
    value: str
    name: str


class AcpOption(Wire):
    """`choices` is empty for a switch; `category` is mode, model, thought_level or another word of the agent."""

    id: str
    name: str
    category: str
    value: str | bool
    choices: list[AcpChoice]


class AcpOptions(Wire):
    agent: str | None = Field(default=None, description="the agent at work in this session; absent if there is none")
    options: list[AcpOption]


class AcpUpdatedData(Wire):
    """The agent of this session, or what is chosen for it, may have changed: read its options again."""

    session_key: str
