/** Onboarding in the sidebar: the answers so far, one question at a time, and the files at the end. */
import { closeIcon } from '@jupyterlab/ui-components';
import { useEffect, useRef } from 'react';

import type { OnboardingState } from '../../protocol/wire';
import { useSignals } from '../../shared/hooks';
import { IconButton } from '../../shared/icon_button';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';
import type { Onboarding } from './onboarding';
import { QuestionView } from './question_view';
import { ReviewView, WrittenView } from './review_view';

interface OnboardingPanelProps {
  onboarding: Onboarding;
  /** Opens a file of the agent's workspace. */
  openFile: (path: string) => void;
  /** Back to the conversation; everything answered is kept. */
  close: () => void;
}

export function OnboardingPanel({ onboarding, openFile, close }: OnboardingPanelProps): JSX.Element {
  const { trans } = useUi();
  const panel = useRef<HTMLElement>(null);
  useSignals(onboarding.changed);
  useEffect(() => onboarding.begin(), [onboarding]);
  const { state, problem, refusal, written, isBusy } = onboarding;
  const question = state?.question;
  useEffect(() => {
    const top = panel.current?.querySelector<HTMLElement>('.onyx-Onboarding-question')?.offsetTop ?? 0;
    const head = panel.current?.querySelector<HTMLElement>('.onyx-Onboarding-head')?.offsetHeight ?? 0;
    panel.current?.scrollTo?.(0, top - head);
  }, [question?.id, written]);
  return (
    <section
      ref={panel}
      className="onyx-Connect onyx-Onboarding"
      data-onyx="onboarding-panel"
      aria-label={trans.__('Set up Onyx')}
      tabIndex={-1}
      onKeyDown={event => event.key === 'Escape' && close()}
    >
      <div className="onyx-Onboarding-head">
        <header>
          <h3>{trans.__('Set up Onyx')}</h3>
          <IconButton
            icon={closeIcon}
            label={trans.__('Later (Escape)')}
            hook="onboarding-close"
            onClick={close}
          />
        </header>
        {state && !written && <Progress state={state} />}
      </div>
      {(problem ?? refusal) && (
        <div className="onyx-Problem" role="alert" data-onyx="onboarding-problem">
          {problem ?? refusal}
        </div>
      )}
      {state && question && !written && <Answered state={state} />}
      {written ? (
        <WrittenView paths={written} {...{ openFile, close }} />
      ) : question ? (
        <QuestionView
          key={question.id}
          question={question}
          disabled={isBusy}
          back={state.number > 1 ? () => void onboarding.back() : null}
          phrase={text => onboarding.phrase(question.id, text)}
          skip={() => void onboarding.skip(question.id)}
          answer={(choices, text) => void onboarding.answer(question.id, choices, text)}
        />
      ) : (
        state && <ReviewView {...{ onboarding, close }} />
      )}
    </section>
  );
}

function Progress({ state }: { state: OnboardingState }): JSX.Element {
  const { trans } = useUi();
  const { phase, optional, number, total, question } = state;
  const done = question ? number - 1 : total;
  return (
    <div className="onyx-Onboarding-progress">
      <span data-onyx="onboarding-progress">
        {question ? trans.__('%1 of %2', number, total) : trans.__('%1 questions', total)} · {phase}
        {optional && ` · ${trans.__('optional')}`}
      </span>
      <progress className="onyx-Bar" value={done} max={total} aria-label={trans.__('Progress')} />
    </div>
  );
}

/** As in a conversation: what was asked, and what the person said. */
function Answered({ state }: { state: OnboardingState }): JSX.Element | null {
  const { trans } = useUi();
  if (state.answered.length === 0) {
    return (
      <p className="onyx-Note" data-onyx="onboarding-lead">
        {trans.__(
          'A few questions, so that Onyx works the way you do. You see every file before it is written.'
        )}
      </p>
    );
  }
  return (
    <dl className="onyx-Onboarding-answered" data-onyx="onboarding-answered">
      {state.answered.map(({ text, answer }) => (
        <div key={text}>
          <dt>{text}</dt>
          <dd>
            {answer ? (
              <VisibleText text={answer} />
            ) : (
              <span className="onyx-Onboarding-skipped">{trans.__('Skipped')}</span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** On the first page of a home that nobody has used yet. */
export function OnboardingOffer(props: { onboarding: Onboarding; open: () => void }): JSX.Element | null {
  const { trans } = useUi();
  const { onboarding, open } = props;
  useSignals(onboarding.changed);
  if (!onboarding.state?.offered) {
    return null;
  }
  return (
    <p className="onyx-Note" data-onyx="onboarding-offer">
      <span>
        {trans.__('Ask something, or')}{' '}
        <button type="button" className="onyx-Link" data-onyx="onboarding-open" onClick={open}>
          {onboarding.state.begun
            ? trans.__('go on setting Onyx up')
            : trans.__('take two minutes to set Onyx up')}
        </button>
      </span>
    </p>
  );
}
