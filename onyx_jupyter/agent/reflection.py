"""Has a model review its answer once before the answer counts. What was already shown is not taken back."""

from __future__ import annotations

from onyx_jupyter.agent.control_tokens import NO_REPLY
from onyx_jupyter.agent.run import Run

REFLECTION_REQUEST = (
    f"If your answer is right as it is, answer exactly {NO_REPLY}. Otherwise give the full answer that should "
    "replace it."
)
NOTE = "Onyx is reviewing its answer."


async def should_reflect(run: Run, answer: str) -> bool:
    """Whether the model is asked to review this answer: once per run, if the agent has a `reflectionPrompt`.

    Raises: StorageError.
    """
    wanted = run.reflection_prompt and answer.strip()
    if not wanted or run.transcript.reflected_answer(run.run_id) is not None:
        return False
    question = f"[Onyx] {run.reflection_prompt}\n\n{REFLECTION_REQUEST}"
    await run.transcript.append_reflection(run.run_id, question, answer)
    await run.note("reflection", NOTE)
    return True
