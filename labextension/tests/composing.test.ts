import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Composing, MAX_CHARS, PAUSE_MS } from '../src/features/composer/composing';
import { Peer } from './peer';

let peer: Peer;
let composing: Composing;
let answeredBy: string | null;
const told = () => peer.askedFor('chat.composing').map(one => one.text);
const to = () => ({ sessionKey: 's1', model: 'local/small', mode: 'agent' as const, answeredBy });
const pause = () => vi.advanceTimersByTime(PAUSE_MS);

beforeEach(() => {
  vi.useFakeTimers();
  peer = new Peer();
  peer.results = { 'chat.composing': { ok: true } };
  peer.connect();
  answeredBy = 'local/small';
  composing = new Composing(peer.client, to);
});
afterEach(() => {
  composing.dispose();
  peer.client.dispose();
  vi.useRealTimers();
});

describe('while the user types', () => {
  it('sends the first letter immediately, then at each pause', () => {
    for (const text of ['W', 'Wh', 'What']) {
      composing.typed(text);
    }
    expect(told()).toEqual(['W']);
    pause();
    composing.typed('What is');
    pause();
    pause();
    expect(told()).toEqual(['W', 'What', 'What is']);
    expect(peer.askedFor('chat.composing')[0]).toEqual({
      sessionKey: 's1',
      model: 'local/small',
      mode: 'agent',
      text: 'W'
    });
  });

  it('announces a focused empty input, but not one with text', () => {
    composing.onInputExpected();
    expect(told()).toEqual(['']);
    composing.typed('W');
    composing.onInputExpected();
    expect(told()).toEqual(['', 'W']);
    composing.ended();
    composing.onInputExpected();
    expect(told()).toEqual(['', 'W', '']);
    composing.dispose();
    composing.onInputExpected();
    expect(told()).toEqual(['', 'W', '']);
  });

  it('sends nothing for a text that was sent or deleted', () => {
    composing.typed('W');
    composing.typed('What');
    composing.ended();
    pause();
    composing.typed('A');
    composing.typed('');
    pause();
    expect(told()).toEqual(['W', 'A']);
  });

  it('sends only the beginning of a long text', () => {
    composing.typed('x'.repeat(5 * MAX_CHARS));
    expect(told()).toEqual(['x'.repeat(MAX_CHARS)]);
  });

  it.each(['openai/gpt-5', 'ollama/qwen3', null])(
    'announces it once without the text if %s answers',
    model => {
      answeredBy = model;
      composing.onInputExpected();
      expect(told()).toEqual([]);
      composing.typed('W');
      composing.typed('What');
      pause();
      composing.typed('What is');
      pause();
      expect(told()).toEqual(['']);
      composing.ended();
      composing.typed('A');
      expect(told()).toEqual(['', '']);
    }
  );

  it('sends nothing without a connection or after disposal', () => {
    composing.typed('W');
    composing.typed('What');
    composing.dispose();
    pause();
    composing.typed('');
    composing.typed('W');
    peer.lose();
    new Composing(peer.client, to).typed('A');
    expect(told()).toEqual(['W']);
  });
});
