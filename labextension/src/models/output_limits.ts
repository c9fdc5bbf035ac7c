/** Outputs of a cell made to fit into one frame of the socket: long text is cut, what is too large is left out. */
import type { IOutput } from '@jupyterlab/nbformat';

export interface OutputLimits {
  /** Longest text of one value. */
  textChars: number;
  /** Longest other value, such as an image in base64. */
  dataChars: number;
  /** All values together. */
  totalChars: number;
}

export const READ_LIMITS: OutputLimits = { textChars: 20_000, dataChars: 0, totalChars: 2_000_000 };
export const RUN_LIMITS: OutputLimits = { textChars: 200_000, dataChars: 1_500_000, totalChars: 3_000_000 };

/** A copy of the outputs within these limits; `budget` is shared by the calls that give the same object. */
export function limitOutputs(
  outputs: readonly IOutput[],
  limits: OutputLimits,
  budget = { chars: limits.totalChars }
): IOutput[] {
  return outputs.map(output => limitValue(output, limits, budget, '') as IOutput);
}

/** About how long a JSON value is; counting ends where it is more than `enough`. */
export function countChars(value: unknown, enough: number): number {
  if (typeof value === 'string') {
    return value.length;
  }
  if (typeof value !== 'object' || value === null) {
    return 8;
  }
  let count = 0;
  for (const [key, part] of Object.entries(value)) {
    count += key.length + countChars(part, enough - count);
    if (count > enough) {
      break;
    }
  }
  return count;
}

function limitValue(value: unknown, limits: OutputLimits, budget: { chars: number }, name: string): unknown {
  if (typeof value === 'string') {
    return limitText(value, limits, budget, name);
  }
  if (Array.isArray(value)) {
    return value.every(item => typeof item === 'string')
      ? limitText(value.join(name === 'traceback' ? '\n' : ''), limits, budget, name)
      : value.map(item => limitValue(item, limits, budget, name));
  }
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value)
      .map(([key, item]) => [key, limitValue(item, limits, budget, key)] as const)
      .filter(([key, item]) => !(key.includes('/') && item === ''));
    return Object.fromEntries(pairs);
  }
  return value;
}

function limitText(text: string, limits: OutputLimits, budget: { chars: number }, name: string): string {
  const isData = name.includes('/') && !name.startsWith('text/') && name !== 'application/json';
  const most = Math.min(isData ? limits.dataChars : limits.textChars, Math.max(0, budget.chars));
  if (text.length <= most) {
    budget.chars -= text.length;
    return text;
  }
  if (isData || most === 0) {
    return '';
  }
  budget.chars -= most;
  return `${text.slice(0, most)}\n… ${text.length - most} more characters`;
}
