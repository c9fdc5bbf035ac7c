/** The short name of a model. */

/** `openai/gpt-x` → `gpt-x`; for a file only its name: `local//models/qwen.gguf` → `qwen`. */
export function modelName(id: string): string {
  const name = id.slice(id.indexOf('/') + 1);
  return name.endsWith('.gguf') ? name.slice(name.lastIndexOf('/') + 1, -'.gguf'.length) : name;
}
