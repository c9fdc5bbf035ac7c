/** The lines that differ between two texts, to show an edit exactly as it will be made. */

export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Above this product of line counts the middle is shown as removed and added whole: exact, only coarser. */
const MOST_CELLS = 1_000_000;

/** Turns `before` into `after`, line by line, by the longest common subsequence. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = splitLines(before);
  const now = splitLines(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) {
    start += 1;
  }
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) {
    end += 1;
  }
  return [
    ...marked('same', old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...marked('same', old.slice(old.length - end))
  ];
}

/** The diff with long unchanged stretches folded into one list of lines each. */
export function foldUnchanged(lines: readonly DiffLine[], context = 2): Array<DiffLine | DiffLine[]> {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(line => line.kind !== 'same')
  );
  const folded: Array<DiffLine | DiffLine[]> = [];
  lines.forEach((line, index) => {
    const last = folded[folded.length - 1];
    if (near[index]) {
      folded.push(line);
    } else if (Array.isArray(last)) {
      last.push(line);
    } else {
      folded.push([line]);
    }
  });
  return folded;
}

export interface UnifiedLine {
  kind: DiffLine['kind'] | 'hunk' | 'note';
  text: string;
}

const UNIFIED_KINDS: Record<string, UnifiedLine['kind']> = { '+': 'added', '-': 'removed', '\\': 'note' };

/**
 * The lines of a unified diff without file names; a hunk's header becomes its first line number in the new
 * text.
 */
export function readUnified(diff: string): UnifiedLine[] {
  return splitLines(diff).map(line => {
    const head = /^@@ -[\d,]+ \+(\d+)/.exec(line);
    if (head) {
      return { kind: 'hunk', text: head[1] };
    }
    return { kind: UNIFIED_KINDS[line[0]] ?? 'same', text: line.slice(1) };
  });
}

/**
 * Splits at line feeds only: a carriage return before one belongs to the line, and changing it counts as a
 * change.
 */
function splitLines(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}

function marked(kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] {
  return lines.map(text => ({ kind, text }));
}

function middle(old: string[], now: string[]): DiffLine[] {
  if (old.length * now.length > MOST_CELLS || old.length === 0 || now.length === 0) {
    return [...marked('removed', old), ...marked('added', now)];
  }
  const common = commonLengths(old, now);
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ kind: 'same', text: old[i] });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && common[i + 1][j] >= common[i][j + 1])) {
      lines.push({ kind: 'removed', text: old[i] });
      i += 1;
    } else {
      lines.push({ kind: 'added', text: now[j] });
      j += 1;
    }
  }
  return lines;
}

/** `[i][j]`: length of the longest common subsequence of `old` from i and `now` from j. */
function commonLengths(old: string[], now: string[]): Uint32Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      table[i][j] = old[i] === now[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  return table;
}
