"""Service keys for this feature and the surfaces. Keys that other features use are in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.sessions.conversations import Conversations
from onyx_jupyter.features.sessions.search import SessionSearch
from onyx_jupyter.operations.dependencies import Key

SESSION_SEARCH: Key[SessionSearch] = Key("session search")
CONVERSATIONS: Key[Conversations] = Key("conversations")
