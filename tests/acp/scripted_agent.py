"""A real agent, made with the official SDK, that does what the prompt says: each line of the message is one step.

`python scripted_agent.py [option]`; options: `forgets` (sessions cannot be continued), `stubborn` (does not stop),
`mute` (never answers), `signed-out`, `other-version`.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import acp
from acp import schema
from acp.exceptions import RequestError

OPTION = sys.argv[1] if len(sys.argv) > 1 else ""
KEPT = Path(os.environ.get("SCRIPTED_SESSIONS", "/nonexistent"))


class Mcp:
    """A client of one MCP server, over its stdio."""

    def __init__(self, server):
        env = {"PATH": os.environ["PATH"], **{one.name: one.value for one in server.env}}
        self.process = subprocess.Popen(
            [server.command, *server.args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        self.count = 0
        client = {"name": "scripted", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.tools = [tool["name"] for tool in self.ask("tools/list", {})["tools"]]
        self.tell({"method": "notifications/initialized"})

    def tell(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.count += 1
        self.tell({"id": self.count, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.count:
                return answer.get("result") or {"error": answer["error"]["message"]}


class Scripted(acp.Agent):
    def on_connect(self, conn):
        self.client = conn
        self.stopped = asyncio.Event()
        self.mcp = None
        self.servers = []
        self.model = "small"
        self.signed_in = False

    async def authenticate(self, method_id, **kwargs):
        self.signed_in = method_id == "api-key"

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **kwargs):
        print("not a message of the protocol", flush=True)
        print("scripted: warming up", file=sys.stderr, flush=True)
        if OPTION == "mute":
            await asyncio.sleep(3600)
        continues = OPTION != "forgets"
        return schema.InitializeResponse(
            auth_methods=[schema.AuthMethodAgent(id="api-key", name="API key")],
            protocol_version=2 if OPTION == "other-version" else 1,
            agent_capabilities=schema.AgentCapabilities(
                load_session=continues, prompt_capabilities=schema.PromptCapabilities(image=True)
            ),
        )

    def options(self):
        choices = [schema.SessionConfigSelectOption(value=name, name=name.title()) for name in ("small", "large")]
        return [
            schema.SessionConfigOptionSelect(
                id="model", name="Model", category="model", type="select", current_value=self.model, options=choices
            )
        ]

    async def new_session(self, cwd, additional_directories=None, mcp_servers=None, **kwargs):
        if OPTION == "signed-out" and not self.signed_in:
            raise RequestError.auth_required()
        self.servers, self.cwd = mcp_servers or [], cwd
        await asyncio.to_thread(self.connected)
        return schema.NewSessionResponse(session_id=f"s-{os.getpid()}", config_options=self.options())

    async def load_session(self, cwd, session_id, mcp_servers=None, additional_directories=None, **kwargs):
        self.servers, self.cwd = mcp_servers or [], cwd
        await asyncio.to_thread(self.connected)
        await self.say(session_id, "what was said before")
        return schema.LoadSessionResponse(config_options=self.options())

    async def set_config_option(self, config_id, session_id, value, **kwargs):
        self.model = value
        return schema.SetSessionConfigOptionResponse(config_options=self.options())

    async def cancel(self, session_id, **kwargs):
        if OPTION != "stubborn":
            self.stopped.set()

    async def prompt(self, prompt, session_id, **kwargs):
        self.stopped.clear()
        self.text = "\n".join(block.text for block in prompt if block.type == "text")
        self.pictures = sum(block.type == "image" for block in prompt)
        usage = schema.Usage(total_tokens=1002, input_tokens=1000, output_tokens=2)
        if "The server was restarted" in self.text:
            await self.do_echo(session_id, "")
        for line in self.text.split("\n"):
            word, _, rest = line.partition(" ")
            step = getattr(self, f"do_{word}", None)
            if step is not None:
                await step(session_id, rest)
            if self.stopped.is_set():
                return schema.PromptResponse(stop_reason="cancelled", usage=usage)
        return schema.PromptResponse(stop_reason="end_turn", usage=usage)

    async def say(self, session, text):
        await self.client.session_update(session, acp.update_agent_message_text(text))

    async def do_say(self, session, rest):
        await self.say(session, rest)

    async def do_echo(self, session, rest):
        """All that the prompt contained."""
        await self.say(session, f"<<{self.text}>> pictures: {self.pictures}")

    async def do_env(self, session, rest):
        await self.say(session, f"{rest}={os.environ.get(rest)}")

    async def do_model(self, session, rest):
        await self.say(session, f"model: {self.model}")

    async def do_fail(self, session, rest):
        raise RequestError(-32603, "Internal error", {"details": "usage limit reached"})

    async def do_think(self, session, rest):
        await self.client.session_update(session, acp.update_agent_thought_text(rest))

    async def do_plan(self, session, rest):
        states = ["completed", "in_progress", "pending"]
        entries = [
            schema.PlanEntry(content=text, priority="medium", status=state)
            for text, state in zip(rest.split(","), states, strict=False)
        ]
        await self.client.session_update(session, schema.AgentPlanUpdate(session_update="plan", entries=entries))

    async def do_run(self, session, rest):
        """Asks before it runs a command, and says what it was told."""
        call = {"title": f"`{rest}`", "kind": "execute", "raw_input": {"command": rest}}
        if await self.allowed(session, "run-1", **call):
            done = schema.ContentToolCallContent(type="content", content=acp.text_block(f"ran {rest}"))
            await self.update(session, "run-1", status="completed", content=[done])
        else:
            await self.update(session, "run-1", status="failed")

    async def do_edit(self, session, rest):
        """Asks before it changes a file, and shows the change."""
        path, old, new = rest.split(" ")
        diff = schema.FileEditToolCallContent(type="diff", path=path, old_text=old, new_text=new)
        call = {"title": f"Edit {path}", "kind": "edit", "content": [diff], "locations": [{"path": path}]}
        if await self.allowed(session, "edit-1", **call):
            await asyncio.to_thread(Path(path).write_text, new)
            await self.update(session, "edit-1", status="completed", content=[diff])
        else:
            await self.update(session, "edit-1", status="failed")

    async def do_read(self, session, rest):
        """Reads without asking, as agents do."""
        await self.start(session, "read-1", title=f"Read {rest}", kind="read", status="in_progress")
        shown = schema.ContentToolCallContent(type="content", content=acp.text_block("sk-abcdef0123456789abcdef01"))
        await self.update(session, "read-1", status="completed", content=[shown])

    async def do_look(self, session, rest):
        """Asks before it reads a file."""
        call = {"title": f"Read {rest}", "kind": "read", "locations": [{"path": rest}]}
        allowed = await self.allowed(session, "look-1", **call)
        await self.update(session, "look-1", status="completed" if allowed else "failed")

    async def do_file(self, session, rest):
        """Asks the client for a file, although that offers none."""
        try:
            await self.client.read_text_file(path=rest, session_id=session)
        except RequestError as error:
            await self.say(session, f"refused: {error}")

    async def do_tools(self, session, rest):
        answer = await asyncio.to_thread(self.connected().ask, "tools/list", {})
        await self.say(session, " ".join(sorted(tool["name"] for tool in answer["tools"])))

    async def do_call(self, session, rest):
        """Calls a tool of Onyx by MCP, reports the call as real agents do, and says what came back."""
        name, _, arguments = rest.partition(" ")
        title = f"mcp__onyx__{name}"
        if name in self.connected().tools and not await self.allowed(session, f"mcp-{name}", title=title, kind="other"):
            await self.say(session, "not even allowed")
            return
        about = {"name": name, "arguments": json.loads(arguments or "{}")}
        answer = await asyncio.to_thread(self.connected().ask, "tools/call", about)
        await self.update(session, f"mcp-{name}", status="completed")
        text = answer.get("error") or "".join(part.get("text", "") for part in answer["content"])
        await self.say(session, f"[{'failed' if answer.get('isError') else 'ok'}] {text}")

    async def do_hang(self, session, rest):
        await self.say(session, "I begin, ")
        await self.stopped.wait()

    async def do_block(self, session, rest):
        """Reads nothing any more."""
        await self.say(session, "I begin, ")
        await asyncio.sleep(0.05)
        time.sleep(3600)  # noqa: ASYNC251 - that is the point

    async def do_die(self, session, rest):
        await self.say(session, "half an answer")
        await asyncio.sleep(0.05)
        print("scripted: out of memory, key sk-abcdef0123456789abcdef01", file=sys.stderr, flush=True)
        os._exit(3)

    async def do_flood(self, session, rest):
        update = acp.session_notification(session, acp.update_agent_message_text("x " * 500))
        params = update.model_dump(mode="json", by_alias=True, exclude_none=True)
        line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}) + "\n"
        os.set_blocking(1, True)
        while True:
            await asyncio.to_thread(os.write, 1, line.encode())

    async def do_whale(self, session, rest):
        await self.say(session, "x" * 9_000_000)

    async def do_child(self, session, rest):
        """Leaves a process behind, whose id it says."""
        child = subprocess.Popen(["sleep", "3600"], start_new_session=True)  # noqa: ASYNC220
        await self.say(session, f"child {child.pid} of {os.getpid()}")

    def connected(self):
        if self.mcp is None:
            self.mcp = Mcp(self.servers[0])
        return self.mcp

    async def start(self, session, call_id, **facts):
        update = schema.ToolCallStart(session_update="tool_call", tool_call_id=call_id, **facts)
        await self.client.session_update(session, update)

    async def update(self, session, call_id, **facts):
        update = schema.ToolCallProgress(session_update="tool_call_update", tool_call_id=call_id, **facts)
        await self.client.session_update(session, update)

    async def allowed(self, session, call_id, **call):
        await self.start(session, call_id, status="pending", **call)
        options = [
            schema.PermissionOption(option_id="forever", name="Always", kind="allow_always"),
            schema.PermissionOption(option_id="ok", name="Yes", kind="allow_once"),
            schema.PermissionOption(option_id="nope", name="No", kind="reject_once"),
        ]
        about = schema.ToolCallUpdate(tool_call_id=call_id, **call)
        answer = await self.client.request_permission(session_id=session, tool_call=about, options=options)
        chosen = getattr(answer.outcome, "option_id", answer.outcome.outcome)
        if not call_id.startswith("mcp-"):
            await self.say(session, f"({chosen})")
        return chosen == "ok"


asyncio.run(acp.run_agent(Scripted()))
