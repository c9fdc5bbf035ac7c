"""Service keys for this feature and the surfaces. Keys that other features use are in `operations.keys`."""

from __future__ import annotations

from onyx_jupyter.features.acp.agents import AcpAgents
from onyx_jupyter.operations.dependencies import Key

ACP_AGENTS: Key[AcpAgents] = Key("other agents")
