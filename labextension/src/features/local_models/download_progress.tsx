/** The progress of a model's download: a bar, and the same in words. */
import { percent, formatState } from './local_models';
import type { LocalModelInfo } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';

export function DownloadProgress({ model }: { model: LocalModelInfo }): JSX.Element {
  const { trans } = useUi();
  const hasBar = model.state === 'fetching' || model.state === 'paused';
  return (
    <div className="onyx-Fetch">
      {hasBar && (
        <progress
          data-onyx="fetch-progress"
          aria-label={trans.__('Downloading %1', model.title)}
          max={100}
          value={percent(model)}
        />
      )}
      <div className="onyx-Fetch-state" data-onyx="fetch-state">
        {formatState(model, trans)}
      </div>
      {model.error && (
        <p role="alert" className="onyx-Problem" data-onyx="fetch-problem">
          {model.error}
        </p>
      )}
    </div>
  );
}
