import { describe, expect, it } from 'vitest';

import { fit, groups, mentionAt, withoutMention } from '../src/features/composer/mentions';
import type { MentionOption } from '../src/features/composer/mentions';

const option = (section: MentionOption['section'], name: string, detail?: string): MentionOption => ({
  section,
  name,
  detail,
  item: { type: 'file', path: name }
});

describe('an @ mention', () => {
  it.each([
    ['@', 1, ''],
    ['Explain @df', 11, 'df'],
    ['Explain (@df', 12, 'df'],
    ['Explain @Load data please', 18, 'Load data'],
    ['two @a and @b', 13, 'b']
  ])('is found in %j', (text, caret, query) => {
    expect(mentionAt(text, caret)?.query).toBe(query);
  });

  it.each([
    ['ada@lovelace.org', 16],
    ['no sign at all', 5],
    ['a decorator @ then words', 20],
    ['@one\ntwo', 8],
    [`@${'x'.repeat(90)}`, 91],
    ['@df', 0]
  ])('is not found in %j', (text, caret) => {
    expect(mentionAt(text, caret)).toBeNull();
  });

  it('is removed from the text without leaving two spaces', () => {
    const cut = (text: string, caret: number) => withoutMention(text, mentionAt(text, caret)!);
    expect(cut('Explain @df', 11)).toEqual({ text: 'Explain ', caret: 8 });
    expect(cut('Explain @df to me', 11)).toEqual({ text: 'Explain to me', caret: 8 });
    expect(cut('@df please', 3)).toEqual({ text: 'please', caret: 0 });
  });
});

describe('matching', () => {
  it('prefers prefixes, then word starts, then substrings, then scattered letters', () => {
    const scores = ['model', 'the model', 'remodelled', 'my odd elephant'].map(name => fit(name, 'model'));
    expect(scores.slice(0, 3).every(score => score !== null)).toBe(true);
    expect([...scores.slice(0, 3)].sort((a, b) => b! - a!)).toEqual(scores.slice(0, 3));
    expect(fit('my odd elephant', 'mode')).toBeLessThan(scores[2]!);
    expect(fit('df', 'month')).toBeNull();
  });

  it('requires each of several words literally', () => {
    expect(fit('Load the data', 'load data')).not.toBeNull();
    expect(fit('Load the data', 'load dta')).toBeNull();
  });

  it('returns everything for an empty query, a few per section, nearest first', () => {
    const cells = Array.from({ length: 9 }, (_, number) => option('cells', `c${number}`));
    const made = groups([option('files', 'f'), ...cells, option('error', 'KeyError')], '');
    expect(made.map(group => group.section)).toEqual(['error', 'cells', 'files']);
    expect(made[1].options).toHaveLength(5);
    expect(made[1].hidden).toBe(4);
  });

  it('puts the section with the best match first, and also matches details', () => {
    const all = [option('cells', 'plt.show(grid)', 'cell 7'), option('variables', 'df', 'DataFrame')];
    expect(groups(all, 'df')[0].section).toBe('variables');
    expect(groups(all, 'cell 7').map(group => group.options[0].name)).toEqual(['plt.show(grid)']);
  });

  it('matches a file by its name after the last slash', () => {
    const all = [option('files', 'table.csv'), option('files', 'notes.txt')];
    expect(groups(all, 'data/tab')[0].options.map(one => one.name)).toEqual(['table.csv']);
  });
});
