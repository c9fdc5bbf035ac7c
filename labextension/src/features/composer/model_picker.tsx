/** Which model answers next, and how it acts; the first choice leaves it to the agent. */
import { lockedModeText } from './mode';
import { defaultActing, modelName, toolModeName } from './model_choice';
import type { Acting, ToolMode } from './model_choice';
import type { ModelInfo } from '../../protocol/wire';
import { useUi } from '../../shared/ui_context';

interface ModelPickerProps {
  models: readonly ModelInfo[];
  /** The agent's own model, null until the server has reported it. */
  standard: string | null;
  chosen: string | null;
  choose: (model: string | null) => void;
  /** How the chosen model acts. */
  toolMode: ToolMode;
  chooseToolMode: (mode: ToolMode) => void;
  connectModel: () => void;
  /** Opens the models that can run on this machine. */
  showLocalModels: () => void;
}

const CONNECT = '\u0000connect';
const LOCAL = '\u0000local';
const TOOL_MODE_PREFIX = '\u0000acts:';

export function ModelPicker({
  models,
  standard,
  chosen,
  choose,
  toolMode,
  chooseToolMode,
  connectModel,
  showLocalModels
}: ModelPickerProps): JSX.Element {
  const { trans } = useUi();
  const shown = chosen ?? standard ?? '';
  const known = models.map(model => model.id);
  const extra = [standard, chosen].filter((id): id is string => !!id && !known.includes(id));
  const isLocked = models.some(model => model.id === shown && model.locked);
  const usual = defaultActing(models, shown);
  const acting = usual && (toolMode === 'auto' ? usual : toolMode);
  const name = shown ? trans.__('Model: %1', shown) : trans.__('Model');
  const title = acting ? `${name} · ${toolModeName(acting, trans)}` : name;
  const providers = [...new Set(models.map(model => model.provider))];
  return (
    <select
      className="onyx-Select"
      data-onyx="model-picker"
      aria-label={trans.__('Model')}
      title={isLocked ? `${title} – ${lockedModeText(trans)}` : title}
      value={shown}
      onChange={event => {
        const { value } = event.target;
        if (value === CONNECT) {
          connectModel();
        } else if (value === LOCAL) {
          showLocalModels();
        } else if (value.startsWith(TOOL_MODE_PREFIX)) {
          const wished = value.slice(TOOL_MODE_PREFIX.length) as Acting;
          chooseToolMode(wished === usual ? 'auto' : wished);
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
          inCells={acting === 'cell' ? shown : null}
        />
      ))}
      {acting && usual && <ActingChoice model={shown} acting={acting} usual={usual} />}
      <option value={LOCAL}>{trans.__('Local models…')}</option>
      <option value={CONNECT}>{trans.__('Connect a model…')}</option>
    </select>
  );
}

/** How the chosen model acts; the other way is one choice away. */
function ActingChoice(props: { model: string; acting: Acting; usual: Acting }): JSX.Element {
  const { trans } = useUi();
  return (
    <optgroup label={trans.__('How %1 acts', modelName(props.model))} data-onyx="acting">
      {(['cell', 'tools'] as const).map(way => {
        const name =
          way === props.usual
            ? trans.__('%1 (standard)', toolModeName(way, trans))
            : toolModeName(way, trans);
        return (
          <option key={way} value={TOOL_MODE_PREFIX + way}>
            {way === props.acting ? `✓ ${name}` : name}
          </option>
        );
      })}
    </optgroup>
  );
}

/** A provider is allowed or locked as a whole, so its name says why. */
function ProviderModels({
  provider,
  models,
  inCells
}: {
  provider: string;
  models: readonly ModelInfo[];
  /**
   * Says beside the chosen model's name that it acts in cells, so that this is visible before a message is
   * sent.
   */
  inCells: string | null;
}): JSX.Element {
  const { trans } = useUi();
  const isLocked = models.every(model => model.locked);
  return (
    <optgroup label={isLocked ? `${provider} – ${lockedModeText(trans)}` : provider}>
      {models.map(model => (
        <option
          key={model.id}
          value={model.id}
          disabled={model.locked}
          aria-disabled={model.locked || undefined}
        >
          {model.id === inCells ? trans.__('%1 · in cells', modelName(model.id)) : modelName(model.id)}
        </option>
      ))}
    </optgroup>
  );
}
