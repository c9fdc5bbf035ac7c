/**
 * Splits streamed Markdown into blocks that never change once finished. Each line is read once; a fence, a
 * list, a table or a formula stays whole.
 */

interface MarkdownBlock {
  kind: 'markdown' | 'code';
  /** The source of this block, without trailing blank lines. */
  text: string;
  /** For code: the contents of the fence, and the language after its opening. */
  code: string;
  language: string;
  /** Whether the block is complete. */
  finished: boolean;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const NESTED_FENCE = /^\s+(?:[-*+] +|\d+[.)] +)?(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}\s/;
const OPENING_MATH = /^\s*(?:\$\$|\\\[|\\begin\{([a-zA-Z]+\*?)\})/;

type Mode =
  | { kind: 'none' }
  | { kind: 'paragraph' }
  | { kind: 'list'; blank: boolean; fence: string }
  | { kind: 'fence'; fence: string; language: string; head: number }
  | { kind: 'math'; close: string };

export class MarkdownBlocks {
  /** Brings the blocks up to `text`. Text that only grew is read from where the last reading ended. */
  update(text: string, complete: boolean): readonly MarkdownBlock[] {
    if (!text.startsWith(this._text)) {
      this._reset();
    }
    this._read(text.slice(this._text.length));
    this._text = text;
    const last = this._lastBlock(complete);
    return last ? [...this._done, last] : this._done.slice();
  }

  private _reset(): void {
    this._text = this._open = this._partial = '';
    this._mode = { kind: 'none' };
    this._done = [];
  }

  private _read(added: string): void {
    const lines = (this._partial + added).split('\n');
    this._partial = lines.pop() ?? '';
    for (const line of lines) {
      this._readLine(line);
    }
  }

  private _readLine(line: string): void {
    const mode = this._mode;
    if (mode.kind === 'fence') {
      this._open += line + '\n';
      if (closesFence(line, mode.fence)) {
        this._close();
      }
    } else if (mode.kind === 'math') {
      this._open += line + '\n';
      if (line.includes(mode.close)) {
        this._close();
      }
    } else if (mode.kind === 'list' && this._continuesList(line, mode)) {
      this._open += line + '\n';
    } else {
      this._startOrContinue(line);
    }
  }

  private _continuesList(line: string, mode: Extract<Mode, { kind: 'list' }>): boolean {
    if (mode.fence) {
      if (closesFence(line.trim(), mode.fence)) {
        mode.fence = '';
      }
      return true;
    }
    if (line.trim() === '') {
      mode.blank = true;
      return true;
    }
    const indented = /^\s{2,}|^\t/.test(line);
    if (!indented && (FENCE.test(line) || HEADING.test(line) || (mode.blank && !LIST_ITEM.test(line)))) {
      return false;
    }
    mode.blank = false;
    mode.fence = NESTED_FENCE.exec(line)?.[1] ?? '';
    return true;
  }

  private _startOrContinue(line: string): void {
    const fence = FENCE.exec(line);
    const math = OPENING_MATH.exec(line);
    if (line.trim() === '') {
      this._close();
    } else if (fence) {
      this._close();
      this._open = line + '\n';
      this._mode = { kind: 'fence', fence: fence[1], language: fence[2], head: line.length + 1 };
    } else if (math && this._mode.kind !== 'paragraph') {
      this._open = line + '\n';
      this._openMath(line, math);
    } else if (HEADING.test(line)) {
      this._close();
      this._open = line + '\n';
      this._close();
    } else {
      this._openText(line);
    }
  }

  private _openMath(line: string, math: RegExpExecArray): void {
    const opening = math[0].trim();
    const close = math[1] ? `\\end{${math[1]}}` : opening === '$$' ? '$$' : '\\]';
    this._mode = { kind: 'math', close };
    if (line.slice(line.indexOf(opening) + opening.length).includes(close)) {
      this._close();
    }
  }

  private _openText(line: string): void {
    if (this._mode.kind === 'list') {
      this._close();
    }
    if (this._mode.kind === 'none') {
      this._mode = LIST_ITEM.test(line) ? { kind: 'list', blank: false, fence: '' } : { kind: 'paragraph' };
    }
    this._open += line + '\n';
  }

  private _close(): void {
    const block = this._block(this._open, true);
    if (block) {
      this._done.push(block);
    }
    this._open = '';
    this._mode = { kind: 'none' };
  }

  private _lastBlock(complete: boolean): MarkdownBlock | null {
    if (this._mode.kind === 'none' && this._partial) {
      const fence = FENCE.exec(this._partial);
      if (fence) {
        return { kind: 'code', text: this._partial, code: '', language: fence[2], finished: complete };
      }
    }
    return this._block(this._open + this._partial, complete);
  }

  private _block(source: string, finished: boolean): MarkdownBlock | null {
    const text = source.trimEnd();
    if (!text) {
      return null;
    }
    if (this._mode.kind !== 'fence') {
      return { kind: 'markdown', text, code: '', language: '', finished };
    }
    const { fence, head, language } = this._mode;
    return { kind: 'code', text, code: codeInside(source.slice(head), fence), language, finished };
  }

  private _text = '';
  private _open = '';
  private _partial = '';
  private _mode: Mode = { kind: 'none' };
  private _done: MarkdownBlock[] = [];
}

function closesFence(line: string, fence: string): boolean {
  const trimmed = line.trim();
  return trimmed.length >= fence.length && trimmed === fence[0].repeat(trimmed.length);
}

/** The code without its closing fence, even while that fence is only half written. */
function codeInside(body: string, fence: string): string {
  const lines = body.replace(/\n$/, '').split('\n');
  const last = lines[lines.length - 1].trim();
  if (last && last === fence[0].repeat(last.length)) {
    lines.pop();
  }
  return lines.join('\n');
}
