import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { memoryFound } from '../src/features/memory/memory_found';
import { ToolCard } from '../src/features/chat/tool_card';
import { UiProvider } from '../src/shared/ui_context';
import { newToolCall } from '../src/features/chat/conversation';
import { SidebarPanels } from '../src/features/chat/sidebar_panels';
import { ToolResults } from '../src/features/chat/tool_results';
import { helloPlugin } from './hello/plugin';

vi.mock('@jupyterlab/ui-components', () => {
  const icon = { react: () => null };
  return { caretRightIcon: icon, checkIcon: icon, closeIcon: icon };
});

let results: ToolResults;
let host: HTMLElement;
let root: Root;

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  results = new ToolResults();
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});
afterEach(async () => {
  await act(async () => root.unmount());
  host.remove();
});

/** The opened card of a call that is done. */
async function card(tool: string, output: string): Promise<HTMLElement> {
  const trans = nullTranslator.load('onyx_jupyter');
  const ui = { trans, insertCode: null, copy: () => {}, toolResult: results.show.bind(results) };
  const call = { ...newToolCall('1', tool, { query: 'tea' }), status: 'ok' as const, output };
  await act(async () => root.render(<UiProvider value={ui as never}><ToolCard call={call} /></UiProvider>)); // prettier-ignore
  await act(async () => host.querySelector('button')!.click());
  return host;
}

const plain = () => host.querySelector('[data-onyx="tool-output"]');

describe('a tool result', () => {
  it('is rendered by its feature, registered in one line', async () => {
    void helloPlugin.activate({} as never, { client: null }, { panels: new SidebarPanels(), results });
    expect((await card('hello', 'Hello, Ada!')).querySelector('strong')?.textContent).toBe('Hello, Ada!');
    expect(plain()).toBeNull();
  });

  it('is shown unchanged without a renderer', async () => {
    await card('peek', 'saw x');
    expect(plain()?.textContent).toBe('saw x');
  });

  it('of a memory search is a list of places, or else the text', async () => {
    results.add('memory_search', memoryFound);
    const passage = { path: 'MEMORY.md', startLine: 1, endLine: 2, snippet: 'tea', heading: '', score: 0.9 };
    await card('memory_search', JSON.stringify({ results: [passage] }));
    expect(host.querySelector('[data-onyx="memory-found"]')?.textContent).toContain('MEMORY.md');
    expect(plain()).toBeNull();
    await act(async () => root.render(null));
    await card('memory_search', 'cut off […');
    expect(host.querySelector('[data-onyx="memory-found"]')).toBeNull();
    expect(plain()?.textContent).toBe('cut off […');
  });

  it('has one renderer per tool, until disposed', () => {
    const added = results.add('a', () => <p />);
    expect(() => results.add('a', () => <p />)).toThrow("'a' gives back is shown already");
    added.dispose();
    expect(results.show(newToolCall('1', 'a', {}))).toBeNull();
  });
});
