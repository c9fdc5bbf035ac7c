import { act } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { SidebarPanels } from '../src/features/chat/sidebar_panels';
import { Onboarding } from '../src/features/onboarding/onboarding';
import { OnboardingOffer, OnboardingPanel } from '../src/features/onboarding/onboarding_panel';
import { lineCounts } from '../src/features/onboarding/review_view';
import type { OnboardingQuestion, OnboardingState } from '../src/protocol/wire';
import { all, click, drawAnew, host, part, render } from './drawing';
import { Peer, Refusal } from './peer';

drawAnew();

let peer: Peer;
let onboarding: Onboarding;
const close = vi.fn();
const openFile = vi.fn();

const ROLE: OnboardingQuestion = {
  id: 'role',
  text: 'What do you do?',
  kind: 'one',
  file: 'USER.md',
  choices: [
    { id: 'analyst', label: 'Analyze data', line: 'Work: data analysis' },
    { id: 'teacher', label: 'Teach', line: 'Work: teaching' }
  ],
  other: 'What you work on',
  chosen: [],
  words: '',
  canBePhrased: false
};
const ANNOYANCES: OnboardingQuestion = {
  ...ROLE,
  id: 'annoyances',
  text: 'What annoys you?',
  kind: 'many',
  chosen: ['analyst']
};
const NAME: OnboardingQuestion = { ...ROLE, id: 'name', kind: 'text', choices: [], words: 'Ada' };

const stateWith = (question: OnboardingQuestion | undefined, values: Partial<OnboardingState> = {}) => ({
  agentId: 'main',
  offered: true,
  begun: false,
  phase: 'About you',
  optional: false,
  number: 3,
  total: 8,
  question,
  answered: [
    { text: 'What should Onyx call you?', answer: 'Ada' },
    { text: 'What is your field?', answer: '' }
  ],
  ...values
});
const SOUL = {
  path: 'SOUL.md',
  isNew: false,
  diff: '@@ -1 +1,2 @@\n-a\n+b\n+c',
  text: 'b\nc\n',
  basedOn: 'x',
  checksum: 'y'
};
const MISSION = {
  path: 'USER/MISSION.md',
  isNew: true,
  diff: '+# Mission',
  text: '# Mission\n',
  basedOn: '',
  checksum: 'z'
};

async function open(state: object): Promise<void> {
  peer.results['onboarding.state'] = state;
  peer.results['onboarding.answer'] ??= state;
  await onboarding.open();
  await render(<OnboardingPanel {...{ onboarding, openFile, close }} />);
}
const press = (key: string, target: HTMLElement = part<HTMLElement>('onboarding-question')!) =>
  act(async () => void target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })));
async function type(text: string): Promise<void> {
  const field = part<HTMLInputElement>('onboarding-words')!;
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
}
const answers = () => peer.askedFor('onboarding.answer');

beforeEach(() => {
  vi.clearAllMocks();
  peer = new Peer();
  peer.connect();
  onboarding = new Onboarding(peer.client, () => null);
});
afterEach(() => {
  onboarding.dispose();
  peer.client.dispose();
});

describe('a question', () => {
  it('shows how far one is and what was said before, and takes the focus', async () => {
    await open(stateWith(ROLE));
    expect(part('onboarding-progress')!.textContent).toBe('3 of 8 · About you');
    expect(part('onboarding-answered')!.textContent).toBe(
      'What should Onyx call you?AdaWhat is your field?Skipped'
    );
    expect(document.activeElement).toBe(part('onboarding-question'));
  });

  it('with one answer takes it by click or by number', async () => {
    await open(stateWith(ROLE));
    await act(async () => all('onboarding-choice')[1].click());
    await press('1');
    await press('9');
    expect(answers()).toEqual([
      { agentId: null, questionId: 'role', choices: ['teacher'], text: '' },
      { agentId: null, questionId: 'role', choices: ['analyst'], text: '' }
    ]);
  });

  it('has room for other words, which Enter sends', async () => {
    await open(stateWith(ROLE));
    expect(part('onboarding-words')).toBeNull();
    await press('3');
    const field = part<HTMLInputElement>('onboarding-words')!;
    expect(document.activeElement).toBe(field);
    expect(field.placeholder).toBe('What you work on');
    await type(' Rivers 1 ');
    await press('1', field);
    expect(answers()).toEqual([]);
    await press('Enter', field);
    expect(answers()).toEqual([{ agentId: null, questionId: 'role', choices: [], text: 'Rivers 1' }]);
  });

  it('with several answers toggles them, says what they write, and goes on with Enter', async () => {
    await open(stateWith(ANNOYANCES));
    expect(part('onboarding-question')!.textContent).toContain('Work: data analysis');
    await press('2');
    await press('1');
    expect(
      all('onboarding-choice').map(choice => choice.ariaPressed ?? choice.getAttribute('aria-pressed'))
    ).toEqual(['false', 'true']);
    await press('Enter', all('onboarding-choice')[0]);
    expect(answers()[0].choices).toEqual(['teacher']);
  });

  it('keeps a former answer in its field', async () => {
    await open(stateWith(NAME));
    expect(part<HTMLInputElement>('onboarding-words')!.value).toBe('Ada');
    expect(document.activeElement).toBe(part('onboarding-words'));
    await press('Enter', part<HTMLElement>('onboarding-words')!);
    expect(answers()[0]).toEqual({ agentId: null, questionId: 'name', choices: [], text: 'Ada' });
  });

  it('lets a model phrase the words, which come back with one click', async () => {
    peer.results['onboarding.phrase'] = { text: 'emojis', line: 'Avoid: emojis' };
    await open(stateWith({ ...ANNOYANCES, words: 'it puts emojis everywhere', canBePhrased: true }));
    await click('onboarding-phrase');
    expect(peer.askedFor('onboarding.phrase')).toEqual([
      { agentId: null, questionId: 'annoyances', text: 'it puts emojis everywhere' }
    ]);
    const field = part<HTMLInputElement>('onboarding-words')!;
    expect(field.value).toBe('emojis');
    expect(part('onboarding-phrased')!.textContent).toBe('Will be written: Avoid: emojis');
    await click('onboarding-own-words');
    expect(field.value).toBe('it puts emojis everywhere');
    expect(part('onboarding-phrase')).not.toBeNull();
    peer.results['onboarding.phrase'] = new Refusal(1, 'It did not answer. Your words stay.');
    await click('onboarding-phrase');
    expect(host.textContent).toContain('Your words stay.');
    expect(field.value).toBe('it puts emojis everywhere');
  });

  it('can be skipped, gone back from, and left for later', async () => {
    peer.results['onboarding.skip'] = peer.results['onboarding.back'] = stateWith(ANNOYANCES);
    await open(stateWith(ROLE));
    await click('onboarding-skip');
    expect(peer.askedFor('onboarding.skip')).toEqual([{ agentId: null, questionId: 'role' }]);
    expect(part<HTMLElement>('onboarding-question')!.dataset.question).toBe('annoyances');
    await click('onboarding-back');
    expect(peer.askedFor('onboarding.back')).toHaveLength(1);
    await press('Escape');
    expect(close).toHaveBeenCalledOnce();
  });

  it('has no way back from the first, and shows a refusal', async () => {
    peer.results['onboarding.answer'] = new Refusal(-32000, 'The disk is full.');
    await open(stateWith(ROLE, { number: 1, answered: [] }));
    expect(part('onboarding-back')).toBeNull();
    await press('1');
    expect(part('onboarding-problem')!.textContent).toBe('The disk is full.');
  });
});

