/** A new encryption key for the stored keys: a link, a question in its place, and what came of it. */
import { useEffect, useRef, useState } from 'react';

import { useUi } from '../../shared/ui_context';

export interface StoreKeyProps {
  /** How many keys are stored. */
  stored: number;
  online: boolean;
  /** Resolves to whether it was done. */
  rotate: () => Promise<boolean>;
}

export function StoreKey({ stored, online, rotate }: StoreKeyProps): JSX.Element {
  const { trans } = useUi();
  const [state, setState] = useState<'idle' | 'asked' | 'running' | 'done'>('idle');
  const next = useRef<HTMLButtonElement>(null);
  const isFirst = useRef(true);
  const isAsked = state === 'asked' || state === 'running';
  useEffect(() => {
    if (!isFirst.current) {
      next.current?.focus(); // what had the focus is gone
    }
    isFirst.current = false;
  }, [isAsked]);
  const start = () => {
    setState('running');
    void rotate().then(isDone => setState(isDone ? 'done' : 'idle'));
  };
  return (
    <>
      <div className="onyx-Setting-row">
        {!isAsked && (
          <button
            ref={next}
            type="button"
            className="onyx-Link"
            data-onyx="rotate-key"
            disabled={!online}
            onClick={() => setState('asked')}
          >
            {trans.__('New encryption key…')}
          </button>
        )}
        <span className="onyx-Setting-good" role="status" data-onyx="rotate-result">
          {state === 'done' && trans.__('Done: encrypted with a new key.')}
        </span>
      </div>
      {isAsked && (
        <div
          className="onyx-StoreKey"
          role="group"
          aria-label={trans.__('New encryption key')}
          data-onyx="rotate-question"
          onKeyDown={event => event.key === 'Escape' && state === 'asked' && setState('idle')}
        >
          <p>
            {trans._n(
              'Encrypt the stored key again, with a new encryption key?',
              'Encrypt all %1 stored keys again, with a new encryption key?',
              stored
            )}
          </p>
          <p className="onyx-Note">
            {trans.__(
              'Nothing changes at any provider. Older copies of credentials.json cannot be read with the new key.'
            )}
          </p>
          <div className="onyx-Setting-row">
            <button
              ref={next}
              type="button"
              className="onyx-Button onyx-mod-accept"
              data-onyx="rotate-confirm"
              disabled={!online || state === 'running'}
              onClick={start}
            >
              {state === 'running' ? trans.__('Encrypting…') : trans.__('Encrypt again')}
            </button>
            <button
              type="button"
              className="onyx-Button"
              data-onyx="rotate-cancel"
              disabled={state === 'running'}
              onClick={() => setState('idle')}
            >
              {trans.__('Cancel')}
            </button>
          </div>
        </div>
      )}
    </>
  );
}
