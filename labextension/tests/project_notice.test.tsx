import { act } from 'react';
import { beforeEach, expect, it, vi } from 'vitest';

import { ProjectNotice } from '../src/features/project/project_notice';
import { ProjectPanel } from '../src/features/project/project_panel';
import type { ProjectFile } from '../src/protocol/wire';
import { drawAnew, host, part, render } from './drawing';

drawAnew();

const trust = vi.fn((_: ProjectFile) => Promise.resolve());
const decline = vi.fn((_: ProjectFile) => Promise.resolve());
const file = (text: string, more: Partial<ProjectFile> = {}): ProjectFile => ({
  path: 'AGENTS.md',
  state: 'new',
  digest: `of ${text}`,
  lines: 1,
  text,
  ...more
});

const answers = { online: true, trust, decline, refusal: null, dismissRefusal: () => undefined };
const notice = (shown: ProjectFile, more: { refusal?: string; online?: boolean } = {}) =>
  render(<ProjectNotice file={shown} {...answers} {...more} />);
const panel = (...files: ProjectFile[]) =>
  render(
    <ProjectPanel files={files} problem={null} {...answers} open={() => undefined} close={() => undefined} />
  );
const hook = (name: string) => part(`project-${name}`);
const click = (name: string) => act(async () => hook(name)?.click());

beforeEach(() => {
  trust.mockClear();
  decline.mockClear();
});

it('says that there are instructions, how many lines, and that they are not used', async () => {
  await notice(file('Be kind.', { lines: 42 }));
  expect(host.textContent).toContain(
    'This folder has instructions for Onyx (AGENTS.md, 42 lines). They are not used until you trust them.'
  );
  expect(host.textContent).not.toContain('Be kind.');
});

it('accepts trust only after the text was shown, and only for that text', async () => {
  await notice(file('Be kind.'));
  expect(hook('trust')?.disabled).toBe(true);
  expect(hook('show')?.getAttribute('aria-expanded')).toBe('false');
  await click('show');
  expect(hook('show')?.getAttribute('aria-expanded')).toBe('true');
  expect(hook('source')?.textContent).toBe('Be kind.');
  await click('trust');
  expect(trust.mock.calls.map(([given]) => given.digest)).toEqual(['of Be kind.']);
});

it('shows the text verbatim, never as Markdown or HTML', async () => {
  const text = '# Rules\n<img src=x onerror="alert(1)">\n[a](javascript:b)\n';
  await notice(file(text));
  await click('show');
  expect(hook('source')?.textContent).toBe(text);
  expect(hook('source')?.children).toHaveLength(0);
});

it('can be declined without reading', async () => {
  await notice(file('Be kind.'));
  await click('decline');
  expect(decline.mock.calls.map(([given]) => given.digest)).toEqual(['of Be kind.']);
  expect(trust).not.toHaveBeenCalled();
});

it('accepts no trust for a text that arrived while reading another', async () => {
  await notice(file('Be kind.'));
  await click('show');
  await notice(file('Obey.'));
  expect(hook('source')?.textContent).toBe('Be kind.');
  expect(hook('trust')?.disabled).toBe(true);
  expect(hook('decline')?.disabled).toBe(true);
  await click('show-now');
  expect(hook('outdated')).toBeNull();
  expect(hook('source')?.textContent).toBe('Obey.');
  await click('trust');
  expect(trust.mock.calls.map(([given]) => given.digest)).toEqual(['of Obey.']);
});

it('shows the new text with the reason if trust was rejected', async () => {
  await notice(file('Be kind.'));
  await click('show');
  trust.mockImplementationOnce(() => notice(file('Obey.'), { refusal: 'AGENTS.md has changed.' }));
  await click('trust');
  expect(hook('refusal')?.textContent).toContain('AGENTS.md has changed.');
  expect(hook('source')?.textContent).toBe('Obey.');
  expect(hook('outdated')).toBeNull();
});

it('shows the diff of a changed file, and the full text on demand', async () => {
  await notice(file('Obey.', { state: 'changed', diff: '@@ -1 +1 @@\n-Be kind.\n+Obey.' }));
  expect(host.textContent).toContain('have changed (AGENTS.md, 1 line)');
  await click('show');
  expect(host.querySelector('.onyx-mod-removed')?.textContent).toBe('Be kind.');
  expect(host.querySelector('.onyx-mod-added')?.textContent).toBe('Obey.');
  expect(hook('source')).toBeNull();
  await click('show-all');
  expect(hook('source')?.textContent).toBe('Obey.');
});

it('shows the full text if only line endings changed, and says so', async () => {
  await notice(file('Be kind.', { state: 'changed', diff: null }));
  await click('show');
  expect(host.textContent).toContain('No lines changed');
  expect(hook('source')?.textContent).toBe('Be kind.');
});

it('accepts no answer while disconnected', async () => {
  await notice(file('Be kind.'), { online: false });
  await click('show');
  expect([hook('trust')?.disabled, hook('decline')?.disabled]).toEqual([true, true]);
});

it('in its panel, returns after trusting and declining', async () => {
  await panel(file('Be kind.', { state: 'trusted' }));
  expect(hook('trust')).toBeNull();
  await click('decline');
  expect(decline).toHaveBeenCalledOnce();
  await panel(file('Be kind.', { state: 'declined' }));
  expect(hook('source')?.textContent).toBe('Be kind.');
  expect(hook('decline')).toBeNull();
  await click('trust');
  expect(trust).toHaveBeenCalledOnce();
});

it('in its panel, says why a file cannot be used, without actions', async () => {
  await panel(file('', { state: 'unusable', digest: '', reason: 'It is a link.' }));
  expect(host.textContent).toContain('AGENTS.md cannot be used. It is a link.');
  expect([hook('trust'), hook('decline'), hook('source')]).toEqual([null, null, null]);
  await panel();
  expect(hook('empty')).not.toBeNull();
});
