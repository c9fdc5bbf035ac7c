"""The list of the processors that every run goes through, in order."""

from __future__ import annotations

from collections.abc import Sequence

from onyx_jupyter.agent.processor import Processor
from onyx_jupyter.agent.processors.injection_guard import InjectionGuard
from onyx_jupyter.agent.processors.internal_tags import InternalTags
from onyx_jupyter.agent.processors.repetition_guard import LoopGuard
from onyx_jupyter.agent.processors.secret_filter import SecretFilter
from onyx_jupyter.agent.processors.silent_reply import SilentReply
from onyx_jupyter.agent.processors.token_budget import TokenBudget
from onyx_jupyter.agents.settings import Settings


def run_processors(settings: Settings) -> Sequence[Processor]:
    """New processors for one run, according to the configuration.

    Results pass them in this order: what shortens a text comes before the fence, what adds our own words after it.
    """
    runtime = settings.config.runtime
    return [
        InternalTags(),
        SilentReply(),
        InjectionGuard(),
        *([TokenBudget(runtime.max_tokens_per_run)] if runtime.max_tokens_per_run else []),
        *([LoopGuard(runtime.loop_detection)] if runtime.loop_detection.enabled else []),
        SecretFilter(settings.secrets),  # last: it sees the output of all others
    ]
