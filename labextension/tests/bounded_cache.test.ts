import { describe, expect, it } from 'vitest';

import { Remembered } from '../src/shared/bounded_cache';

describe('the bounded cache', () => {
  it('is limited by total length and keeps the newest', async () => {
    const results = new Remembered<string>(50, 2_000);
    for (const key of ['a', 'b', 'c']) {
      results.add(key, Promise.resolve(key.repeat(900)));
    }
    await Promise.resolve();
    expect(results.get('a')).toBeUndefined();
    expect(await results.get('b')).toBe('b'.repeat(900));
    results.add('large', Promise.resolve('x'.repeat(5_000)));
    await Promise.resolve();
    expect(['a', 'b', 'c'].map(key => results.get(key))).toEqual([undefined, undefined, undefined]);
    expect(await results.get('large')).toHaveLength(5_000);
  });

  it('is limited by number and never drops pending entries', async () => {
    const results = new Remembered<string>(2, 2_000);
    let end: (value: string) => void = () => undefined;
    results.add('long', new Promise<string>(resolve => (end = resolve)));
    for (const key of ['a', 'b', 'c']) {
      results.add(key, Promise.resolve(key));
    }
    await Promise.resolve();
    expect([results.get('a'), results.hasEnded('b'), results.hasEnded('long')]).toEqual([
      undefined,
      true,
      false
    ]);
    end('done');
    expect(await results.get('long')).toBe('done');
  });

  it('passes an error on to every caller', async () => {
    const results = new Remembered<string>(2, 2_000);
    results.add('a', Promise.reject(new Error('no')));
    await expect(results.get('a')).rejects.toThrow('no');
    expect(results.hasEnded('a')).toBe(true);
    expect(results.hasEnded('never')).toBe(false);
  });
});
