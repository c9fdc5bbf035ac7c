"""Encodes and decodes frames, independent of their contents."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from onyx_jupyter.operations.limits import INVALID_REQUEST, PARSE_ERROR

_SURROGATE = re.compile("[\ud800-\udfff]")


class FrameError(Exception):
    """A frame that is not a request; `request_id` is None if not even that could be read."""

    def __init__(self, code: int, message: str, request_id: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


def encode_event(event: str, data: Mapping[str, Any]) -> str:
    return _dump({"event": event, "data": data})


def encode_result(request_id: str, result: Mapping[str, Any]) -> str:
    return _dump({"id": request_id, "result": result})


def encode_error(request_id: str | None, code: int, message: str, data: Mapping[str, Any] | None = None) -> str:
    error: dict[str, Any] = {"code": code, "message": message}
    return _dump({"id": request_id, "error": error | ({"data": data} if data else {})})


def decode_request(frame: str | bytes) -> tuple[str, str, dict[str, Any]]:
    """Id, method and params of a request. Raises: FrameError."""
    try:
        request = json.loads(frame)
    except (ValueError, RecursionError) as error:
        raise FrameError(PARSE_ERROR, f"This frame is not JSON: {error}.") from error
    if not isinstance(request, dict):
        raise FrameError(INVALID_REQUEST, "A request must be an object with id, method and params.")
    request_id, method, params = request.get("id"), request.get("method"), request.get("params", {})
    if not isinstance(request_id, str):
        raise FrameError(INVALID_REQUEST, "A request needs an `id` (string).")
    if not isinstance(method, str):
        raise FrameError(INVALID_REQUEST, "A request needs a `method` (string).", request_id)
    if not isinstance(params, dict | None):
        raise FrameError(INVALID_REQUEST, "`params` must be an object.", request_id)
    return request_id, method, params or {}


def _dump(frame: Mapping[str, Any]) -> str:
    """Strict JSON in valid Unicode, whatever a model sent: half of a surrogate pair is escaped, NaN becomes null."""
    try:
        text = json.dumps(frame, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_finite(frame), ensure_ascii=False, separators=(",", ":"))
    return json.dumps(json.loads(text), separators=(",", ":")) if _SURROGATE.search(text) else text


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
