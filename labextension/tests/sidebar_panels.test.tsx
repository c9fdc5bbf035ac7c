import { act } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { SidebarPanels } from '../src/features/chat/sidebar_panels';
import { ToolResults } from '../src/features/chat/tool_results';
import { helloPlugin } from './hello/plugin';
import { Peer } from './peer';
import { drawAnew, host, render } from './drawing';

drawAnew();

let panels: SidebarPanels;
let peer: Peer;

beforeEach(() => {
  panels = new SidebarPanels();
  peer = new Peer();
});
afterEach(() => peer.client.dispose());

describe('panels added by features', () => {
  it('are added with one line, access the server, and lead back', async () => {
    const labels: string[] = [];
    panels.added.connect((_, panel) => labels.push(panel.label));
    peer.results = { 'hello.greet': { text: 'Hello, Ada!' } };
    peer.connect();
    void helloPlugin.activate({} as never, { client: peer.client }, { panels, results: new ToolResults() });
    expect(labels).toEqual(['Hello']);
    const close = vi.fn();
    await render(panels.get('hello')!.render(close));
    const [greet, leave] = host.querySelectorAll('button');
    await act(async () => greet.click());
    await vi.waitFor(() => expect(host.textContent).toContain('Hello, Ada!'));
    expect(peer.askedFor('hello.greet')).toEqual([{ name: 'Ada' }]);
    await act(async () => leave.click());
    expect(close).toHaveBeenCalledOnce();
  });

  it('have unique ids, and are removed on disposal', () => {
    const changed = vi.fn();
    panels.changed.connect(changed);
    const panel = { id: 'a', label: 'A', render: () => <p /> };
    const added = panels.add(panel);
    expect(() => panels.add(panel)).toThrow("a panel 'a' already");
    added.dispose();
    added.dispose();
    expect(panels.get('a')).toBeUndefined();
    expect(changed).toHaveBeenCalledTimes(2);
    panels.add(panel);
    expect(panels.get('a')).toBe(panel);
  });
});
