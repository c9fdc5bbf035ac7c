"""Where a model is reached, and what is known about it in advance: how much it reads, whether it sees pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.context_window import known_window
from onyx_jupyter.providers.error_map import Provider
from onyx_jupyter.providers.known_providers import THROUGH_LITELLM, Dialect
from onyx_jupyter.providers.litellm_library import read_price_table
from onyx_jupyter.providers.thoughts import ThinkingHabit
from onyx_jupyter.providers.vision import supports_vision


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How a model is reached: LiteLLM's name for it, key and address, and how long to wait for the next byte.

    `context_window` (in tokens), `vision`, `effort` and `options` are the configured values. `dialect` is spoken at
    `address`.
    """

    model_id: str
    litellm_name: str
    provider: Provider
    api_key: str | None = field(repr=False)
    json_actions: bool
    timeout_s: float
    priced: bool = True
    context_window: int | None = None
    vision: bool | None = None
    effort: str | None = None
    dialect: Dialect = THROUGH_LITELLM
    address: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


class EndpointModel:
    """What every model behind an endpoint knows about itself; the table of models is read on first use.

    `habit` is updated by its answers, so models with the same id should share it.
    """

    def __init__(self, endpoint: Endpoint, habit: ThinkingHabit | None = None) -> None:
        self.endpoint = endpoint
        self.habit = habit or ThinkingHabit.of(endpoint.model_id)
        self._context_window = endpoint.context_window
        self._vision = endpoint.vision

    @property
    def id(self) -> str:
        return self.endpoint.model_id

    @property
    def light(self) -> bool:
        return False

    @property
    def tiny(self) -> bool:
        return False

    @property
    def context_window(self) -> int:
        if self._context_window is None:
            own_server = self.endpoint.provider.base_url is not None
            self._context_window = known_window(read_price_table(), self.endpoint.litellm_name, own_server=own_server)
        return self._context_window

    def accepts_pictures(self, request: ModelRequest) -> bool:
        """Whether the pictures of this request may be sent."""
        if self._vision is None and any(message.attachments for message in request.messages):
            self._vision = supports_vision(read_price_table(), self.endpoint.litellm_name)
        return bool(self._vision)
