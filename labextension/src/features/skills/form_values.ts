/** What a user fills in for a skill: from the schema to texts, and from texts to values. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { SkillField } from '../../protocol/wire';

/** The contents of a field: a checkbox holds a boolean, every other field text. */
export type Filled = string | boolean;
export type FilledForm = Readonly<Record<string, Filled>>;
export type Widget = 'text' | 'number' | 'checkbox' | 'select' | 'path' | 'json';

/** A value, nothing (the cell's own default applies), or an error. */
type Read = { value: unknown } | { absent: true } | { error: string };

interface ReadForm {
  values: Record<string, unknown>;
  /** By field name. */
  errors: Record<string, string>;
}

const ABSENT: Read = { absent: true };
const PLAIN_ITEMS = new Set(['string', 'path', 'integer', 'number']);

export function widgetOf(field: SkillField): Widget {
  switch (field.type) {
    case 'boolean':
      return field.nullable || !field.hasDefault ? 'select' : 'checkbox';
    case 'choice':
      return 'select';
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
      return 'text';
    case 'path':
      return 'path';
    default:
      return 'json';
  }
}

/** The options of a select, as JSON; empty stands for "as in the cell". */
export function optionsOf(field: SkillField): string[] {
  const values: unknown[] = field.type === 'boolean' ? [true, false] : (field.choices ?? []);
  const known = [...values, ...(field.nullable ? [null] : [])].map(value => JSON.stringify(value));
  return field.hasDefault ? known : ['', ...known];
}

/** The untouched form. */
export function initialForm(fields: readonly SkillField[]): FilledForm {
  return Object.fromEntries(fields.map(field => [field.name, shown(field, field.default)]));
}

/** The beginning of the text that Onyx puts in place of a secret. */
const REDACTED = '[redacted:';

/** The form of an earlier run. */
export function formOf(fields: readonly SkillField[], values: Readonly<Record<string, unknown>>): FilledForm {
  return Object.fromEntries(
    fields.map(field => [field.name, shown(field, field.name in values ? values[field.name] : field.default)])
  );
}

/** The values to run with: only what differs from the cell's own, so that its defaults keep applying. */
export function readForm(
  fields: readonly SkillField[],
  form: FilledForm,
  trans: TranslationBundle
): ReadForm {
  const found: ReadForm = { values: {}, errors: {} };
  for (const field of fields) {
    const filled = form[field.name];
    if (field.hasDefault && filled === shown(field, field.default)) {
      continue;
    }
    const read = readField(field, filled ?? '', trans);
    if ('error' in read) {
      found.errors[field.name] = read.error;
    } else if ('value' in read) {
      found.values[field.name] = read.value;
    }
  }
  return found;
}

function readField(field: SkillField, filled: Filled, trans: TranslationBundle): Read {
  if (typeof filled === 'string' && filled.includes(REDACTED)) {
    return { error: trans.__('A secret was removed here, because Onyx stores none. Enter the value again.') };
  }
  if (typeof filled === 'boolean') {
    return { value: filled };
  }
  const text = filled.trim();
  if (text === '' && field.type !== 'string') {
    return emptyField(field, trans);
  }
  switch (widgetOf(field)) {
    case 'select':
      return { value: JSON.parse(text) };
    case 'number':
      return numberOf(field, text, trans);
    case 'json':
      return jsonOf(field, text, trans);
    default:
      return text === '' && !field.hasDefault ? emptyField(field, trans) : { value: filled };
  }
}

function emptyField(field: SkillField, trans: TranslationBundle): Read {
  if (field.required) {
    return { error: trans.__('Required.') };
  }
  if (field.nullable) {
    return { value: null };
  }
  if (field.type === 'array' && field.hasDefault) {
    return { value: [] };
  }
  return field.hasDefault ? { error: trans.__('Enter a value.') } : ABSENT;
}

function numberOf(field: SkillField, text: string, trans: TranslationBundle): Read {
  const plain = text.replace(/(?<=\d)_(?=\d)/g, '');
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  if (!Number.isFinite(value)) {
    return { error: trans.__('Enter a number.') };
  }
  if (field.type === 'integer' && !Number.isSafeInteger(value)) {
    return { error: trans.__('Enter a whole number.') };
  }
  return { value };
}

function jsonOf(field: SkillField, text: string, trans: TranslationBundle): Read {
  if (field.type === 'array' && !text.startsWith('[') && PLAIN_ITEMS.has(field.itemType ?? 'string')) {
    return listOf(field, text, trans);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // If any value is allowed, a word without quotes is that word.
    const mayBeText = field.type === 'any' || field.type === 'union';
    return mayBeText && !/^[[{"]/.test(text)
      ? { value: text }
      : { error: trans.__('This isn’t valid JSON: %1', (error as Error).message) };
  }
  if (field.type === 'array' && !Array.isArray(value)) {
    return { error: trans.__('Enter a list, such as ["a", "b"].') };
  }
  if (field.type === 'object' && (typeof value !== 'object' || value === null || Array.isArray(value))) {
    return { error: trans.__('Enter an object, such as {"a": 1}.') };
  }
  return { value };
}

/** `a, b` as a list. */
function listOf(field: SkillField, text: string, trans: TranslationBundle): Read {
  const items = text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '');
  if (field.itemType !== 'integer' && field.itemType !== 'number') {
    return { value: items };
  }
  const values: unknown[] = [];
  for (const item of items) {
    const read = numberOf({ ...field, type: field.itemType }, item, trans);
    if (!('value' in read)) {
      return read;
    }
    values.push(read.value);
  }
  return { value: values };
}

/** A value as its field shows it. */
function shown(field: SkillField, value: unknown): Filled {
  const widget = widgetOf(field);
  if (widget === 'checkbox') {
    return value === true;
  }
  if (value === undefined || (value === null && (widget !== 'select' || !field.hasDefault))) {
    return '';
  }
  if (widget === 'select') {
    return JSON.stringify(value);
  }
  if (typeof value === 'string' && widget !== 'json') {
    return value;
  }
  if (Array.isArray(value) && value.every(item => isPlain(item))) {
    return value.join(', ');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether a list item can be written without quotes. */
function isPlain(item: unknown): boolean {
  return typeof item === 'number' || (typeof item === 'string' && /^[^\s,[\]"'][^,"]*$/.test(item));
}
