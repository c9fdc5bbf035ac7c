/** Long texts and paths by the part that tells them apart. */

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The first line that says something. */
export function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .map(one => one.trim())
      .find(one => one !== '') ?? ''
  );
}
