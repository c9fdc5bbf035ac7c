"""Reads what a job put into its message: what it may do with nobody there, and what it does by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.messages import ToolCall


def allowed_unattended(job: Mapping[str, Any]) -> Sequence[str]:
    """Names of tools and families; ignores invalid values."""
    names = job.get("policy")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else []


def planned_calls(job: Mapping[str, Any]) -> Sequence[ToolCall]:
    """The calls that it makes before a model is asked; ignores invalid values."""
    calls = job.get("calls")
    if not isinstance(calls, list | tuple):
        return []
    valid = [
        one
        for one in calls
        if isinstance(one, Mapping) and isinstance(one.get("tool"), str) and isinstance(one.get("arguments"), Mapping)
    ]
    return [ToolCall("", one["tool"], dict(one["arguments"])) for one in valid]
