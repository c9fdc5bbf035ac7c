/** One question: choices to click or to choose by their numbers, and room for other words. */
import { useEffect, useId, useRef, useState } from 'react';

import type { OnboardingPhrased, OnboardingQuestion } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';

interface QuestionViewProps {
  question: OnboardingQuestion;
  disabled: boolean;
  /** The first question has none before it. */
  back: (() => void) | null;
  /** What a model makes of the words. Rejects with the reason. */
  phrase: (words: string) => Promise<OnboardingPhrased>;
  skip: () => void;
  answer: (choices: readonly string[], text: string) => void;
}

/** To be keyed by the question's id. Of several choices, Enter takes those that are pressed. */
export function QuestionView(props: QuestionViewProps): JSX.Element {
  const { question, disabled, back, phrase, skip, answer } = props;
  const { trans } = useUi();
  const { kind, choices, other } = question;
  const titleId = useId();
  const group = useRef<HTMLDivElement>(null);
  const isOpen = kind === 'text' || kind === 'lines';
  const [picked, setPicked] = useState<readonly string[]>(question.chosen);
  const [words, setWords] = useState(question.words);
  const [isOther, setIsOther] = useState(isOpen || question.words !== '');
  useEffect(() => {
    if (!isOther) {
      group.current?.focus();
    }
  }, []);
  const proceed = () => answer(kind === 'many' ? picked : [], isOther ? words.trim() : '');
  const choose = (index: number) => {
    if (disabled) {
      return;
    }
    const { id } = choices[index] ?? {};
    if (id === undefined) {
      setIsOther(kind === 'many' ? !isOther : true);
    } else if (kind === 'one') {
      answer([id], '');
    } else {
      setPicked(picked.includes(id) ? picked.filter(one => one !== id) : [...picked, id]);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const isTyping = (event.target as HTMLElement).matches('input, textarea');
    const count = choices.length + (other && !isOpen ? 1 : 0);
    const index = Number(event.key) - 1;
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (!isTyping && index >= 0 && index < count) {
      event.preventDefault();
      choose(index);
    } else if (event.key === 'Enter' && isChoosing(event, kind)) {
      event.preventDefault();
      proceed();
    }
  };
  const key = (index: number) => <kbd aria-hidden="true">{index + 1}</kbd>;
  return (
    <div
      ref={group}
      className="onyx-Onboarding-question"
      data-onyx="onboarding-question"
      data-question={question.id}
      role="group"
      aria-labelledby={titleId}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <h4 id={titleId}>{question.text}</h4>
      {!isOpen && (
        <div className="onyx-Question-choices">
          {choices.map(({ id, label, line }, index) => (
            <button
              key={id}
              type="button"
              className="onyx-Button onyx-Choice"
              data-onyx="onboarding-choice"
              aria-pressed={picked.includes(id)}
              disabled={disabled}
              title={line}
              onClick={() => choose(index)}
            >
              <span>
                {label}
                {picked.includes(id) && line && <span className="onyx-Choice-line">{line}</span>}
              </span>
              {key(index)}
            </button>
          ))}
          {other && (
            <button
              type="button"
              className="onyx-Button onyx-Choice"
              data-onyx="onboarding-other"
              aria-pressed={isOther}
              disabled={disabled}
              onClick={() => choose(choices.length)}
            >
              {trans.__('Other…')}
              {key(choices.length)}
            </button>
          )}
        </div>
      )}
      {isOther && (
        <Words hint={other} isLong={kind === 'lines'} {...{ words, setWords, labelledBy: titleId }} />
      )}
      {isOther && question.canBePhrased && <Phrasing {...{ words, setWords, phrase, disabled }} />}
      <div className="onyx-Onboarding-steps">
        {(kind !== 'one' || isOther) && (
          <button
            type="button"
            className="onyx-Button onyx-mod-accept"
            data-onyx="onboarding-continue"
            disabled={disabled}
            onClick={proceed}
          >
            {trans.__('Continue')}
          </button>
        )}
        {back && (
          <button type="button" className="onyx-Link" data-onyx="onboarding-back" onClick={back}>
            {trans.__('Back')}
          </button>
        )}
        <button type="button" className="onyx-Link" data-onyx="onboarding-skip" onClick={skip}>
          {trans.__('Skip')}
        </button>
      </div>
    </div>
  );
}

/** A button that is not a choice does its own thing on Enter, and a field for several lines begins a new one. */
function isChoosing(event: React.KeyboardEvent, kind: OnboardingQuestion['kind']): boolean {
  const target = event.target as HTMLElement;
  if (target === event.currentTarget) {
    return kind === 'many';
  }
  return target.matches('input') || (kind === 'many' && target.matches('[data-onyx=onboarding-choice]'));
}

interface WordsProps {
  hint: string;
  isLong: boolean;
  words: string;
  setWords: (words: string) => void;
  labelledBy: string;
}

function Words({ hint, isLong, words, setWords, labelledBy }: WordsProps): JSX.Element {
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const shared = {
    ref: field,
    className: 'onyx-Input',
    'data-onyx': 'onboarding-words',
    value: words,
    placeholder: hint,
    'aria-labelledby': labelledBy
  };
  return isLong ? (
    <textarea {...shared} rows={4} maxLength={2000} onChange={event => setWords(event.target.value)} />
  ) : (
    <input {...shared} maxLength={300} onChange={event => setWords(event.target.value)} />
  );
}

interface PhrasingProps {
  words: string;
  setWords: (words: string) => void;
  phrase: (words: string) => Promise<OnboardingPhrased>;
  disabled: boolean;
}

/** Asks a model to put one's own words as an instruction; they come back with one click. */
function Phrasing({ words, setWords, phrase, disabled }: PhrasingProps): JSX.Element {
  const { trans } = useUi();
  const [isAsking, setAsking] = useState(false);
  const [phrased, setPhrased] = useState<(OnboardingPhrased & { own: string }) | null>(null);
  const [problem, setProblem] = useState('');
  const ask = () => {
    setAsking(true);
    setProblem('');
    phrase(words.trim())
      .then(
        result => {
          setPhrased({ ...result, own: words });
          setWords(result.text);
        },
        (error: Error) => setProblem(error.message)
      )
      .finally(() => setAsking(false));
  };
  const isShown = phrased !== null && words === phrased.text;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void place.current?.scrollIntoView?.({ block: 'nearest' }); // a promise in newer browsers
  }, [phrased, problem]);
  return (
    <div ref={place} className="onyx-Onboarding-phrasing" role="status">
      {isShown ? (
        <>
          <span data-onyx="onboarding-phrased">{trans.__('Will be written: %1', phrased.line)}</span>{' '}
          <button
            type="button"
            className="onyx-Link"
            data-onyx="onboarding-own-words"
            onClick={() => setWords(phrased.own)}
          >
            {trans.__('My words again')}
          </button>
        </>
      ) : (
        <button
          type="button"
          className="onyx-Link"
          data-onyx="onboarding-phrase"
          disabled={disabled || isAsking || !words.trim()}
          title={trans.__('The model writes it as an instruction; you decide')}
          onClick={ask}
        >
          {isAsking ? trans.__('Phrasing…') : trans.__('Let the model phrase it')}
        </button>
      )}
      {problem && <span className="onyx-Onboarding-problem">{problem}</span>}
    </div>
  );
}
