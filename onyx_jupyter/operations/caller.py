"""The caller of an operation: what it may ask for, and what a handler may use of the client and of Onyx."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from onyx_jupyter.errors import Forbidden
from onyx_jupyter.notebook.browser_tabs import TabId
from onyx_jupyter.operations.dependencies import Key, Parts
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.scope import ALL_SCOPES, Scope
from onyx_jupyter.runs.streamed_event import StreamedEvent

T = TypeVar("T")


@dataclass(frozen=True)
class Caller:
    """One connected client.

    `parts` are those of all features. `on_event` sends it an event at once; events put into `after_result` are sent
    right after the result of the current request. `tab` identifies a client that may have notebooks open, None if it is
    not a page.
    """

    parts: Parts
    tab: TabId | None
    user: str
    on_event: Callable[[StreamedEvent], None]
    after_result: list[StreamedEvent] = field(default_factory=list)
    scopes: frozenset[Scope] = ALL_SCOPES

    def get(self, key: Key[T]) -> T:
        """What a feature provides. Raises: FeatureUnavailable."""
        return self.parts.get(key)

    def check(self, operation: Operation) -> None:
        """Raises: Forbidden if this caller may not ask for that."""
        if operation.scope not in self.scopes:
            raise Forbidden(
                f"{operation.name} requires the scope {operation.scope!r}, which this caller does not have."
            )
        if operation.callers == "tab" and self.tab is None:
            raise Forbidden(f"{operation.name} can be called only from a JupyterLab page.")

    @property
    def own_tab(self) -> TabId:
        """For handlers of operations that only a tab can ask for."""
        assert self.tab is not None, "`check` comes first"
        return self.tab
