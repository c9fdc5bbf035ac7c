/** Shortens long texts and paths to their distinctive part. */

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The first non-empty line. */
export function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .map(one => one.trim())
      .find(one => one !== '') ?? ''
  );
}
