/** A question from the agent: choices to click, room for another answer, and a way to decline. */
import { useId, useState } from 'react';

import type { QuestionInfo } from '../../protocol/wire';
import { onEnterSubmit } from '../../shared/hooks';
import { TimeLeft } from './time_left';
import { useUi } from '../../shared/ui_context';
import { VisibleText } from '../../shared/visible_text';

export interface QuestionActions {
  /** null declines to answer. */
  answer: (questionId: string, answer: string | null) => Promise<void>;
}

interface QuestionCardProps extends QuestionActions {
  question: QuestionInfo;
  online: boolean;
}

export function QuestionCard({ question, online, answer }: QuestionCardProps): JSX.Element {
  const { trans } = useUi();
  const titleId = useId();
  const [isAnswered, setIsAnswered] = useState(false);
  const [problem, setProblem] = useState('');
  const closed = isAnswered || !online;
  const say = (words: string | null) => {
    if (closed) {
      return;
    }
    setIsAnswered(true);
    setProblem('');
    answer(question.questionId, words).catch((error: Error) => {
      setIsAnswered(false);
      setProblem(error.message);
    });
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const choice = question.choices[Number(event.key) - 1];
    if (choice !== undefined && event.target === event.currentTarget) {
      event.preventDefault();
      say(choice);
    }
  };
  return (
    <div
      className="onyx-Approval"
      data-onyx="question"
      data-question-id={question.questionId}
      role="group"
      aria-labelledby={titleId}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className="onyx-Approval-head">
        <span id={titleId} className="onyx-Approval-title">
          <VisibleText text={question.question} />
        </span>
        <TimeLeft
          expiresAt={question.expiresAt}
          title={trans.__('If you don’t answer by then, Onyx continues without it.')}
        />
      </div>
      {question.choices.length > 0 && (
        <div className="onyx-Question-choices">
          {question.choices.map((choice, index) => (
            <button
              key={choice}
              type="button"
              className="onyx-Button"
              data-onyx="choice"
              disabled={closed}
              onClick={() => say(choice)}
            >
              <VisibleText text={choice} />
              <kbd aria-hidden="true">{index + 1}</kbd>
            </button>
          ))}
        </div>
      )}
      <OwnWords question={question} disabled={closed} say={say} />
      {!online && (
        <div className="onyx-Approval-note">{trans.__('You can answer when the connection is back.')}</div>
      )}
      {problem && (
        <div className="onyx-Approval-note" role="alert">
          {problem}
        </div>
      )}
    </div>
  );
}

interface OwnWordsProps {
  question: QuestionInfo;
  disabled: boolean;
  say: (words: string | null) => void;
}

function OwnWords({ question, disabled, say }: OwnWordsProps): JSX.Element {
  const { trans } = useUi();
  const [words, setWords] = useState('');
  const skip = (
    <button
      type="button"
      className="onyx-Link"
      data-onyx="decline"
      disabled={disabled}
      title={trans.__('Onyx learns that you chose not to answer.')}
      onClick={() => say(null)}
    >
      {trans.__('Skip')}
    </button>
  );
  if (!question.freeText) {
    return <div className="onyx-Question-words">{skip}</div>;
  }
  return (
    <form
      className="onyx-Question-words"
      onSubmit={event => {
        event.preventDefault();
        if (words.trim()) {
          say(words.trim());
        }
      }}
    >
      <input
        className="onyx-Input"
        data-onyx="answer"
        value={words}
        maxLength={20_000}
        placeholder={question.choices.length > 0 ? trans.__('Something else…') : trans.__('Your answer…')}
        aria-label={trans.__('Your answer')}
        onKeyDown={onEnterSubmit}
        onChange={event => setWords(event.target.value)}
      />
      <button
        type="submit"
        className="onyx-Button"
        data-onyx="send-answer"
        disabled={disabled || !words.trim()}
      >
        {trans.__('Answer')}
      </button>
      {skip}
    </form>
  );
}
