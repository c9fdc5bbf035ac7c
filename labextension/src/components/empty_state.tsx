/** The first thing one sees: which model answers, what it can do, three things to try. */
import { fileName } from '../models/tool_words';
import { useUi } from './ui_context';

interface EmptyStateProps {
  model: string | null;
  isLocal: boolean;
  notebook: string | null;
  ask: (text: string) => void;
  connectModel: () => void;
}

export function EmptyState({ model, isLocal, notebook, ask, connectModel }: EmptyStateProps): JSX.Element {
  const { trans } = useUi();
  const name = notebook ? fileName(notebook) : '';
  const suggestions = notebook
    ? [
        trans.__('What does %1 do?', name),
        trans.__('Add a cell to %1 that plots its data', name),
        trans.__('Check %1 for mistakes', name)
      ]
    : [
        trans.__('What can you do here?'),
        trans.__('List the files in this folder'),
        trans.__('Remember that I like short answers')
      ];
  return (
    <div className="onyx-Empty" data-onyx="empty">
      <p>
        {model === null
          ? trans.__('Looking for a model…')
          : isLocal
            ? trans.__(
                '%1 answers: a small model on this machine, for trying things out. It needs no account and no network.',
                model
              )
            : trans.__(
                '%1 answers. It reads your notebooks and, when you allow it, edits cells, runs them and runs commands.',
                model
              )}
      </p>
      <ul className="onyx-Empty-tries">
        {suggestions.map(suggestion => (
          <li key={suggestion}>
            <button type="button" data-onyx="suggestion" onClick={() => ask(suggestion)}>
              {suggestion}
            </button>
          </li>
        ))}
      </ul>
      <button type="button" className="onyx-Link" data-onyx="connect-model" onClick={connectModel}>
        {isLocal ? trans.__('Connect a better model') : trans.__('Connect a model')}
      </button>
    </div>
  );
}
