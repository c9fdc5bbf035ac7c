/** The first page: which model answers, what it can do, and three things to try. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReactNode } from 'react';

import { modelName } from '../composer/model_choice';
import { fileName } from '../../shared/short_text';
import { useUi } from '../../shared/ui_context';

interface EmptyStateProps {
  model: string | null;
  isLocal: boolean;
  /** Set if no model can answer: one line on what still works, and the buttons for it. */
  noModel: { line: string; actions: ReactNode } | null;
  /** A better model for this machine, if one can be downloaded. */
  offer?: ReactNode;
  /** What features offer to a new user, in a line each. */
  invitations?: ReactNode;
  notebook: string | null;
  /** The message about the error that the notebook shows, if any. */
  fix: { text: string; send: () => void } | null;
  ask: (text: string) => void;
  connectModel: () => void;
}

export function EmptyState(props: EmptyStateProps): JSX.Element {
  const { model, isLocal, noModel, offer, invitations, notebook, fix, ask, connectModel } = props;
  const { trans } = useUi();
  const name = notebook ? fileName(notebook) : '';
  const asking = (text: string) => ({ text, send: () => ask(text) });
  const suggestions = notebook
    ? [
        asking(trans.__('What does %1 do?', name)),
        asking(trans.__('Add a cell to %1 that plots its data', name)),
        fix ?? asking(trans.__('Check %1 for mistakes', name))
      ]
    : [
        asking(trans.__('What can you do here?')),
        asking(trans.__('List the files in this folder')),
        asking(trans.__('Remember that I like short answers'))
      ];
  if (noModel) {
    return (
      <div className="onyx-Empty" data-onyx="empty">
        <p data-onyx="no-model">{noModel.line}</p>
        {noModel.actions}
        {invitations}
      </div>
    );
  }
  return (
    <div className="onyx-Empty" data-onyx="empty">
      <p>{modelLine(model, isLocal, trans)}</p>
      {offer}
      <ul className="onyx-Empty-tries">
        {suggestions.map(({ text, send }) => (
          <li key={text}>
            <button type="button" data-onyx="suggestion" onClick={send}>
              {text}
            </button>
          </li>
        ))}
      </ul>
      {invitations}
      <button type="button" className="onyx-Link" data-onyx="connect-model" onClick={connectModel}>
        {isLocal ? trans.__('Connect a better model') : trans.__('Connect a model')}
      </button>
    </div>
  );
}

function modelLine(model: string | null, isLocal: boolean, trans: TranslationBundle): string {
  if (model === null) {
    return trans.__('Looking for a model…');
  }
  return isLocal
    ? trans.__(
        '%1 answers: a small model on this machine, which writes cells for you to run. It needs no account and no network.',
        modelName(model)
      )
    : trans.__(
        '%1 answers. It reads your notebooks and, when you allow it, edits cells, runs them and runs commands.',
        model
      );
}
