/**
 * Shown while no capable model is on this machine: what one click would download, its size, and the progress.
 */
import { formatSize } from './local_models';
import type { LocalModelInfo } from '../../protocol/wire';
import { DownloadProgress } from './download_progress';
import { useUi } from '../../shared/ui_context';

interface LocalModelOfferProps {
  model: LocalModelInfo;
  /** Why the last click had no effect. */
  refusal: string | null;
  online: boolean;
  /** Whether a line above already gives the name and size, since nothing can answer without it. */
  isNamed?: boolean;
  fetch: () => void;
  pause: () => void;
  /** Shows all available models. */
  showAll: () => void;
}

export function LocalModelOffer(props: LocalModelOfferProps): JSX.Element {
  const { model, refusal, online, isNamed = false, fetch, pause, showAll } = props;
  const { trans } = useUi();
  const isBegun = model.state === 'fetching' || model.state === 'paused';
  const size = formatSize(model.bytes);
  return (
    <div className="onyx-Offer" data-onyx="local-model-offer">
      {!isNamed && (
        <p>
          {isBegun
            ? trans.__(
                '%1 is for this machine: it needs no account, and nothing leaves the machine.',
                model.title
              )
            : trans.__(
                '%1 can run on this machine: a download of %2, %3. It needs no account, and nothing leaves the machine.',
                model.title,
                size,
                model.licence
              )}
        </p>
      )}
      {(isBegun || model.error) && <DownloadProgress model={model} />}
      <div className="onyx-Offer-actions">
        {model.state === 'fetching' ? (
          !model.fetcher && (
            <button
              type="button"
              className="onyx-Button"
              data-onyx="offer-pause"
              disabled={!online}
              onClick={pause}
            >
              {trans.__('Pause')}
            </button>
          )
        ) : (
          <button
            type="button"
            className={isNamed ? 'onyx-Button onyx-mod-accept' : 'onyx-Button'}
            data-onyx="offer-fetch"
            disabled={!online}
            onClick={fetch}
          >
            {model.state === 'paused' ? trans.__('Resume') : trans.__('Download (%1)', size)}
          </button>
        )}
        <button type="button" className="onyx-Link" data-onyx="offer-all" onClick={showAll}>
          {trans.__('Local models…')}
        </button>
      </div>
      {refusal && (
        <p role="alert" className="onyx-Problem">
          {refusal}
        </p>
      )}
    </div>
  );
}
