/** No model is there yet: what one click would do about it, how it goes, and the same as a command. */
import { useUi } from './ui_context';

export interface EmbeddedModelOfferProps {
  /** The command that does the same in a terminal. */
  command: string | null;
  isInstalling: boolean;
  problem: string | null;
  install: () => void;
}

export function EmbeddedModelOffer(props: EmbeddedModelOfferProps): JSX.Element {
  const { command, isInstalling, problem, install } = props;
  const { trans } = useUi();
  return (
    <div className="onyx-Offer" data-onyx="embedded-model-offer">
      <p>
        {trans.__(
          'No model is connected, and the small one that runs on this machine (98 MB) is not installed yet.'
        )}
      </p>
      <button
        type="button"
        className="onyx-Button"
        data-onyx="install-embedded-model"
        disabled={isInstalling}
        onClick={install}
      >
        {isInstalling ? trans.__('Installing…') : trans.__('Install the small model')}
      </button>
      {problem && (
        <p role="alert" className="onyx-Problem">
          {problem}
        </p>
      )}
      {command && (
        <p>
          {trans.__('Or in a terminal:')} <code>{command}</code>
        </p>
      )}
    </div>
  );
}
