"""Model calls for tests of the ledger."""

from datetime import UTC, datetime

from onyx_jupyter.messages import Usage
from onyx_jupyter.usage.model_call import ModelCall, Terms, settled

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


def call(
    tokens: tuple[int, int] = (10, 2),
    cost_usd: float | None = 0.5,
    *,
    at: datetime = NOON,
    model: str = "openai/gpt-5",
    role: str = "default",
    terms: Terms = "paid",
    session: str | None = "s1",
    run: str | None = "r1",
    step: int = 1,
) -> ModelCall:
    return ModelCall(at, model, role, settled(Usage(*tokens, 0, cost_usd), terms), terms, session, run, step)
