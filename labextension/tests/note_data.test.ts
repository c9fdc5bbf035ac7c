import { describe, expect, it } from 'vitest';

import { readCompaction } from '../src/models/note_data';

describe('what a summing up proposes to remember', () => {
  const proposal = {
    op: 'add',
    target: 'MEMORY.md',
    content: 'The year starts in April.',
    reason: 'said twice'
  };

  it('is read as it was written', () => {
    expect(readCompaction({ tokensBefore: 9, proposals: [proposal] }).proposals).toEqual([proposal]);
  });

  it('is nothing where there is none, and leaves out what has another shape', () => {
    expect(readCompaction(undefined).proposals).toEqual([]);
    expect(readCompaction({ proposals: 'many' }).proposals).toEqual([]);
    expect(
      readCompaction({ proposals: [null, 'x', { target: 'a', content: 1 }, proposal] }).proposals
    ).toEqual([proposal]);
  });
});
