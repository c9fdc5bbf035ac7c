/** Which model answers next; the first choice leaves it to the agent. */
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
}

const CONNECT = '\u0000connect';

export function ModelPicker({
  models,
  standard,
  chosen,
  choose,
  connectModel
}: ModelPickerProps): JSX.Element {
  const { trans } = useUi();
  const shown = chosen ?? standard ?? '';
  const known = models.map(model => model.id);
  const extra = [standard, chosen].filter((id): id is string => !!id && !known.includes(id));
  const providers = [...new Set(models.map(model => model.provider))];
  return (
    <select
      className="onyx-Select"
      data-onyx="model-picker"
      aria-label={trans.__('Model')}
      title={shown ? trans.__('Model: %1', shown) : trans.__('Model')}
      value={shown}
      onChange={event => {
        const { value } = event.target;
        if (value === CONNECT) {
          connectModel();
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
        <optgroup key={provider} label={provider}>
          {models
            .filter(model => model.provider === provider)
            .map(model => (
              <option key={model.id} value={model.id}>
                {modelName(model.id)}
              </option>
            ))}
        </optgroup>
      ))}
      <option value={CONNECT}>{trans.__('Connect a model…')}</option>
    </select>
  );
}
