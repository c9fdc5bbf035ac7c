import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { MemoryFactsView } from '../src/features/memory/memory_facts_view';
import type { MemoryPlace } from '../src/shared/citations';
import type { MemoryFact } from '../src/protocol/wire';
import { drawAnew, render } from './drawing';

drawAnew();

const AT = '2026-03-01T00:00:00Z';
const FACT: MemoryFact = {
  ...{ id: 'f3', text: 'Nests are counted by drone.', category: 'general', confidence: 1, lines: [3] },
  ...{ author: 'agent', since: AT, toldAt: AT, validFrom: AT }
};
const shown = vi.fn();

const draw = (place: MemoryPlace) =>
  render(<MemoryFactsView facts={{ facts: [FACT] }} place={place} titleOf={() => null} openSession={null} />);

beforeEach(() => {
  vi.stubGlobal(
    'ResizeObserver',
    vi.fn(
      class {
        observe = vi.fn();
        disconnect = vi.fn();
      }
    )
  );
  Element.prototype.scrollIntoView = shown;
  shown.mockReset();
});
afterEach(async () => {
  vi.unstubAllGlobals();
});

it('scrolls to a fact each time that it is cited, and never otherwise', async () => {
  const cited = () => ({ path: 'memory/facts.jsonl', agentId: null, fact: 'f3' });
  const first = cited();
  await draw(first);
  await draw(first); // as when the list is read again
  expect(shown).toHaveBeenCalledTimes(1);
  await draw(cited());
  expect(shown).toHaveBeenCalledTimes(2);
  await draw({ path: 'memory/facts.jsonl', agentId: null });
  expect(shown).toHaveBeenCalledTimes(2);
});
