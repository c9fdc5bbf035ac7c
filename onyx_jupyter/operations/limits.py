"""What every frame on the socket shares: error codes and limits."""

from __future__ import annotations

# Codes below -32000 are JSON-RPC 2.0's own (https://www.jsonrpc.org/specification); the rest are ours.
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
APPLICATION_ERROR = -32000

MAX_MESSAGE_CHARS = 1_000_000
MAX_FRAME_BYTES = 4 * 1024 * 1024