describe('the review', () => {
  beforeEach(() => {
    peer.results['onboarding.preview'] = { files: [SOUL, MISSION] };
  });

  it('shows every change before anything is written, and then leads to the files', async () => {
    peer.results['onboarding.write'] = { paths: ['SOUL.md', 'USER/MISSION.md'] };
    await open(stateWith(undefined));
    expect(all('onboarding-file').map(file => file.querySelector('summary')!.textContent)).toEqual([
      'SOUL.md +2 −1',
      'USER/MISSION.md new'
    ]);
    await click('onboarding-whole');
    expect(host.querySelector('pre')!.textContent).toBe('b\nc\n');
    expect(peer.askedFor('onboarding.write')).toEqual([]);
    await press('Enter', part<HTMLElement>('onboarding-review')!);
    expect(peer.askedFor('onboarding.write')[0].files).toEqual([
      { path: 'SOUL.md', basedOn: 'x', checksum: 'y' },
      { path: 'USER/MISSION.md', basedOn: '', checksum: 'z' }
    ]);
    await act(async () => all('onboarding-link')[1].click());
    expect(openFile).toHaveBeenCalledWith('USER/MISSION.md');
    await click('onboarding-done');
    expect(close).toHaveBeenCalledOnce();
  });

  it('reads the files again if one has changed, and says so', async () => {
    peer.results['onboarding.write'] = new Refusal(-32000, '', { code: 'memory_conflict' });
    await open(stateWith(undefined));
    peer.results['onboarding.preview'] = { files: [MISSION] };
    await click('onboarding-write');
    expect(part('onboarding-review')!.textContent).toContain('A file has changed since it was shown.');
    expect(all('onboarding-file')).toHaveLength(1);
    expect(part('onboarding-written')).toBeNull();
  });

  it('names a file that cannot be read, and leaves it out', async () => {
    peer.results['onboarding.preview'] = {
      files: [{ path: 'SOUL.md', problem: 'It is not UTF-8.' }, MISSION]
    };
    await open(stateWith(undefined));
    expect(part('onboarding-unreadable')!.textContent).toBe('SOUL.md is left as it is. It is not UTF-8.');
    expect(part('onboarding-write')!.textContent).toContain('Write 1 file');
  });

  it('says if there is nothing to write', async () => {
    peer.results['onboarding.preview'] = { files: [] };
    await open(stateWith(undefined));
    expect(part('onboarding-review')!.textContent).toContain('Nothing to write');
    expect(part('onboarding-write')).toBeNull();
  });
});

describe('the line on the first page', () => {
  const draw = async (values: Partial<OnboardingState>) => {
    peer.results['onboarding.state'] = stateWith(ROLE, values);
    await onboarding.open();
    await render(<OnboardingOffer onboarding={onboarding} open={close} />);
  };

  it('offers onboarding to a new user, or to go on with it', async () => {
    await draw({});
    expect(host.textContent).toBe('Ask something, or take two minutes to set Onyx up');
    await click('onboarding-open');
    expect(close).toHaveBeenCalledOnce();
    await draw({ begun: true });
    expect(host.textContent).toContain('go on setting Onyx up');
  });

  it('is not there for anybody else', async () => {
    await draw({ offered: false });
    expect(host.textContent).toBe('');
  });
});

it('a panel opens by what is typed, and only by exactly that', () => {
  const panels = new SidebarPanels();
  panels.add({ id: 'onboarding', label: '', typed: '/onboard', render: () => <p /> });
  panels.add({ id: 'other', label: '', render: () => <p /> });
  expect(panels.typed(' /onboard\n')?.id).toBe('onboarding');
  expect(panels.typed('/onboard me')).toBeUndefined();
  expect(panels.typed('')).toBeUndefined();
});

it('counts changed lines', () => {
  expect(lineCounts('@@ -1 +1 @@\n a\n+b')).toBe('+1');
  expect(lineCounts('')).toBe('');
});
