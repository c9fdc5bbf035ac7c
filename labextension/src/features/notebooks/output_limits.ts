/**
 * Makes a cell's outputs fit into one frame of the socket: long text is cut, what is too large is left out.
 */
import type { IOutput } from '@jupyterlab/nbformat';

import { countChars, jsonBytes, wellFormed } from '../../protocol/frame_size';

interface OutputLimits {
  /** Longest text of one value. */
  textChars: number;
  /** Longest other value, such as an image in base64. */
  dataChars: number;
  /** All values together. */
  totalChars: number;
}

export const READ_LIMITS: OutputLimits = { textChars: 20_000, dataChars: 0, totalChars: 1_000_000 };
export const FULL_LIMITS: OutputLimits = { textChars: 200_000, dataChars: 1_500_000, totalChars: 2_500_000 };

/** What is left of `totalChars`, and whether anything was cut or left out. */
export interface OutputBudget {
  chars: number;
  hasShortened?: boolean;
}

/** A copy of the outputs within these limits; calls that pass the same `budget` share it. */
export function limitOutputs(
  outputs: readonly IOutput[],
  limits: OutputLimits,
  budget: OutputBudget = { chars: limits.totalChars }
): IOutput[] {
  return outputs.map(output => limitValue(output, limits, budget, '') as IOutput);
}

/** In full if that takes at most this many bytes, else shortened as for reading; `budget` says which. */
export function fullOutputs(
  outputs: readonly IOutput[],
  maxBytes: number,
  budget: OutputBudget = { chars: 0 }
): IOutput[] {
  budget.chars = FULL_LIMITS.totalChars;
  const full = limitOutputs(outputs, FULL_LIMITS, budget);
  if (jsonBytes(full) <= maxBytes) {
    return full;
  }
  budget.chars = maxBytes / 6;
  budget.hasShortened = true;
  return limitOutputs(outputs, READ_LIMITS, budget);
}

function limitValue(value: unknown, limits: OutputLimits, budget: OutputBudget, name: string): unknown {
  if (Array.isArray(value) && value.length && value.every(item => typeof item === 'string')) {
    return name === 'traceback'
      ? [limitText(value.join('\n'), limits, budget, name)]
      : limitText(value.join(''), limits, budget, name);
  }
  if (typeof value === 'string') {
    return limitText(value, limits, budget, name);
  }
  if (name.includes('/')) {
    return limitData(value, limits, budget, name);
  }
  if (Array.isArray(value)) {
    return value.map(item => limitValue(item, limits, budget, name));
  }
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value)
      .map(([key, item]) => [key, limitValue(item, limits, budget, key)] as const)
      .filter(([key, item]) => !(key.includes('/') && item === ''));
    return Object.fromEntries(pairs);
  }
  return value;
}

/** JSON data: whole or not at all. */
function limitData(value: unknown, limits: OutputLimits, budget: OutputBudget, name: string): unknown {
  const most = mostChars(limits, budget, name);
  const needed = countChars(value, most);
  if (needed > most) {
    budget.hasShortened = true;
    return '';
  }
  budget.chars -= needed;
  return value;
}

function limitText(text: string, limits: OutputLimits, budget: OutputBudget, name: string): string {
  const most = mostChars(limits, budget, name);
  if (text.length <= most) {
    budget.chars -= text.length;
    return wellFormed(text);
  }
  budget.hasShortened = true;
  if (isData(name) || most === 0) {
    return '';
  }
  budget.chars -= most;
  return wellFormed(`${text.slice(0, most)}\n… ${text.length - most} more characters`);
}

function mostChars(limits: OutputLimits, budget: OutputBudget, name: string): number {
  return Math.min(isData(name) ? limits.dataChars : limits.textChars, Math.max(0, Math.floor(budget.chars)));
}

function isData(name: string): boolean {
  return name.includes('/') && !name.startsWith('text/') && name !== 'application/json';
}
