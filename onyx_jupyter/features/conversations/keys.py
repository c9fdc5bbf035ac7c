"""What this feature gives to itself and to the surfaces, by name. What other features use is in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.conversations.conversations import Conversations
from onyx_jupyter.features.conversations.search import SessionSearch
from onyx_jupyter.operations.parts import Key

SESSION_SEARCH: Key[SessionSearch] = Key("search in sessions")
CONVERSATIONS: Key[Conversations] = Key("conversations")
