"""The commented onyx.json that a first start writes. It sets nothing, so it means the defaults."""

from __future__ import annotations

from pathlib import Path

from onyx_jupyter.storage.atomic_write import write_text_atomically

FIRST_FILE = """\
// Onyx for Jupyter. JSON5: comments and trailing commas are fine, and an empty file works.
// "Check again" in the sidebar's model picker reads this file anew.
{
  // Which model answers: provider/model. Without this it is the small embedded one, local/smollm2.
  // agents: { defaults: { model: "anthropic/claude-sonnet-4-5" } },

  // Keys. A variable of the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) does as well.
  // providers: {
  //   anthropic: { apiKey: "${ANTHROPIC_API_KEY}" },
  //
  //   // Any server that speaks OpenAI's protocol (Ollama, vLLM, LM Studio, a gateway), under a name of your own;
  //   // its models are then myserver/<model>. toolMode: "json" is for models that cannot call tools themselves.
  //   myserver: { baseUrl: "http://localhost:8000/v1", apiKey: "none", models: ["my-model"] },
  // },

  // Limits, with their defaults.
  // runtime: { maxTurns: 20 },
  // tools: { timeout: 120000, maxOutputBytes: 100000 },
  // security: { approvalTimeoutMs: 1800000 },
}
"""


def write_first_file(path: Path) -> bool:
    """Writes it where nothing is there yet, and says whether it did. Raises: StorageError."""
    if path.exists():
        return False
    write_text_atomically(path, FIRST_FILE)
    return True
