"""What the first start creates: the home's folders and an onyx.json that sets nothing, with comments on what can be."""

from __future__ import annotations

from pathlib import Path

from onyx_jupyter.config.paths import Home
from onyx_jupyter.storage.atomic_write import make_private_folder, write_text_atomically

# Lines of an example have three spaces after the slashes, lines of text one.
FIRST_FILE = """\
// Onyx for Jupyter. JSON5: comments and trailing commas are fine, and an empty file works.
// To use an example, remove the // at the start of its lines. Onyx reads the file again when you save it.
// All keys: docs/configuration.md in the source.
{
  // The model to use: provider/model. Default: a model downloaded to this machine ("Local models…").
  // The list sets more: a fallback model, and tools or families of tools that the agent may not use.
  //   agents: {
  //     defaults: { model: "anthropic/claude-sonnet-4-5" },
  //     list: [{ id: "main", fallbackModel: "openai/gpt-5.2", tools: { deny: ["group:web"] } }],
  //   },

  // API keys. Environment variables (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) work too.
  // Add any OpenAI-compatible server (vLLM, llama.cpp, a gateway) under a name of your own; its models are then
  // myserver/<model>. toolMode: "json" is for models without tool calling.
  //   providers: {
  //     anthropic: { apiKey: "${ANTHROPIC_API_KEY}" },
  //     myserver: { baseUrl: "http://localhost:8000/v1", apiKey: "none", models: ["my-model"] },
  //   },

  // Limits for one answer, with their defaults: model calls and milliseconds. whenBusy is what a message does that you
  // send during an answer: "steer" joins it, "followup" waits for it, "interrupt" stops it.
  //   runtime: { maxTurns: 20, defaultTimeoutMs: 300000, whenBusy: "steer" },

  // How long you have to answer an approval (30 minutes); after that it is denied.
  //   security: { approvalTimeoutMs: 1800000 },

  // Milliseconds for a shell command, and the web search backend: a SearXNG server or the Brave Search API.
  //   tools: {
  //     timeout: 120000,
  //     web: { searxngUrl: "http://localhost:8888", braveApiKey: "${BRAVE_API_KEY}" },
  //   },
}
"""


def make_home(home: Home) -> None:
    """Creates what does not exist yet. Raises: StorageError."""
    for folder in (home.sessions, home.shared, home.skills, home.runs):
        make_private_folder(folder)
    write_first_file(home.config_file)


def write_first_file(path: Path) -> bool:
    """Writes the file unless it exists; returns whether it did. Raises: StorageError."""
    if path.exists():
        return False
    write_text_atomically(path, FIRST_FILE)
    return True
