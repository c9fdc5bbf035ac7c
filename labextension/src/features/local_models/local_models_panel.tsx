/** The panel of models that can run on this machine: size, licence, state, and actions. */
import { closeIcon } from '@jupyterlab/ui-components';
import { useEffect, useRef, useState } from 'react';

import { formatSize } from './local_models';
import type { LocalModelInfo } from '../../protocol/wire';
import { DownloadProgress } from './download_progress';
import { IconButton } from '../../shared/icon_button';
import { ProblemNote, RefusalNote } from '../../shared/problem_notes';
import { useUi } from '../../shared/ui_context';

interface LocalModelActions {
  fetch: (model: LocalModelInfo) => void;
  pause: (model: LocalModelInfo) => void;
  remove: (model: LocalModelInfo) => void;
}

interface LocalModelsPanelProps extends LocalModelActions {
  /** null while they are being read. */
  models: readonly LocalModelInfo[] | null;
  /** Why they could not be read. */
  problem: string | null;
  /** Why the last action failed. */
  refusal: string | null;
  dismissRefusal: () => void;
  online: boolean;
  open: () => void;
  close: () => void;
}

export function LocalModelsPanel(props: LocalModelsPanelProps): JSX.Element {
  const { models, problem, online, open, close } = props;
  const { trans } = useUi();
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    panel.current?.focus();
    open();
  }, [open]);
  // The pressed button disappears or changes; keep the focus in the panel.
  const keeping = (act: (model: LocalModelInfo) => void) => (model: LocalModelInfo) => {
    panel.current?.focus();
    act(model);
  };
  return (
    <section
      ref={panel}
      className="onyx-Connect"
      data-onyx="local-models-panel"
      aria-label={trans.__('Local models')}
      tabIndex={-1}
      onKeyDown={event => event.key === 'Escape' && close()}
    >
      <header>
        <h3>{trans.__('Local models')}</h3>
        <IconButton icon={closeIcon} label={trans.__('Close')} hook="local-models-close" onClick={close} />
      </header>
      <p className="onyx-Grants-lead">
        {trans.__(
          'They run on this machine, without an account. A file is downloaded only when you ask for it, and used only if its hash matches the publisher’s.'
        )}
      </p>
      <ProblemNote problem={problem} again={open} hook="local-models-problem" />
      <RefusalNote reason={props.refusal} dismiss={props.dismissRefusal} hook="local-models-refusal" />
      <ul className="onyx-Grants">
        {models?.map(model => (
          <ModelRow
            key={model.id}
            model={model}
            disabled={!online}
            fetch={keeping(props.fetch)}
            pause={keeping(props.pause)}
            remove={keeping(props.remove)}
          />
        ))}
      </ul>
      <div className="onyx-Note" role="status" data-onyx="local-models-state">
        {models?.length === 0 && trans.__('There are no models to download.')}
        {!online && trans.__('You can continue when the connection is back.')}
        {online && !models && !problem && trans.__('Reading…')}
      </div>
    </section>
  );
}

interface ModelRowProps extends LocalModelActions {
  model: LocalModelInfo;
  disabled: boolean;
}

function ModelRow({ model, disabled, fetch, pause, remove }: ModelRowProps): JSX.Element {
  const { trans } = useUi();
  const [isAsked, setIsAsked] = useState(false);
  const { title, state } = model;
  const facts = [formatSize(model.bytes), model.licence, trans.__('%1 parameters', model.parameters)];
  const button = (hook: string, label: string, act: () => void) => (
    <button
      type="button"
      className="onyx-Button"
      data-onyx={`local-model-${hook}`}
      aria-label={trans.__('%1: %2', label, title)}
      disabled={disabled}
      onClick={act}
    >
      {label}
    </button>
  );
  const canGo =
    (state === 'ready' && model.removable) || state === 'paused' || (state === 'fetching' && !model.fetcher);
  const goes = state === 'ready' ? trans.__('Remove') : trans.__('Discard');
  return (
    <li className="onyx-Grant" data-onyx="local-model" data-id={model.id} data-state={state}>
      <div className="onyx-Grant-what">
        <strong>{title}</strong>
        {model.recommended && state !== 'ready' && (
          <>
            {' '}
            <span className="onyx-Grant-mark">{trans.__('recommended')}</span>
          </>
        )}
        <div className="onyx-Grant-facts">{facts.join(' · ')}</div>
      </div>
      <DownloadProgress model={model} />
      <div className="onyx-Fetch-actions">
        {(state === 'missing' || state === 'failed') &&
          button('fetch', state === 'failed' ? trans.__('Try again') : trans.__('Download'), () =>
            fetch(model)
          )}
        {state === 'paused' && button('resume', trans.__('Resume'), () => fetch(model))}
        {state === 'fetching' && !model.fetcher && button('pause', trans.__('Pause'), () => pause(model))}
        {canGo && !isAsked && button('remove', goes, () => setIsAsked(true))}
      </div>
      {canGo && isAsked && (
        <div className="onyx-Fetch-question" data-onyx="local-model-question">
          <span>{removalText(model, trans.__.bind(trans))}</span>
          {button('remove-yes', goes, () => {
            setIsAsked(false);
            remove(model);
          })}
          {button('remove-no', trans.__('Keep'), () => setIsAsked(false))}
        </div>
      )}
    </li>
  );
}

/** What would be deleted, and whose it is. */
function removalText(model: LocalModelInfo, __: (text: string, ...values: string[]) => string): string {
  if (model.state !== 'ready') {
    return __(
      '%1 of it are already here and would have to be downloaded again.',
      formatSize(model.doneBytes)
    );
  }
  const what = __('%1 would have to be downloaded again: %2', formatSize(model.bytes), model.path ?? '');
  return model.shared ? __('%1 – everybody on this installation uses it.', what) : what;
}
