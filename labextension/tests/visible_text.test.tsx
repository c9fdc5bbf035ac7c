import { act } from 'react';
import { expect, it, vi } from 'vitest';

import { ApprovalCard } from '../src/features/approvals/approval_card';
import { DiffView, UnifiedDiffView } from '../src/shared/diff_view';
import { VisibleText } from '../src/shared/visible_text';
import type { ApprovalInfo } from '../src/protocol/wire';
import CASES from './visible_characters.json';
import { all, drawAnew, host, render } from './drawing';

drawAnew();

const hook = (name: string) => all(name)[0] as HTMLButtonElement | undefined;

/** What a person can write down again: text as it stands, each mark as the characters that it names. */
function readBack(node: Node): string {
  if (node instanceof HTMLElement && node.dataset.onyx === 'character-mark') {
    const code = Number.parseInt(node.dataset.character!.slice(2), 16);
    return String.fromCodePoint(code).repeat(Number(node.dataset.count));
  }
  return node.nodeType === Node.TEXT_NODE ? node.textContent! : [...node.childNodes].map(readBack).join('');
}

it('every text can be read back from its rendering', async () => {
  for (const [text] of CASES) {
    await render(<VisibleText text={text} />);
    expect(readBack(host), JSON.stringify(text)).toBe(text);
  }
});

it('an invisible character is named, visually and for a screen reader', async () => {
  await render(<VisibleText text={'a\u202eb\u200b\u200b p\u0430y'} />);
  expect(host.textContent).not.toMatch(/[\u202e\u200b]/);
  expect(
    all('character-mark').map(mark => [mark.textContent, mark.title, mark.getAttribute('aria-label')])
  ).toEqual([
    ['U+202E', 'right-to-left override (U+202E)', 'right-to-left override (U+202E)'],
    ['U+200B×2', 'zero width space (U+200B×2)', 'zero width space (U+200B×2)'],
    ['\u0430', 'looks like “a” (U+0430)', 'looks like “a” (U+0430)']
  ]);
});

it('right-to-left text keeps its order and moves nothing around it', async () => {
  await render(<VisibleText text={'x = "שלום עולם" + 1'} />);
  expect([...host.querySelectorAll('bdi')].map(word => word.textContent)).toEqual(['שלום עולם']);
  expect(host.textContent).toBe('x = "שלום עולם" + 1');
});

it('unchanged lines are one click away', async () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const after = [...before];
  after[10] = 'changed\u202e';
  await render(<DiffView before={before.join('\n')} after={after.join('\n')} />);
  expect(host.textContent).not.toContain('line 2');
  expect(all('unfold').map(fold => fold.textContent)).toEqual(['8 unchanged lines', '7 unchanged lines']);
  await act(async () => hook('unfold')!.click());
  await act(async () => hook('unfold')!.click());
  const lines = [...host.querySelectorAll('.onyx-Diff-line:not(.onyx-mod-removed)')];
  expect(lines.map(readBack)).toEqual(after);
});

it('a diff from the server is marked too', async () => {
  await render(<UnifiedDiffView diff={'@@ -1 +1 @@\n-a\n+a\r\u2066'} />);
  expect(all('character-mark').map(mark => mark.dataset.character)).toEqual(['U+000D', 'U+2066']);
});

const approval: ApprovalInfo = {
  approvalId: 'a1',
  runId: 'r1',
  callId: 'c1',
  toolName: 'notebook_run_cell',
  summary: 'Run cell 1 of a\u202e.ipynb',
  details: {
    source: 'run()\u200b',
    path: 'a\u202e.ipynb',
    sessionScope: 'only this once, because it contains invisible characters',
    alwaysScope: null,
    alwaysBlocked: 'it contains invisible characters',
    cautions: ['secret', 'invisible']
  },
  expiresAt: '2999-01-01T00:00:00Z',
  version: 'v1'
};

it('a card marks its title, code and path, says so, and can only be allowed once', async () => {
  const approve = vi.fn(() => Promise.resolve());
  const card = <ApprovalCard approval={approval} online said="" approve={approve} deny={approve} />;
  await render(card);
  expect(all('character-mark').map(mark => mark.dataset.character)).toEqual(['U+202E', 'U+200B', 'U+202E']);
  expect(all('caution').map(line => line.textContent)).toEqual([
    'Contains what looks like a secret. You see all of it; the conversation and the model don’t.',
    'Contains invisible characters, shown as marks.'
  ]);
  expect(hook('approve-session')).toBeUndefined();
  expect(hook('approve-always')).toBeUndefined();
  await act(async () => hook('approve-once')!.click());
  expect(approve.mock.calls).toEqual([['a1', 'once', 'v1']]);
});

it('a stored request cannot be answered', async () => {
  const approve = vi.fn(() => Promise.resolve());
  const stored = { ...approval, version: undefined };
  await render(<ApprovalCard approval={stored} online said="" approve={approve} deny={approve} />);
  expect(hook('approve-once')!.disabled).toBe(true);
  await act(async () => hook('approve-once')!.click());
  expect(approve).not.toHaveBeenCalled();
});
