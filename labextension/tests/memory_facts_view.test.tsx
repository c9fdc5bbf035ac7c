import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { MemoryFactsView } from '../src/features/memory/memory_facts_view';
import { UiProvider } from '../src/shared/ui_context';
import type { Ui } from '../src/shared/ui_context';
import type { MemoryPlace } from '../src/features/memory/memory_place';
import type { MemoryFact } from '../src/protocol/wire';

const AT = '2026-03-01T00:00:00Z';
const FACT: MemoryFact = {
  ...{ id: 'f3', text: 'Nests are counted by drone.', category: 'general', confidence: 1, lines: [3] },
  ...{ author: 'agent', since: AT, toldAt: AT, validFrom: AT }
};
const shown = vi.fn();
let root: Root;
let host: HTMLElement;

const draw = (place: MemoryPlace) =>
  act(async () =>
    root.render(
      <UiProvider value={{ trans: nullTranslator.load('onyx_jupyter') } as unknown as Ui}>
        <MemoryFactsView facts={{ facts: [FACT] }} place={place} titleOf={() => null} openSession={null} />
      </UiProvider>
    )
  );

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
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
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
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
