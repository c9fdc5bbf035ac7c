/** The lines that differ between two texts, to show an edit exactly as it will be made. */
import { diffArrays } from 'diff';

export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** With more lines added and removed, the middle is shown as removed and added whole: exact, only coarser. */
const MOST_CHANGES = 1000;

/** Turns `before` into `after`, line by line, with as few changes as possible. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = splitLines(before);
  const now = splitLines(after);
  const parts = diffArrays(old, now, { maxEditLength: MOST_CHANGES });
  return (
    parts?.flatMap(({ value, added, removed }) =>
      marked(added ? 'added' : removed ? 'removed' : 'same', value)
    ) ?? middleReplaced(old, now)
  );
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

interface UnifiedLine {
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

function middleReplaced(old: string[], now: string[]): DiffLine[] {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) {
    start += 1;
  }
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) {
    end += 1;
  }
  return [
    ...marked('same', old.slice(0, start)),
    ...marked('removed', old.slice(start, old.length - end)),
    ...marked('added', now.slice(start, now.length - end)),
    ...marked('same', old.slice(old.length - end))
  ];
}
