import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import { formOf, initialForm, optionsOf, readForm, widgetOf } from '../src/features/skills/form_values';
import type { Filled } from '../src/features/skills/form_values';
import type { SkillField } from '../src/protocol/wire';

const trans = nullTranslator.load('');
const field = (values: Partial<SkillField>): SkillField => ({
  name: 'x',
  type: 'string',
  required: false,
  ...values
});
const read = (one: SkillField, filled: Filled) => {
  const { values, errors } = readForm([one], { x: filled }, trans);
  return errors.x ?? ('x' in values ? { value: values.x } : 'left out');
};

describe('a form for a parameters cell', () => {
  it('shows each default as one would type it', () => {
    const fields = [
      field({ name: 'path', type: 'path', required: true }),
      field({ name: 'rows', type: 'integer', hasDefault: true, default: 2000000 }),
      field({ name: 'exact', type: 'boolean', hasDefault: true, default: true }),
      field({ name: 'task', type: 'choice', choices: ['auto', 'full'], hasDefault: true, default: 'auto' }),
      field({ name: 'key', type: 'array', itemType: 'string', hasDefault: true, default: ['a', 'b'] }),
      field({ name: 'odd', type: 'array', itemType: 'string', hasDefault: true, default: ['a, b'] }),
      field({ name: 'map', type: 'object', hasDefault: true, default: { a: 1 } }),
      field({ name: 'limit', type: 'number', nullable: true, hasDefault: true, default: null })
    ];
    expect(initialForm(fields)).toEqual({
      ...{ path: '', rows: '2000000', exact: true, task: '"auto"', key: 'a, b', odd: '["a, b"]' },
      ...{ map: '{"a":1}', limit: '' }
    });
    expect(fields.map(widgetOf)).toEqual([
      ...['path', 'number', 'checkbox', 'select', 'json', 'json', 'json', 'number']
    ]);
    expect(readForm(fields, { ...initialForm(fields), path: 'a.csv' }, trans)).toEqual({
      values: { path: 'a.csv' },
      errors: {}
    });
  });

  it('parses numbers as Python does, and reports invalid ones', () => {
    expect(read(field({ type: 'integer' }), '1_000')).toEqual({ value: 1000 });
    expect(read(field({ type: 'integer' }), '1.5')).toBe('Enter a whole number.');
    expect(read(field({ type: 'integer' }), '12a')).toBe('Enter a number.');
    expect(read(field({ type: 'number' }), '1e-9')).toEqual({ value: 1e-9 });
    expect(read(field({ type: 'number' }), 'Infinity')).toBe('Enter a number.');
    expect(read(field({ type: 'number', nullable: true, hasDefault: true, default: 1 }), '')).toEqual({
      value: null
    });
    expect(read(field({ type: 'number', hasDefault: true, default: 1 }), '')).toBe('Enter a value.');
  });

  it('rejects the redaction mark of an earlier run', () => {
    const filled = 'postgres://ada:[redacted:url-password]@db/prod';
    expect(read(field({ type: 'string' }), filled)).toContain('Enter the value again');
  });

  it('requires missing values, and leaves computed ones to the cell', () => {
    expect(read(field({ type: 'path', required: true }), ' ')).toBe('Required.');
    expect(read(field({ type: 'string', required: true }), '')).toBe('Required.');
    expect(read(field({ type: 'string', defaultText: 'os.getcwd()' }), '')).toBe('left out');
    expect(read(field({ type: 'string', hasDefault: true, default: 'a' }), '')).toEqual({ value: '' });
    expect(read(field({ type: 'string', hasDefault: true, default: 'a' }), ' b ')).toEqual({ value: ' b ' });
  });

  it('parses lists with and without JSON, and objects', () => {
    const list = field({ type: 'array', itemType: 'string', hasDefault: true, default: [] });
    expect(read(list, 'a, b ,')).toEqual({ value: ['a', 'b'] });
    expect(read(list, '["a, b"]')).toEqual({ value: ['a, b'] });
    expect(read(list, '["a"')).toMatch(/^This isn’t valid JSON/);
    expect(read(field({ type: 'array', itemType: 'integer' }), '1, 2')).toEqual({ value: [1, 2] });
    expect(read(field({ type: 'array', itemType: 'integer' }), '1, x')).toBe('Enter a number.');
    expect(read(field({ type: 'object' }), '{"a": [1]}')).toEqual({ value: { a: [1] } });
    expect(read(field({ type: 'object' }), '[1]')).toBe('Enter an object, such as {"a": 1}.');
    expect(read(field({ type: 'any' }), 'word')).toEqual({ value: 'word' });
    expect(read(field({ type: 'any' }), '{"a":')).toMatch(/^This isn’t valid JSON/);
  });

  it('offers the choices, and an empty one if allowed', () => {
    const choice = field({
      type: 'choice',
      choices: ['a', 2],
      nullable: true,
      hasDefault: true,
      default: 'a'
    });
    expect(optionsOf(choice)).toEqual(['"a"', '2', 'null']);
    expect(read(choice, '2')).toEqual({ value: 2 });
    expect(read(choice, 'null')).toEqual({ value: null });
    expect(optionsOf(field({ type: 'boolean', required: true }))).toEqual(['', 'true', 'false']);
    expect(read(field({ type: 'boolean', required: true }), '')).toBe('Required.');
    expect(read(field({ type: 'boolean', required: true }), 'false')).toEqual({ value: false });
    expect(read(field({ type: 'boolean', hasDefault: true, default: true }), false)).toEqual({
      value: false
    });
  });

  it('can be filled in from an earlier run', () => {
    const fields = [
      field({ name: 'path', type: 'path', required: true }),
      field({ name: 'key', type: 'array', itemType: 'string', hasDefault: true, default: [] })
    ];
    expect(formOf(fields, { path: 'b.csv' })).toEqual({ path: 'b.csv', key: '' });
    expect(readForm(fields, formOf(fields, { path: 'b.csv', key: ['id'] }), trans).values).toEqual({
      path: 'b.csv',
      key: ['id']
    });
  });
});
