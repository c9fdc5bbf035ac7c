/** How a tool call reads as one line, from its label: verb, object, and link. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { FailureInfo, LabelInfo, LinkInfo } from '../../protocol/wire';
import { fileName, firstLine } from '../../shared/short_text';
import { phrasesOf } from './action_words';
import type { Citation } from '../../shared/citations';
import type { ToolCall } from './conversation';

interface ToolLine {
  verb: string;
  /** What it acts on; code is set in the code font. */
  object: string;
  isCode: boolean;
}

/** Failures of calls that still took place, wholly or in part. */
const HAPPENED: readonly FailureInfo['kind'][] = ['timed_out', 'aborted', 'failed'];

/** What a call does or did; the tool's name if its label is unknown here. */
export function toolLine(call: ToolCall, trans: TranslationBundle): ToolLine {
  const { label } = call;
  const words = label && phrasesOf(label.action, label.count ?? 1, trans);
  if (!label || !words) {
    return {
      verb: call.tool.replace(/_/g, ' '),
      object: firstLine(firstString(call.input)),
      isCode: false
    };
  }
  const [doing, done] = words;
  return { verb: isOver(call) ? done : doing, object: objectOf(label), isCode: label.objectKind === 'code' };
}

/** The cell that a call is about or created; null for other calls. */
export function cellOf(call: ToolCall): { path: string; cellId: string } | null {
  const link = linkOf(call, 'cell');
  return link?.cellId ? { path: link.path, cellId: link.cellId } : null;
}

/** The file that a call was about, by the agent's path; empty if there is none to open. */
export function fileOf(call: ToolCall): string {
  return linkOf(call, 'file')?.path ?? '';
}

/** The lines of memory, or the fact, that a call read or wrote; null for other calls. */
export function memoryOf(call: ToolCall): Citation | null {
  const link = linkOf(call, 'memory');
  if (!link) {
    return null;
  }
  const [first, last] = link.lines ?? [];
  const lines = first !== undefined && last !== undefined ? { lines: [first, last] as [number, number] } : {};
  return { path: link.path, ...lines, ...(link.fact ? { fact: link.fact } : {}) };
}

/** The user's answer in one line; empty for a call that asked nothing. */
export function answerOf(call: ToolCall, trans: TranslationBundle): string {
  const answer = call.data?.answer;
  return typeof answer === 'string' ? trans.__('The user answered: %1', firstLine(answer)) : '';
}

/** Why a call failed, in one line, without the part meant for the model only. */
export function failureOf(call: ToolCall): string {
  return call.failure?.reason ?? '';
}

export function formatDuration(durationMs: number): string {
  const seconds = durationMs / 1000;
  if (seconds < 10) {
    return `${Math.max(0.1, seconds).toFixed(1)} s`;
  }
  return formatSeconds(seconds);
}

/** `8 s`, `1 min 5 s`: in whole seconds, never zero. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function linkOf({ label }: ToolCall, kind: LinkInfo['kind']): LinkInfo | undefined {
  return label?.links?.find(link => link.kind === kind);
}

/** A file by its name, and a URL without its protocol. */
function objectOf({ object = '', objectKind }: LabelInfo): string {
  if (objectKind === 'path') {
    return fileName(object) || object;
  }
  return objectKind === 'address' ? object.replace(/(^| )https?:\/\//, '$1') : object;
}

/** A call that was denied, stopped or impossible never happened, so it doesn't read as done. */
function isOver({ status, failure }: ToolCall): boolean {
  return status === 'failed' ? !failure || HAPPENED.includes(failure.kind) : status === 'ok';
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function firstString(input: Record<string, unknown>): string {
  return string(Object.values(input).find(value => typeof value === 'string'));
}
