import { act } from 'react';
import { beforeEach, describe, expect, it } from 'vitest';

import { memoryFound } from '../src/features/memory/memory_results';
import { ToolCard } from '../src/features/chat/tool_card';
import { newToolCall } from '../src/features/chat/conversation';
import { SidebarPanels } from '../src/features/chat/sidebar_panels';
import { ToolResults } from '../src/features/chat/tool_results';
import { helloPlugin } from './hello/plugin';
import { drawAnew, host, render } from './drawing';

drawAnew();

let results: ToolResults;

beforeEach(() => {
  results = new ToolResults();
});

/** The opened card of a call that is done. */
async function card(tool: string, output: string): Promise<HTMLElement> {
  const call = { ...newToolCall('1', tool, { query: 'tea' }), status: 'ok' as const, output };
  await render(<ToolCard call={call} />, { toolResult: results.show.bind(results) });
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
    await render(null);
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
