/** What a model is called where there is little room. */

/** `openai/gpt-x` → `gpt-x`, and of a file only its name: `local//models/qwen.gguf` → `qwen`. */
export function modelName(id: string): string {
  const name = id.slice(id.indexOf('/') + 1);
  return name.endsWith('.gguf') ? name.slice(name.lastIndexOf('/') + 1, -'.gguf'.length) : name;
}
