"""Which run was started by which, while they are in progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from onyx_jupyter.agent.processor import TotalUsage
from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.runs.modes import RunMode
from onyx_jupyter.sessions.origin import RunOrigin


@dataclass
class RunNode:
    """A run that is queued or in progress. A child shares its parent's budget, and is never in a freer mode.

    `unattended`: nobody is there who could allow anything.
    """

    run_id: str
    session_key: str
    mode: RunMode
    parent: RunNode | None = None
    spent: TotalUsage = field(default_factory=TotalUsage)
    unattended: bool = False

    @property
    def root(self) -> RunNode:
        """The run at the top, which no other run started: its session is where a person looks."""
        return self if self.parent is None else self.parent.root


class RunTree:
    """The runs of this server that are queued or in progress."""

    def __init__(self) -> None:
        self._nodes: dict[str, RunNode] = {}

    def check(self, origin: RunOrigin, session_key: str) -> None:
        """Raises: InvalidRequest if a run with this origin would wait for itself, or its parent is over."""
        if origin.parent_run is None:
            return
        parent = self._nodes.get(origin.parent_run)
        if parent is None:
            raise InvalidRequest(f"The run {origin.parent_run!r} is over, so it starts no other one.")
        while parent is not None:
            if parent.session_key == session_key:
                raise InvalidRequest(f"A run of session {session_key!r} would wait for this one behind itself.")
            parent = parent.parent

    def add(self, run_id: str, session_key: str, origin: RunOrigin, mode: RunMode) -> RunNode:
        """The run's node; without a parent also if that has ended meanwhile."""
        parent = self._nodes.get(origin.parent_run or "")
        if parent is not None:
            mode.stay_within(parent.mode)
        unattended = origin.is_unattended or (parent is not None and parent.unattended)
        node = RunNode(run_id, session_key, mode, parent, parent.spent if parent else TotalUsage(), unattended)
        self._nodes[run_id] = node
        return node

    def node(self, run_id: str) -> RunNode:
        return self._nodes[run_id]

    def children(self, run_id: str) -> Sequence[RunNode]:
        """The runs that this run started itself."""
        return [node for node in self._nodes.values() if node.parent is not None and node.parent.run_id == run_id]

    def end(self, run_id: str) -> None:
        """Removes a run that is over; its children still in progress no longer have a parent."""
        for child in self.children(run_id):
            child.parent = None
        self._nodes.pop(run_id, None)
