"""What an agent is sent: the message, and whatever of the conversation it has not seen."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from onyx_jupyter.acp.mcp_server import SERVER_NAME
from onyx_jupyter.messages import Attachment, Message, head_and_tail
from onyx_jupyter.protocols import Block

MAX_EARLIER_CHARS = 60_000
MAX_RESULT_CHARS = 1_000
WELCOME = (
    f"[Onyx] You answer in JupyterLab. The MCP server `{SERVER_NAME}` has the tools for the notebooks that are open "
    "there, their kernels, and the user's memory and documents. Read and change notebooks (.ipynb) only with them, "
    "never as files: the user sees each cell change and can undo it, and an open notebook would not get what is "
    "written to its file."
)
CONTINUE = (
    "[Onyx] The server was restarted while you were answering. Continue where you were. Check what has been done "
    "before you repeat anything."
)
_EARLIER = "[Onyx] The conversation so far, which you have not seen:"
_NOW = "[Onyx] The user now says:"


@dataclass(frozen=True, slots=True)
class AgentPrompt:
    """`sent` are the ids of the entries in it."""

    text: str
    pictures: tuple[Attachment, ...]
    sent: frozenset[str]


def agent_prompt(
    blocks: Sequence[Block],
    run_id: str,
    *,
    sent: Collection[str] = (),
    known_run: str | None = None,
    is_new: bool = False,
) -> AgentPrompt:
    """The prompt for what of this run was not sent yet.

    `known_run` is the last run of which the agent knows; None if it knows nothing.
    """
    own = [block for block in blocks if block.run_id == run_id and block.messages[0].role == "user"]
    own = [block for block in own if block.entry_id not in sent]
    earlier = [] if sent else _unknown([block for block in blocks if block.run_id != run_id], known_run)
    parts = [WELCOME] if is_new else []
    if earlier:
        parts += [_EARLIER, head_and_tail("\n\n".join(map(_words, earlier)), MAX_EARLIER_CHARS), _NOW]
    parts += [block.messages[0].text for block in own]
    pictures = tuple(one for block in own for one in block.messages[0].attachments if one.type == "image")
    return AgentPrompt("\n\n".join(parts), pictures, frozenset(block.entry_id for block in own))


def _unknown(blocks: Sequence[Block], known_run: str | None) -> Sequence[Block]:
    last = max((place for place, block in enumerate(blocks) if block.run_id == known_run), default=-1)
    return blocks[last + 1 :]


def _words(block: Block) -> str:
    return "\n".join(_said(message) for message in block.messages)


def _said(message: Message) -> str:
    if message.role == "tool":
        return f"[result] {head_and_tail(message.content, MAX_RESULT_CHARS)}"
    who = {"user": "User", "assistant": "Assistant"}.get(message.role, "Note")
    calls = "".join(f"\n[called {call.name}]" for call in message.tool_calls)
    return f"{who}: {message.text}{calls}"
