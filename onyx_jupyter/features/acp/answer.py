"""A run that an agent answers: what `run_loop` is for a model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from onyx_jupyter.acp.connection import AgentConnection
from onyx_jupyter.acp.registry import AgentCommand
from onyx_jupyter.agent.processor import Halt, RunSoFar
from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.tool_calls import perform, record
from onyx_jupyter.events import ChatDelta
from onyx_jupyter.features.acp.own_calls import PREFIX
from onyx_jupyter.features.acp.prompt import CONTINUE, AgentPrompt, agent_prompt
from onyx_jupyter.features.acp.run_tools import SessionTools
from onyx_jupyter.features.acp.turn import AgentTurn
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.usage.meter import UsageMeter

STARTED_ANEW = "agent_started_anew"
RESTARTED = ToolResult(
    "The server stopped during this call of the agent. It may be partly done; check before you repeat it.",
    ok=False,
    origin="own",
)
_APART = "\n\n"


@dataclass
class LiveAgent:
    """An agent at work in one session, and the tools that it gets there; `token` opens them."""

    connection: AgentConnection
    tools: SessionTools
    token: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """The agent's session from before, and the last run that it answered there."""

    session_id: str
    run_id: str


def earlier_of(transcript: SessionTranscript, agent: str) -> Earlier | None:
    """What the session's file knows of the agent's own session."""
    for entry in reversed(transcript.entries):
        facts = entry.meta.get("acp") if entry.role == "assistant" else None
        if isinstance(facts, dict) and facts.get("agent") == agent and isinstance(facts.get("session"), str):
            return Earlier(facts["session"], entry.run_id or "")
    return None


@dataclass(frozen=True)
class AgentAnswer:
    """Answers one run. `live` returns the agent at work in this session, started if need be.

    `announce` tells the agent, by its token, that its tools have changed; `rest` is called when it has nothing to do.
    """

    command: AgentCommand
    transcript: SessionTranscript
    live: Callable[[Earlier | None, Run], Awaitable[LiveAgent]]
    announce: Callable[[str], Awaitable[None]]
    rest: Callable[[], None]
    meter: UsageMeter

    async def answer(self, run: Run) -> str:
        """Returns the text of the last turn. Raises: ModelError, StorageError."""
        try:
            return await self._answer(run)
        finally:
            self.rest()

    async def _answer(self, run: Run) -> str:
        earlier, has_begun = earlier_of(self.transcript, self.command.name), run.transcript.model_calls(run.run_id) > 0
        done, usage = run.transcript.finished_calls(run.run_id), run.transcript.usage(run.run_id)
        await run.processors.begin(RunSoFar(run.tools, done, usage, run.spent))
        await run.partial.begin(run.run_id)
        results = await self._finish_open_calls(run)
        live = await self.live(earlier, run)
        knows = earlier is not None and live.connection.session_id == earlier.session_id
        if earlier is not None and not knows:
            await run.note(
                STARTED_ANEW,
                f"{self.command.title} could not continue its earlier session. It was given this conversation as text.",
            )
        await run.inbox.join()
        known_run = earlier.run_id if earlier is not None and knows else None
        prompt = agent_prompt(run.transcript.blocks(run.run_id), run.run_id, known_run=known_run, is_new=not knows)
        if has_begun and knows:
            prompt = AgentPrompt("\n\n".join([CONTINUE, *results]), (), prompt.sent)
        return await self._turns(run, live, prompt)

    async def _turns(self, run: Run, live: LiveAgent, prompt: AgentPrompt) -> str:
        """A message that joins gets a turn of its own."""
        facts = {"agent": self.command.name, "session": live.connection.session_id}
        sent = prompt.sent
        while True:
            turn = AgentTurn(run, live.connection, self.meter, facts)
            if live.tools.offer(run.tools):
                await self.announce(live.token)
            live.tools.turn = turn
            try:
                text = await turn.answer(prompt)
            except Halt as halt:
                text = await self._halted(run, halt)
            finally:
                live.tools.turn = None
            if not await run.inbox.join_or_close():
                return text
            prompt = agent_prompt(run.transcript.blocks(run.run_id), run.run_id, sent=sent)
            sent |= prompt.sent

    async def _halted(self, run: Run, halt: Halt) -> str:
        text = run.redact(halt.text)
        run.emit(ChatDelta(run.run_id, (_APART if run.text else run.lead) + text))
        run.text = f"{run.text}{_APART}{text}" if run.text else text
        whole, run.text = run.text, ""
        await run.transcript.append_assistant(run.run_id, whole, (), None, {"halted": True, **run.take_thought()})
        await run.partial.discard()
        return whole

    async def _finish_open_calls(self, run: Run) -> list[str]:
        """After a restart: calls of our tools are made now, the agent's own are lost. Returns what the former said."""
        results = []
        for call in run.transcript.open_calls(run.run_id):
            if call.name.startswith(PREFIX):
                await record(call, RESTARTED, "interrupted", run, {"by": run.model.id})
                continue
            await perform(call, run)
            said = run.transcript.finished_calls(run.run_id)[-1][1]
            results.append(f"[Onyx] {call.name}, which you had called, returned:\n{said.output}")
        return results
