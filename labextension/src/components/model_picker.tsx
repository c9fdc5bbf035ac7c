/** Which model answers next; the first choice leaves it to the agent. */
import { notAllowedHere } from '../models/mode';
import { modelName } from '../models/model_name';
import type { ModelInfo } from '../protocol/wire';
import { useUi } from './ui_context';

interface ModelPickerProps {
  models: readonly ModelInfo[];
  /** The agent's own model, null before the server has said it. */
  standard: string | null;
  chosen: string | null;
  choose: (model: string | null) => void;
  connectModel: () => void;
  /** Go to the models that can run on this machine. */
  showLocalModels: () => void;
}

const CONNECT = '\u0000connect';
const LOCAL = '\u0000local';

export function ModelPicker({
  models,
  standard,
  chosen,
  choose,
  connectModel,
  showLocalModels
}: ModelPickerProps): JSX.Element {
  const { trans } = useUi();
  const shown = chosen ?? standard ?? '';
  const known = models.map(model => model.id);
  const extra = [standard, chosen].filter((id): id is string => !!id && !known.includes(id));
  const isLocked = models.some(model => model.id === shown && model.locked);
  const title = shown ? trans.__('Model: %1', shown) : trans.__('Model');
  const providers = [...new Set(models.map(model => model.provider))];
  return (
    <select
      className="onyx-Select"
      data-onyx="model-picker"
      aria-label={trans.__('Model')}
      title={isLocked ? `${title} – ${notAllowedHere(trans)}` : title}
      value={shown}
      onChange={event => {
        const { value } = event.target;
        if (value === CONNECT) {
          connectModel();
        } else if (value === LOCAL) {
          showLocalModels();
        } else {
          choose(value === standard ? null : value);
        }
      }}
    >
      {shown === '' && <option value="">{trans.__('No model')}</option>}
      {[...new Set(extra)].map(id => (
        <option key={id} value={id}>
          {modelName(id)}
        </option>
      ))}
      {providers.map(provider => (
        <ProviderModels
          key={provider}
          provider={provider}
          models={models.filter(model => model.provider === provider)}
        />
      ))}
      <option value={LOCAL}>{trans.__('Local models…')}</option>
      <option value={CONNECT}>{trans.__('Connect a model…')}</option>
    </select>
  );
}

/** A provider is allowed or locked as a whole, so its name says why. */
function ProviderModels({
  provider,
  models
}: {
  provider: string;
  models: readonly ModelInfo[];
}): JSX.Element {
  const { trans } = useUi();
  const isLocked = models.every(model => model.locked);
  return (
    <optgroup label={isLocked ? `${provider} – ${notAllowedHere(trans)}` : provider}>
      {models.map(model => (
        <option
          key={model.id}
          value={model.id}
          disabled={model.locked}
          aria-disabled={model.locked || undefined}
        >
          {modelName(model.id)}
        </option>
      ))}
    </optgroup>
  );
}
