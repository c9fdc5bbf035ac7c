"""What an agent answers to a request: the value that the protocol promises, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onyx_jupyter.acp.registry import AgentCommand
from onyx_jupyter.errors import ModelError

_SIGN_IN = -32000


def valid(agent: AgentCommand, kind: Any, given: Any) -> Any:
    """The answer as a value of that class of the SDK. Raises: ModelError, which names the fields that are wrong."""
    from pydantic import ValidationError

    try:
        return kind.model_validate(given)
    except ValidationError as error:
        fields = ", ".join(sorted({".".join(map(str, one["loc"])) for one in error.errors()})) or "the answer"
        raise ModelError("bad_response", f"{agent.title} answered with a wrong value ({fields}).") from None


def refused(agent: AgentCommand, error: Any, last_words: str) -> ModelError:
    """What an error of the protocol means, and what to do; `last_words` follow where nobody knows."""
    if error.code == _SIGN_IN:
        how = f"Run `{agent.sign_in}`" if agent.sign_in else "Start the agent's own program"
        way = f"{how} in a terminal of the server and sign in there"
        key = f", or give it a key with acp.agents.{agent.name}.env in onyx.json" if agent.keys else ""
        return ModelError("authentication", f"{agent.title} is not signed in.", hint=f"{way}{key}.", permanent=True)
    details = error.data.get("details") if isinstance(error.data, Mapping) else error.data
    said = f"{error}: {details}" if isinstance(details, str) else str(error)
    return ModelError("bad_response", f"{agent.title} answered with an error: {said[:1000]}.{last_words}")
